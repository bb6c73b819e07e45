"""The example of the public rule page, counted again by hand and with other arithmetic."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import ROUND_FLOOR, ROUND_HALF_UP, Decimal
from zoneinfo import ZoneInfo

import pytest

from marketplace.worked_example import NOT_ASKED, SERVED, Rates, work_example

CENT = Decimal("0.01")
RATES = Rates(vat_bps=2000, fee_bps=1000, break_fee_bps=1000, setup_slots=4)
MIDNIGHT = datetime(2026, 11, 2, tzinfo=UTC)


@pytest.fixture(scope="module")
def example():
    return work_example(midnight=MIDNIGHT, rates=RATES)


def cents(amount: Decimal, rounding: str = ROUND_HALF_UP) -> int:
    return int(amount.quantize(CENT, rounding) * 100)


def at(hour: int, minute: int = 0) -> datetime:
    return MIDNIGHT.replace(hour=hour, minute=minute)


def test_the_cheapest_offer_that_fits_serves_and_the_first_obstacle_of_the_others_is_named(example):
    verdicts = [(one.name, one.ask_micro, one.verdict) for one in example.candidates]

    assert verdicts == [
        ("A", 330_000, "gpus"),
        ("C", 350_000, "start"),
        ("B", 350_000, SERVED),
        ("D", 400_000, NOT_ASKED),
    ]


def test_preparation_takes_the_running_step_and_the_three_after_it(example):
    assert example.placed_at == at(14, 37)
    assert example.setup_starts_at == at(14, 30)
    assert (example.first_hour.starts_at, example.last_hour.ends_at) == (at(15, 30), at(18, 30))


def test_the_hold_is_the_limit_and_its_tax(example):
    net = 2 * 3 * Decimal("0.36")
    tax = cents(Decimal(cents(net)) / 100 * Decimal("0.20"))

    assert (example.held_net_minor, example.held_vat_minor) == (cents(net), tax) == (216, 43)
    assert example.held_minor == 259


def test_the_price_is_the_offers_own_and_the_difference_is_free(example):
    net = 2 * 3 * Decimal("0.35")
    tax = cents(net * Decimal("0.20"))
    seller = cents(net * Decimal("0.90"), ROUND_FLOOR)

    price = example.price_minor
    assert (price.net_minor, price.vat_minor) == (cents(net), tax) == (210, 42)
    assert price.seller_minor == seller == 189
    assert example.freed_minor == 259 - 252


def test_the_stop_gives_its_share_of_one_hour_back(example):
    share = Decimal(22) / 60
    net, tax = cents(Decimal("0.70") * share), cents(Decimal("0.14") * share)

    assert example.stopped_minutes == 22
    assert (example.credit.net_minor, example.credit.vat_minor) == (net, tax) == (26, 5)
    assert example.paid_minor == 252 - 31


def test_the_wallet_adds_up_after_each_act(example):
    rows = [(s.act, s.at, s.paid_minor, s.held_minor, s.free_minor) for s in example.steps]

    assert rows == [
        ("bid", at(14, 37), 0, 259, 741),
        ("fill", at(14, 37), 0, 252, 748),
        ("hour", at(15, 30), 84, 168, 748),
        ("hour", at(16, 30), 84, 84, 748),
        ("hour", at(17, 30), 84, 0, 748),
        ("credit", at(17, 30), -31, 0, 779),
        ("end", at(18, 30), 0, 0, 779),
    ]
    paid = 0
    for step in example.steps:
        paid += step.paid_minor
        assert step.held_minor + step.free_minor == example.balance_minor - paid


def test_ending_early_costs_the_begun_hours_and_a_tenth_of_the_others(example):
    hour = Decimal("0.70")
    for begun, ending in enumerate(example.endings):
        fee = cents((3 - begun) * hour * Decimal("0.10"))
        assert (ending.due_hours, ending.released_hours) == (begun, 3 - begun)
        assert ending.fee.net_minor == fee
    assert [ending.fee.gross_minor for ending in example.endings] == [25, 17, 8, 0]


def test_the_lower_bid_waits_and_pays_its_own_limit_to_the_later_offer(example):
    waiting = example.waiting

    assert (waiting.listed_at, waiting.ask_micro) == (at(14, 51), 320_000)
    assert waiting.price_micro == example.lower_limit_micro == 340_000
    assert waiting.starts_at == at(15, 45)


@pytest.mark.parametrize("zone", ["Europe/Paris", "Asia/Kathmandu", "Pacific/Chatham"])
def test_tells_the_same_story_in_every_zone(example, zone):
    there = work_example(midnight=MIDNIGHT.replace(tzinfo=ZoneInfo(zone)), rates=RATES)

    assert [step.at.replace(tzinfo=UTC) for step in there.steps] == [s.at for s in example.steps]
    assert [one.verdict for one in there.candidates] == [o.verdict for o in example.candidates]


def test_a_shorter_preparation_lets_paid_time_begin_earlier():
    example = work_example(midnight=MIDNIGHT, rates=replace(RATES, setup_slots=1))

    assert example.first_hour.starts_at == at(14, 45)
