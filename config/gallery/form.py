"""The form of the gallery: one field of each kind, fresh or refused. It is never sent."""

from collections.abc import Mapping

from django import forms
from django.utils.translation import gettext_lazy as _

from billing.fields import MoneyField
from billing.money import Currency


class SampleForm(forms.Form):
    amount = MoneyField(
        label=_("Amount"), currency=Currency.EUR, help_text=_("At most two decimals.")
    )
    hours = forms.IntegerField(label=_("Hours"), min_value=1)
    kind = forms.ChoiceField(
        label=_("Kind"),
        choices=[("person", _("Person")), ("company", _("Company"))],
        widget=forms.RadioSelect,
    )
    note = forms.CharField(label=_("Name"), required=False)
    agreed = forms.BooleanField(label=_("I have read this sample."))


def sample_form(*, prefix: str, typed: Mapping[str, str] | None = None) -> SampleForm:
    """Return the form, fresh or as refused when ``typed`` was sent."""
    if typed is None:
        return SampleForm(prefix=prefix)
    return SampleForm({f"{prefix}-{name}": text for name, text in typed.items()}, prefix=prefix)
