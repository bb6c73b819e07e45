"""Intentions: an organisation's own, and the demand that all of them make."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from django.contrib.postgres.fields import ArrayField
from django.db.models import Aggregate, BigIntegerField, Count, F, Q, QuerySet, Sum
from django.utils import timezone

from billing.money import MICRO_PER_UNIT
from catalog.models import GpuModel
from marketplace.models import Bid, Intention

# Below this many organisations a quartile could tell what one of them would pay.
ORGANISATIONS_FOR_PRICES = 3
LOCAL_TIME = "%Y-%m-%dT%H:%M"


class Quartiles(Aggregate):
    """The prices that a quarter, half and three quarters of the rows do not exceed; real prices."""

    function = "percentile_disc"
    name = "Quartiles"
    template = "%(function)s(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = ArrayField(BigIntegerField())


@dataclass(frozen=True, slots=True)
class Demand:
    """What is wanted of a model in one currency. Without enough organisations, no prices."""

    gpu_model: GpuModel
    currency: str
    intentions: int
    gpu_hours: int
    lower_micro: int | None
    median_micro: int | None
    upper_micro: int | None


def intentions_of(*, organisation_id: int) -> QuerySet[Intention]:
    """Return the organisation's intentions, newest first."""
    own = Intention.objects.filter(organisation_id=organisation_id)
    return own.select_related("gpu_model").order_by("-saved_at", "-id")


def demand() -> list[Demand]:
    """Return the demand by model and currency, most GPU-hours first. It names nobody."""
    rows = (
        Intention.objects.order_by()
        .values("gpu_model_id", "currency")
        .annotate(
            count=Count("pk"),
            wanted_hours=Sum(F("gpus") * F("hours")),
            payers=Count("organisation", distinct=True, filter=Q(limit_price_micro__isnull=False)),
            quartiles=Quartiles("limit_price_micro"),
        )
    )
    found = list(rows)
    models = GpuModel.objects.in_bulk({row["gpu_model_id"] for row in found})
    demands = [_demand(row, gpu_model=models[row["gpu_model_id"]]) for row in found]
    return sorted(demands, key=lambda d: (-d.gpu_hours, d.gpu_model.slug, d.currency))


def order_query(intention: Intention, *, now: datetime) -> str:
    """Return the query of the ticket that this intention fills in, in the viewer's time zone.

    A start that is past is left out: the order then starts as soon as it can.
    """
    kind = Bid.Kind.BUY_NOW if intention.limit_price_micro is None else Bid.Kind.LIMIT
    facts = {
        "kind": kind.value,
        "gpus": str(intention.gpus),
        "hours": str(intention.hours),
        "currency": intention.currency,
    }
    if intention.limit_price_micro is not None:
        price = Decimal(intention.limit_price_micro) / MICRO_PER_UNIT
        facts["limit_price"] = f"{price.normalize():f}"
    if intention.wanted_start is not None and intention.wanted_start > now:
        facts["earliest_start"] = timezone.localtime(intention.wanted_start).strftime(LOCAL_TIME)
    if intention.label:
        facts["label"] = intention.label
    return urlencode(facts)


def _demand(row: Mapping[str, Any], *, gpu_model: GpuModel) -> Demand:
    lower, median, upper = (None, None, None)
    if row["payers"] >= ORGANISATIONS_FOR_PRICES:
        lower, median, upper = row["quartiles"]
    return Demand(
        gpu_model=gpu_model,
        currency=row["currency"],
        intentions=row["count"],
        gpu_hours=row["wanted_hours"],
        lower_micro=lower,
        median_micro=median,
        upper_micro=upper,
    )
