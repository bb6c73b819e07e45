"""Small wordings of the catalogue's pages."""

from collections.abc import Sequence

from django import template

from catalog.filters import SEGMENT_LABELS

register = template.Library()


@register.filter
def segment_words(segments: Sequence[str]) -> str:
    """Return the names of ``segments`` in a row."""
    return ", ".join(segment_word(segment) for segment in segments)


@register.filter
def segment_word(segment: str) -> str:
    """Return the name of ``segment``; one that is not known yet stays as it is."""
    return str(SEGMENT_LABELS.get(segment, segment))
