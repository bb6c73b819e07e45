"""The seller's estimate against arithmetic of its own."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from marketplace.earnings import DAYS, Assumptions, estimate, most_sold_hours_a_day


def assumed(**changes: int) -> Assumptions:
    facts = {
        "gpus": 8,
        "ask_micro": 330_000,
        "sold_hours_a_day": 12,
        "hours_a_rental": 6,
        "setup_slots": 4,
        "fee_bps": 1000,
    }
    return Assumptions(**(facts | changes))


def test_a_usual_server_earns_what_a_pocket_calculator_says():
    earnings = estimate(assumed())

    gross = 8 * 12 * 30 * Decimal("0.33")
    assert earnings.gpu_hours == 2_880
    assert earnings.gross_minor == gross * 100 == 95_040
    assert earnings.net_minor == gross * 90 == 85_536
    assert earnings.fee_minor == 9_504


def test_an_occupied_hour_earns_less_by_the_unpaid_preparation():
    earnings = estimate(assumed())

    assert earnings.per_paid_hour_micro == 297_000
    # Six paid hours in seven occupied ones.
    assert earnings.per_occupied_hour_micro == 254_571
    assert 254_571 == 297_000 * 6 // 7


def test_the_sellers_part_is_rounded_in_favour_of_the_platform():
    earnings = estimate(assumed(gpus=1, ask_micro=11_000, sold_hours_a_day=1, hours_a_rental=1))

    assert earnings.gross_minor == 33
    assert earnings.net_minor == 29
    assert earnings.fee_minor == 4


def test_preparation_takes_its_part_of_the_day():
    assert most_sold_hours_a_day(hours_a_rental=1, setup_slots=4) == 12
    assert most_sold_hours_a_day(hours_a_rental=6, setup_slots=4) == 20
    assert most_sold_hours_a_day(hours_a_rental=168, setup_slots=4) == 23
    assert most_sold_hours_a_day(hours_a_rental=1, setup_slots=1) == 19


@given(
    gpus=st.integers(1, 16),
    ask=st.integers(10, 100_000),
    sold=st.integers(1, 24),
    rental=st.integers(1, 168),
)
def test_more_sold_or_dearer_never_earns_less_and_nobody_earns_more_than_was_paid(
    gpus, ask, sold, rental
):
    less = estimate(
        assumed(gpus=gpus, ask_micro=ask * 1000, sold_hours_a_day=sold, hours_a_rental=rental)
    )
    more = estimate(
        assumed(
            gpus=gpus,
            ask_micro=(ask + 1) * 1000,
            sold_hours_a_day=sold + 1,
            hours_a_rental=rental,
        )
    )

    assert less.net_minor <= more.net_minor
    assert less.net_minor <= less.gross_minor
    assert less.per_occupied_hour_micro < less.per_paid_hour_micro <= ask * 1000
    assert less.gpu_hours == gpus * sold * DAYS
