"""What people type about money and about who is invoiced."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from billing.countries import country_choices
from billing.fields import MoneyField
from billing.models import BillingProfile
from billing.money import Currency
from billing.operations.profiles import ProfileDetails
from billing.vat_ids import VatIdMalformed, normalise_vat_id
from marketplace.accounts.models import Organisation

KEY_LENGTH = 64


class TopUpForm(forms.Form):
    """How much to put into a wallet. ``key`` makes a double click one top-up."""

    amount = MoneyField(label=_("Amount"))
    key = forms.CharField(max_length=KEY_LENGTH, widget=forms.HiddenInput)
    next = forms.CharField(required=False, max_length=300, widget=forms.HiddenInput)

    def __init__(self, *args: Any, currency: Currency, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["amount"] = MoneyField(
            label=_("Amount"),
            currency=currency,
            min_units=settings.TOP_UP_MIN_MINOR,
            max_units=settings.TOP_UP_MAX_MINOR,
        )


class ProfileForm(forms.Form):
    """Who is invoiced, and where. Country and kind decide the tax."""

    kind = forms.ChoiceField(
        label=_("You buy as"), choices=Organisation.Kind.choices, widget=forms.RadioSelect
    )
    legal_name = forms.CharField(
        label=_("Full name or company name"),
        max_length=160,
        help_text=_("As it should stand on your invoices."),
    )
    country = forms.ChoiceField(
        label=_("Country"), help_text=_("Decides which value-added tax you pay.")
    )
    address = forms.CharField(label=_("Address"), max_length=240, required=False)
    postal_code = forms.CharField(label=_("Postal code"), max_length=16, required=False)
    city = forms.CharField(label=_("City"), max_length=80, required=False)
    vat_id = forms.CharField(
        label=_("VAT identification number"),
        max_length=24,
        required=False,
        help_text=_("For companies. Until we have checked it, your country’s VAT applies."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        country = self.fields["country"]
        assert isinstance(country, forms.ChoiceField)
        country.choices = [("", _("Choose a country")), *country_choices(get_language() or "en")]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        typed, country = cleaned.get("vat_id", ""), cleaned.get("country")
        if typed and cleaned.get("kind") == Organisation.Kind.PERSON:
            self.add_error("vat_id", _("Only a company has a VAT number: choose “Company” above."))
        elif typed and country:
            cleaned["vat_id"] = self._normalised(typed, country=country)
        return cleaned

    def _normalised(self, typed: str, *, country: str) -> str:
        try:
            return normalise_vat_id(typed, country=country)
        except VatIdMalformed:
            self.add_error(
                "vat_id",
                ValidationError(
                    _("This is not a VAT number of the chosen country."), code="malformed"
                ),
            )
            return ""

    def details(self) -> ProfileDetails:
        """Return what was understood, after the form was found valid."""
        return ProfileDetails(**self.cleaned_data)

    @staticmethod
    def initial_of(organisation: Organisation, profile: BillingProfile | None) -> dict[str, str]:
        if profile is None:
            return {"kind": organisation.kind, "legal_name": organisation.name}
        fields = ("legal_name", "address", "postal_code", "city", "country", "vat_id")
        return {"kind": organisation.kind} | {name: getattr(profile, name) for name in fields}
