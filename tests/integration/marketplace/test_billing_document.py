"""The tables of docs/algorithms/billing-hour.md are what the code does."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from billing.money import Terms, total_to
from marketplace.early_end import end_early
from marketplace.gateways.ssh_probe import ProbeError, ProbeResult
from marketplace.models import Rental
from marketplace.operations.charging import charge_due_hours
from marketplace.operations.probes import record_probe
from marketplace.operations.rentals import sweep_rentals
from marketplace.operations.settlement import settle_due_hours
from tests.builders import FINGERPRINT, sell, seller_account_of
from tests.exchange import hold_of, wallet_of
from tests.factories import T0
from tests.rental_steps import give_access

DOCUMENT = Path(__file__).parents[3] / "docs" / "algorithms" / "billing-hour.md"
CHECKS = {
    "good check": ProbeResult(is_ready=True, fingerprint=FINGERPRINT),
    "missed check": ProbeResult(is_ready=False, error=ProbeError.NO_ANSWER),
}


def table(first_column: str) -> Iterator[list[str]]:
    """Yield the rows of the table whose head begins with this column."""
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {first_column} |"))
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").split("|")]


def shown(minor: int) -> str:
    return f"{minor // 100}.{minor % 100:02}"


def do(event: str, rental: Rental | None, now: datetime) -> Rental:
    if rental is None:
        assert event == "sold"
        return sell(hours=3, price_micro=345_000)
    if event == "hand over":
        give_access(rental, now)
    elif event in CHECKS:
        record_probe(rental_id=rental.pk, result=CHECKS[event], now=now)
    sweep_rentals(now=now)
    charge_due_hours(now=now)
    settle_due_hours(now=now)
    rental.refresh_from_db()
    return rental


@pytest.mark.django_db
def test_the_worked_example_is_what_happens():
    rental = None
    rows = list(table("time"))

    for time, event, *expected in rows:
        hour, minute = map(int, time.split(":"))
        rental = do(event, rental, T0.replace(hour=hour, minute=minute))
        seen = [
            rental.state,
            shown(hold_of(rental.fill.bid).remaining_minor),
            shown(wallet_of(rental.organisation).free_minor),
            shown(seller_account_of(rental).posted_minor if rental.hours_charged else 0),
        ]
        assert seen == expected, f"{time} {event}"

    assert len(rows) == 16
    assert rental is not None
    assert rental.end_reason == "completed"


def test_the_table_of_early_ends_is_what_they_cost():
    terms = Terms(1, 500_000, 500_000, vat_bps=2000, fee_bps=1000)
    full = total_to(terms=terms, hours=10).gross_minor
    rows = list(table("begun"))

    for begun, minimum, *expected in rows:
        ending = end_early(
            terms=terms,
            hours=10,
            begun_hours=int(begun),
            min_hours=int(minimum),
            break_fee_bps=1000,
        )
        due = total_to(terms=terms, hours=ending.due_hours).gross_minor
        fee = ending.fee.gross_minor
        left = full - due - fee
        assert [str(ending.due_hours), shown(due), shown(fee), shown(left)] == expected

    assert len(rows) == 5
