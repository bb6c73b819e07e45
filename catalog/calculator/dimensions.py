"""The form for a model that is told by its dimensions: texts in, the engine checks them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from django import forms
from django.forms import BoundField
from django.utils.translation import gettext_lazy as _

from catalog.calculator.choices import Words
from catalog.sizing_words import FIELD_NAMES, problem_text
from sizing.bounds import InputError
from sizing.plain.jobs import DIMENSION_FIELDS, NEEDED_DIMENSIONS

IS_TIED: Final = "has_tied_embeddings"
HELP: Final[Mapping[str, Words]] = MappingProxyType(
    {
        "kv_heads": _("As many as attention heads where nothing is said."),
        "head_dim": _("The hidden width divided by the heads where nothing is said."),
        "mlp_matrices": _("3 with a gate, as usual, else 2."),
        "experts": _("For a mixture of experts: in each layer."),
        "first_dense_layers": _("Layers with one MLP instead of experts."),
    }
)


class DimensionsForm(forms.Form):
    """The dimensions of a model as texts; ``refusal`` is shown at the field that it names."""

    def __init__(
        self, values: Mapping[str, str] | None = None, *, refusal: InputError | None = None
    ) -> None:
        super().__init__(values, auto_id="dim_%s", use_required_attribute=False)
        for name in DIMENSION_FIELDS:
            self.fields[name] = _box(name)
        if (
            refusal is not None
            and refusal.field in self.fields
            and refusal.field not in self.errors
        ):
            self.add_error(refusal.field, problem_text(refusal))

    @property
    def needed(self) -> list[BoundField]:
        return [self[name] for name in NEEDED_DIMENSIONS]

    @property
    def further(self) -> list[BoundField]:
        return [self[name] for name in DIMENSION_FIELDS if name not in NEEDED_DIMENSIONS]

    @property
    def further_is_told(self) -> bool:
        """Say whether the fold holds anything that its reader must see."""
        return any(field.value() or field.errors for field in self.further)


def _box(name: str) -> forms.Field:
    words: dict[str, Any] = {"label": FIELD_NAMES[name], "help_text": HELP.get(name, "")}
    if name == IS_TIED:
        return forms.BooleanField(**words, required=False)
    return forms.CharField(
        **words,
        required=name in NEEDED_DIMENSIONS,
        widget=forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"}),
    )
