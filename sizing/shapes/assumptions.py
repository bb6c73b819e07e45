"""What is taken for granted where a description of a model leaves something open.

Each assumption has a stable key, so that pages say it in their own language, and figures.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

# Every assumption by its key, as one whole sentence with named placeholders. Pages translate them.
ASSUMPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "default_used": "{field} is not given; {value} is what the family takes without it.",
        "family_unknown": "The family {family} is not known here; it is counted as a decoder with "
        "gated MLPs, as Llama has them.",
        "tied_unknown": "Whether the output head shares the embedding is not given; it is counted "
        "apart, which never needs less.",
        "window_ignored": "A window of {tokens} tokens is given, but not which layers keep to it; "
        "every layer is counted with the whole context, which never needs less.",
        "chunks_ignored": "Layers that attend in chunks are counted with the whole context, which "
        "never needs less.",
        "only_text": "Only the decoder of text is counted, not the parts for pictures or sound.",
        "published_quantized": "The weights are published quantized ({method}); the precision that "
        "you choose is counted instead.",
        "further_tokens_left_out": "Layers that predict further tokens are left out; most programs "
        "do not load them.",
        "typical_shape": "Only the size is given: the shape is taken between {smaller} and "
        "{larger}, or beyond the nearer of them.",
        "shape_defaults": "Not given and taken as usual: {fields}.",
    }
)


class Assumption(NamedTuple):
    """One assumption; ``values`` fill the placeholders of its sentence."""

    key: str
    values: tuple[tuple[str, int | str], ...] = ()

    def __str__(self) -> str:
        return ASSUMPTIONS[self.key].format(**dict(self.values))


def in_english(assumptions: Iterable[Assumption]) -> str:
    """Return all sentences, one after the other."""
    return " ".join(str(each) for each in assumptions)
