"""What billing keeps about the organisations that a person may read the money of."""

from billing.models import BillingProfile, TopUp
from billing.money import Currency
from billing.queries import Statement
from marketplace.accounts.models import Membership
from marketplace.accounts.registry import ROWS_MAX, Rows, rows_of


def own_data(*, user_id: int) -> dict[str, Rows]:
    """Return statement lines, top-ups and billing profiles of a person's organisations."""
    memberships = Membership.objects.filter(user_id=user_id).order_by("id")
    paying = [row.organisation_id for row in memberships if row.may_pay]
    return {
        "statement_lines": [line for number in paying for line in _lines(number)],
        "top_ups": rows_of(
            TopUp.objects.filter(organisation_id__in=paying),
            "organisation_id",
            "currency",
            "amount_minor",
            "state",
            "created_at",
        ),
        "billing_profiles": rows_of(
            BillingProfile.objects.filter(organisation_id__in=paying),
            "organisation_id",
            "legal_name",
            "address",
            "postal_code",
            "city",
            "country",
            "vat_id",
            "updated_at",
        ),
    }


def _lines(organisation_id: int) -> Rows:
    return [
        {
            "organisation_id": organisation_id,
            "currency": currency.value,
            "number": line.number,
            "kind": line.kind,
            "occurred_at": line.occurred_at,
            "moved_minor": line.moved_minor,
            "held_move_minor": line.held_move_minor,
            "balance_minor": line.balance_minor,
            "held_minor": line.held_minor,
        }
        for currency in Currency
        for line in Statement(organisation_id=organisation_id, currency=currency).lines(
            limit=ROWS_MAX
        )
    ]
