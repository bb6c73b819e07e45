"""Short words of the answer that do not depend on figures."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from django.utils.translation import gettext_lazy as _

from catalog.calculator.choices import Words
from sizing.fits import Verdict
from sizing.shapes.assumptions import Assumption

VERDICTS: Final[Mapping[Verdict, Words]] = MappingProxyType(
    {
        Verdict.COMFORTABLE: _("Comfortable"),
        Verdict.TIGHT: _("Tight"),
        Verdict.NO: _("Does not fit"),
    }
)
SPLITS: Final[Mapping[str, Words]] = MappingProxyType(
    {
        "one": _("one card"),
        "ddp": _("a copy on each (DDP), one server"),
        "zero1": _("states shared (ZeRO-1), one server"),
        "zero2": _("states shared (ZeRO-2), one server"),
        "zero3": _("all shared (ZeRO-3), one server"),
        "fsdp": _("all shared (FSDP), one server"),
        "tensor": _("every layer shared, one server"),
        "layers": _("layers shared out, one server"),
    }
)
LEFT_OUT: Final[Mapping[str, Words]] = MappingProxyType(
    {
        "data_loading": _("loading data"),
        "evaluation": _("evaluation during training"),
        "checkpoint_writing": _("writing checkpoints"),
        "inputs_beside_text": _("pictures and sound beside the text"),
        "speculative_decoding": _("speculative decoding"),
        "adapters": _("adapters loaded beside the model"),
        "driver_context": _("the driver’s context"),
        "prompt_activations": _("activations of the prompt"),
    }
)
_ASSUMPTIONS: Final[Mapping[str, Words]] = MappingProxyType(
    {
        "default_used": _("%(field)s is not given; %(value)s is what the family takes without it."),
        "family_unknown": _(
            "The family %(family)s is not known here; it is counted as a decoder with gated MLPs, "
            "as Llama has them."
        ),
        "tied_unknown": _(
            "Whether the output head shares the embedding is not given; it is counted apart, which "
            "never needs less."
        ),
        "window_ignored": _(
            "A window of %(tokens)s tokens is given, but not which layers keep to it; every layer "
            "is counted with the whole context, which never needs less."
        ),
        "chunks_ignored": _(
            "Layers that attend in chunks are counted with the whole context, which never needs "
            "less."
        ),
        "only_text": _("Only the decoder of text is counted, not the parts for pictures or sound."),
        "published_quantized": _(
            "The weights are published quantized (%(method)s); the precision that you choose is "
            "counted instead."
        ),
        "further_tokens_left_out": _(
            "Layers that predict further tokens are left out; most programs do not load them."
        ),
        "typical_shape": _(
            "Only the size is given: the shape is taken between %(smaller)s and %(larger)s, or "
            "beyond the nearer of them."
        ),
        "shape_defaults": _("Not given and taken as usual: %(fields)s."),
    }
)


def assumption_text(assumption: Assumption) -> str:
    """Return what was taken for granted, in the reader's language."""
    return str(_ASSUMPTIONS[assumption.key]) % dict(assumption.values)
