"""The form of an intention: a ticket without any money behind it."""

from typing import Any
from uuid import uuid4

from django import forms
from django.utils.translation import gettext_lazy as _

from billing.fields import PriceField
from billing.money import Currency
from marketplace.book.types import MAX_HOURS
from marketplace.forms.orders import MAX_GPUS_IN_FORM
from marketplace.forms.sent_once import SentOnceForm
from marketplace.forms.times import local_time_field
from marketplace.operations.intentions import IntentionTerms


class IntentionForm(SentOnceForm):
    """What would be ordered; read once from the address, then sent with its key."""

    gpus = forms.IntegerField(
        label=_("Number of GPUs"), min_value=1, max_value=MAX_GPUS_IN_FORM, initial=1
    )
    hours = forms.IntegerField(label=_("Hours"), min_value=1, max_value=MAX_HOURS, initial=1)
    limit_price = PriceField(
        label=_("Your price per GPU and hour"),
        required=False,
        help_text=_("The most you would pay, before tax. Left empty: the best offer."),
    )
    currency = forms.ChoiceField(
        label=_("Wallet"), choices=[(c.value, c.value) for c in Currency], initial="EUR"
    )
    wanted_start = local_time_field(
        label=_("Wanted start"),
        required=False,
        help_text=_("Left empty: as soon as possible after the opening."),
    )
    label = forms.CharField(label=_("Label for your reports"), max_length=60, required=False)

    @classmethod
    def from_address(cls, query: dict[str, Any]) -> "IntentionForm":
        """Return the form filled in from the ticket's address, with a new key."""
        known = {name: value for name, value in query.items() if name in cls.base_fields}
        start = {"wanted_start": query["earliest_start"]} if "earliest_start" in query else {}
        return cls(initial={**start, **known, "key": uuid4().hex})

    def terms(self, *, organisation_id: int, slug: str) -> IntentionTerms:
        data = self.cleaned_data
        return IntentionTerms(
            organisation_id=organisation_id,
            gpu_model_slug=slug,
            gpus=data["gpus"],
            hours=data["hours"],
            currency=Currency(data["currency"]),
            limit_price_micro=data["limit_price"],
            wanted_start=data["wanted_start"],
            label=data["label"],
        )
