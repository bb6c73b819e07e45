"""The cost of ending early, to the cent."""

from hypothesis import given
from hypothesis import strategies as st

from billing.money import PRICE_MAX_MICRO, PRICE_MIN_MICRO, TICK_MICRO, Tally, Terms, total_to
from marketplace.early_end import NOTHING, EarlyEnd, end_early

TERMS = Terms(
    gpus=1,
    customer_price_micro=500_000,
    seller_price_micro=500_000,
    vat_bps=2000,
    fee_bps=1000,
)


def end(hours: int, begun: int, *, minimum: int = 1, terms: Terms = TERMS) -> EarlyEnd:
    return end_early(
        terms=terms, hours=hours, begun_hours=begun, min_hours=minimum, break_fee_bps=1000
    )


def test_a_tenth_of_the_released_hours_is_due_with_tax_and_shared():
    # Seven hours of 0.50 come back: 3.50, a tenth of it 0.35, VAT 0.07, the seller 0.315.
    assert end(10, 3) == EarlyEnd(3, 7, Tally(net_minor=35, vat_minor=7, seller_minor=31))


def test_nothing_is_due_for_one_hour_that_never_opened():
    assert end(1, 0) == EarlyEnd(0, 1, NOTHING)


def test_one_hour_that_opened_is_due_without_a_fee():
    assert end(1, 1) == EarlyEnd(1, 0, NOTHING)


def test_no_fee_is_due_in_the_last_hour():
    assert end(4, 4) == EarlyEnd(4, 0, NOTHING)


def test_the_offers_minimum_is_due_in_full():
    assert end(5, 1, minimum=3) == EarlyEnd(3, 2, Tally(10, 2, 9))


def test_a_minimum_of_one_hour_is_none():
    assert end(5, 0) == EarlyEnd(0, 5, Tally(25, 5, 22))


def test_a_minimum_above_the_rental_is_the_whole_rental():
    assert end(2, 0, minimum=6) == EarlyEnd(2, 0, NOTHING)


def test_a_fee_below_half_a_cent_is_none():
    cheap = Terms(
        gpus=1, customer_price_micro=10_000, seller_price_micro=10_000, vat_bps=2000, fee_bps=0
    )
    assert end(3, 0, terms=cheap) == EarlyEnd(0, 3, NOTHING)


@given(
    gpus=st.integers(1, 16),
    ticks=st.integers(PRICE_MIN_MICRO // TICK_MICRO, PRICE_MAX_MICRO // TICK_MICRO),
    vat_bps=st.integers(0, 2700),
    fee_bps=st.integers(0, 3000),
    hours=st.integers(1, 168),
    begun=st.integers(0, 168),
    minimum=st.integers(1, 168),
)
def test_what_is_due_never_passes_what_was_held(  # noqa: PLR0917  drawn by name
    gpus, ticks, vat_bps, fee_bps, hours, begun, minimum
):
    price = ticks * TICK_MICRO
    terms = Terms(gpus, price, price, vat_bps, fee_bps)

    ending = end(hours, min(begun, hours), minimum=minimum, terms=terms)

    due = total_to(terms=terms, hours=ending.due_hours)
    full = total_to(terms=terms, hours=hours)
    assert ending.due_hours + ending.released_hours == hours
    assert due.net_minor + ending.fee.net_minor <= full.net_minor
    assert due.gross_minor + ending.fee.gross_minor <= full.gross_minor
    assert 0 <= ending.fee.seller_minor <= ending.fee.net_minor
    assert ending.fee.vat_minor >= 0
