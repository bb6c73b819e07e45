"""The form of the earnings estimate. It is read from the address and changes nothing."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from billing.fields import PriceField
from billing.money import Currency
from catalog.models import GpuModel
from marketplace.book.types import MAX_HOURS, SLOT_MINUTES
from marketplace.earnings import HOURS_A_DAY, most_sold_hours_a_day
from marketplace.queries.exchange import MAX_GPUS_PER_SERVER

# A seller's first look: a usual server, sold about half of the time in rentals of an afternoon.
FIRST_VALUES = {"gpus": "8", "sold_hours": "12", "rental_hours": "6"}


class AskField(PriceField):
    """A price that the page can do without: it then shows no estimate."""

    def validate(self, value: int | None) -> None:
        if value is not None:
            super().validate(value)


class EarningsForm(forms.Form):
    """What a seller assumes, before tax."""

    gpu = forms.ChoiceField(label=_("Model"))
    gpus = forms.IntegerField(label=_("Number of GPUs"), min_value=1, max_value=MAX_GPUS_PER_SERVER)
    price = AskField(label=_("Price per GPU and hour"))
    currency = forms.ChoiceField(
        label=_("Currency"), choices=[(currency.value, currency.value) for currency in Currency]
    )
    sold_hours = forms.IntegerField(label=_("Hours sold a day"), min_value=1, max_value=HOURS_A_DAY)
    rental_hours = forms.IntegerField(label=_("Hours per rental"), min_value=1, max_value=MAX_HOURS)

    def __init__(
        self, data: Mapping[str, Any], *, gpu_models: Iterable[GpuModel], setup_slots: int
    ) -> None:
        super().__init__(data)
        self.setup_slots = setup_slots
        field = self.fields["gpu"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(model.slug, model.name) for model in gpu_models]

    def clean(self) -> dict[str, Any]:
        """Refuse a day that would need more than its hours, preparation included."""
        cleaned = super().clean() or {}
        sold, rental = cleaned.get("sold_hours"), cleaned.get("rental_hours")
        if sold is not None and rental is not None:
            self._check_day(sold=sold, rental=rental)
        return cleaned

    def _check_day(self, *, sold: int, rental: int) -> None:
        most = most_sold_hours_a_day(hours_a_rental=rental, setup_slots=self.setup_slots)
        if sold > most:
            facts = {
                "most": most,
                "rental": rental,
                "minutes": self.setup_slots * SLOT_MINUTES,
            }
            self.add_error(
                "sold_hours",
                forms.ValidationError(
                    _(
                        "At most %(most)s hours fit into a day: each rental of %(rental)s hours "
                        "is preceded by %(minutes)s unpaid minutes of preparation."
                    ),
                    params=facts,
                ),
            )
