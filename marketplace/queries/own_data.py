"""What the market keeps about the organisations that a person belongs to."""

from marketplace.accounts.models import Membership
from marketplace.accounts.registry import Rows, rows_of
from marketplace.models import Bid, Intention, MemoryTest, Offer, Rental


def own_data(*, user_id: int) -> dict[str, Rows]:
    """Return orders, rentals, intentions, tests and offers of a person's organisations, the newest first."""
    numbers = list(
        Membership.objects.filter(user_id=user_id).values_list("organisation_id", flat=True)
    )
    return {
        "orders": _orders(numbers),
        "rentals": _rentals(numbers),
        "intentions": rows_of(
            Intention.objects.filter(organisation_id__in=numbers),
            "organisation_id",
            "gpu_model__slug",
            "gpus",
            "hours",
            "currency",
            "saved_at",
        ),
        "memory_tests": _memory_tests(numbers),
        "offers": rows_of(
            Offer.objects.filter(organisation_id__in=numbers),
            "id",
            "organisation_id",
            "server__name",
            "ask_price_micro",
            "status",
        ),
    }


def _orders(numbers: list[int]) -> Rows:
    return rows_of(
        Bid.objects.filter(organisation_id__in=numbers),
        "id",
        "organisation_id",
        "gpu_model__slug",
        "kind",
        "gpus",
        "hours",
        "currency",
        "limit_price_micro",
        "label",
        "status",
        "placed_at",
    )


def _rentals(numbers: list[int]) -> Rows:
    return rows_of(
        Rental.objects.filter(fill__bid__organisation_id__in=numbers),
        "id",
        "fill__bid_id",
        "fill__bid__organisation_id",
        "state",
        "end_reason",
        "starts_at",
        "ends_at",
    )


def _memory_tests(numbers: list[int]) -> Rows:
    return rows_of(
        MemoryTest.objects.filter(organisation_id__in=numbers),
        "id",
        "organisation_id",
        "gpu_model__slug",
        "job",
        "predicted_low_bytes",
        "predicted_peak_bytes",
        "predicted_high_bytes",
        "engine_version",
        "created_at",
        "rental_id",
        "outcome",
        "measured_bytes",
        "measurement",
        "uploaded_at",
    )
