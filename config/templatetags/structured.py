"""JSON-LD in the head of a page, for search engines."""

import json
from collections.abc import Mapping, Sequence

from django import template
from django.core.serializers.json import DjangoJSONEncoder
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

# With these escaped no text can end the element or begin another one.
ESCAPES = {ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"}


@register.simple_tag
def json_ld(*things: Mapping[str, object] | Sequence[Mapping[str, object]] | None) -> SafeString:
    """Show each thing as a node of one graph; nothing at all when there is none."""
    graph: list[Mapping[str, object]] = []
    for thing in things:
        if isinstance(thing, Mapping):
            graph.append(thing)
        elif thing:
            graph.extend(thing)
    if not graph:
        return SafeString("")
    data = {"@context": "https://schema.org", "@graph": graph}
    text = json.dumps(data, cls=DjangoJSONEncoder, ensure_ascii=False).translate(ESCAPES)
    # Safe: every mark that HTML could read is escaped above.
    return mark_safe(f'<script type="application/ld+json">{text}</script>')  # noqa: S308
