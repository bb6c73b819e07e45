"""Forms of customers. They parse; the operations decide.

The ticket travels in the address (a link holds the whole order); the review is sent once, with its
key and what the customer saw: the price and the start.
"""

from datetime import datetime
from typing import Any
from uuid import uuid4

from django import forms
from django.utils.translation import gettext_lazy as _

from billing.fields import PriceField
from billing.money import Currency
from marketplace.accounts.forms import KeyField
from marketplace.accounts.models import SshKey
from marketplace.book.types import MAX_HOURS
from marketplace.forms.sent_once import SentOnceForm
from marketplace.forms.times import local_time_field
from marketplace.models import Bid, Server
from marketplace.operations.bids import BidOrder

NEW_KEY = "new"
MAX_GPUS_IN_FORM = 16
# The end of the year 9999: no later moment can be written.
LAST_SECOND = 253_402_300_799


class TicketForm(forms.Form):
    """What is wanted: read from the address, so that a ticket can be sent to a colleague."""

    kind = forms.ChoiceField(
        label=_("How to buy"),
        choices=Bid.Kind.choices,
        initial=Bid.Kind.BUY_NOW,
        widget=forms.RadioSelect,
    )
    gpus = forms.IntegerField(
        label=_("Number of GPUs"), min_value=1, max_value=MAX_GPUS_IN_FORM, initial=1
    )
    hours = forms.IntegerField(label=_("Hours"), min_value=1, max_value=MAX_HOURS, initial=1)
    currency = forms.ChoiceField(
        label=_("Wallet"), choices=[(c.value, c.value) for c in Currency], initial="EUR"
    )
    limit_price = PriceField(
        label=_("Your price per GPU and hour"),
        required=False,
        help_text=_("For a bid: the most you pay, before tax. A filled bid never costs more."),
    )
    earliest_start = local_time_field(label=_("Start at the earliest"), required=False)
    latest_start = local_time_field(
        label=_("Start at the latest"),
        required=False,
        help_text=_("After this a waiting bid expires. Left empty: 24 hours from now."),
    )
    regions = forms.MultipleChoiceField(
        label=_("Regions"),
        choices=Server.Region.choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("None chosen means any region."),
    )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if (
            cleaned.get("kind") == Bid.Kind.LIMIT
            and not cleaned.get("limit_price")
            and "limit_price" not in self.errors
        ):
            self.add_error("limit_price", _("Give the most you would pay per GPU and hour."))
        return cleaned

    def order(self, *, organisation_id: int, slug: str) -> BidOrder:
        """Return the order that this ticket means, before the customer has accepted a price."""
        data = self.cleaned_data
        is_bid = data["kind"] == Bid.Kind.LIMIT
        return BidOrder(
            organisation_id=organisation_id,
            gpu_model_slug=slug,
            kind=Bid.Kind(data["kind"]),
            gpus=data["gpus"],
            hours=data["hours"],
            currency=Currency(data["currency"]),
            limit_price_micro=data["limit_price"] if is_bid else None,
            earliest_start=data["earliest_start"],
            latest_start=data["latest_start"] if is_bid else None,
            regions=tuple(data["regions"]),
            ssh_public_key="",
        )


class ReviewForm(SentOnceForm):
    """The accepted order: what was shown, the key that opens the machine, the key against repeats."""

    accepted_price_micro = forms.IntegerField(widget=forms.HiddenInput, min_value=1)
    accepted_start = forms.IntegerField(
        widget=forms.HiddenInput, min_value=1, max_value=LAST_SECOND
    )
    ssh_key = forms.ChoiceField(label=_("SSH key for this order"))
    new_key = KeyField(
        label=_("Another public key"),
        required=False,
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text=_("One line, as in the file that ends in .pub. It is used for this order only."),
    )
    label = forms.CharField(label=_("Label for your reports"), max_length=60, required=False)

    def __init__(self, *args: Any, keys: list[SshKey], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._keys = {str(key.pk): key.public_key for key in keys}
        field = self.fields["ssh_key"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [
            *((str(k.pk), k.name) for k in keys),
            (NEW_KEY, _("Another key, pasted below")),
        ]

    @staticmethod
    def first_values(*, price_micro: int, start: datetime) -> dict[str, object]:
        return {
            "key": uuid4().hex,
            "accepted_price_micro": price_micro,
            "accepted_start": int(start.timestamp()),
        }

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("ssh_key") == NEW_KEY and not cleaned.get("new_key"):
            self.add_error("new_key", _("Paste the public key that will open the machine."))
        return cleaned

    @property
    def public_key(self) -> str:
        chosen = self.cleaned_data["ssh_key"]
        return str(self._keys.get(chosen, self.cleaned_data["new_key"]))
