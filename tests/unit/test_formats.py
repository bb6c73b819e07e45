"""What readers see: money, numbers, sizes and dates in both languages."""

import zoneinfo
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from django.utils import timezone, translation

from config.templatetags import formats

NARROW = "\u202f"
NBSP = "\u00a0"
NOON = datetime(2026, 11, 8, 12, 5, 9, tzinfo=UTC)


@pytest.fixture
def french() -> Iterator[None]:
    with translation.override("fr"):
        yield


@pytest.fixture
def english() -> Iterator[None]:
    with translation.override("en"):
        yield


@pytest.fixture
def paris() -> Iterator[None]:
    with timezone.override(zoneinfo.ZoneInfo("Europe/Paris")):
        yield


class TestFrench:
    @pytest.fixture(autouse=True)
    def _language(self, french: None) -> None:
        return None

    def test_writes_money_with_a_comma_and_the_currency_after(self) -> None:
        assert formats.money(123450, "USD") == f"1{NARROW}234,50{NBSP}$US"
        assert formats.money(33, "GBP") == f"0,33{NBSP}£GB"
        assert formats.money(500000, "EUR") == f"5{NARROW}000,00{NBSP}€"

    def test_writes_a_negative_amount_with_a_real_minus(self) -> None:
        assert formats.money(-5, "EUR") == f"\u22120,05{NBSP}€"

    def test_writes_a_unit_price_with_two_decimals_and_three_when_needed(self) -> None:
        assert formats.unit_price(330_000, "USD") == f"0,33{NBSP}$US"
        assert formats.unit_price(324_000, "USD") == f"0,324{NBSP}$US"
        assert formats.unit_price(2_000_000, "USD") == f"2,00{NBSP}$US"

    def test_writes_sizes_in_go(self) -> None:
        assert formats.gb(24) == f"24{NARROW}Go"
        assert formats.bandwidth(Decimal(1008)) == f"1{NARROW}008{NARROW}Go/s"

    def test_writes_the_first_of_a_month_as_1er(self) -> None:
        assert formats.date(date(2026, 12, 1)) == "1er déc. 2026"
        assert formats.date(date(2026, 12, 11)) == "11 déc. 2026"
        assert formats.date(date(2026, 12, 21)) == "21 déc. 2026"

    def test_tells_an_age(self) -> None:
        assert formats.age(NOON, NOON + timedelta(minutes=3)) == "il y a 3 minutes"

    def test_names_the_zone(self, paris: None) -> None:
        assert formats.datetime_zone(NOON) == "8 nov. 2026, 13:05 (Europe/Paris)"

    def test_writes_a_percentage(self) -> None:
        assert formats.percent(Decimal("-0.031")) == f"\u22123,1{NARROW}%"
        assert formats.percent(Decimal("0.2")) == f"20{NARROW}%"


class TestEnglish:
    @pytest.fixture(autouse=True)
    def _language(self, english: None) -> None:
        return None

    def test_writes_money_with_the_currency_before(self) -> None:
        assert formats.money(123450, "USD") == "$1,234.50"
        assert formats.money(33, "GBP") == "£0.33"
        assert formats.money(-5, "EUR") == "\u2212€0.05"

    def test_writes_a_unit_price_with_two_decimals_and_three_when_needed(self) -> None:
        assert formats.unit_price(330_000, "USD") == "$0.33"
        assert formats.unit_price(324_000, "EUR") == "€0.324"
        assert formats.unit_price(100_000_000, "GBP") == "£100.00"

    def test_rounds_an_average_half_up_to_the_tick(self) -> None:
        assert formats.unit_price(329_500, "USD") == "$0.33"
        assert formats.unit_price(324_499, "USD") == "$0.324"

    def test_writes_sizes_in_gb(self) -> None:
        assert formats.gb(24) == "24 GB"
        assert formats.bandwidth(Decimal("300.1")) == "300.1 GB/s"
        assert formats.billions(15) == "15 B"

    def test_writes_dates_with_the_month_in_letters(self) -> None:
        assert formats.date(NOON) == "8 Nov 2026"
        assert formats.datetime_zone(NOON) == "8 Nov 2026, 12:05 (UTC)"
        assert formats.time_zone(NOON) == "12:05:09 (UTC)"

    def test_shows_the_day_of_the_readers_zone(self, paris: None) -> None:
        late = datetime(2026, 11, 30, 23, 30, tzinfo=UTC)

        assert formats.datetime_zone(late) == "1 Dec 2026, 00:30 (Europe/Paris)"

    def test_tells_apart_the_two_hours_when_clocks_go_back(self, paris: None) -> None:
        first = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)

        shown = [formats.clock_time(first), formats.clock_time(first + timedelta(hours=1))]

        assert shown == ["02:30 CEST", "02:30 CET"]

    def test_an_age_of_nothing_is_just_now(self) -> None:
        assert formats.age(NOON, NOON) == "just now"
        assert formats.age(NOON, NOON + timedelta(seconds=50)) == "50 seconds ago"
        assert formats.age(NOON, NOON + timedelta(minutes=50)) == "50 minutes ago"


def test_nothing_is_shown_as_nothing() -> None:
    shown = [
        formats.money(None, "EUR"),
        formats.unit_price(None, "EUR"),
        formats.number(None),
        formats.percent(None),
        formats.gb(None),
        formats.bandwidth(None),
        formats.date(None),
        formats.clock_time(None),
        formats.datetime_zone(None),
        formats.age(None, NOON),
    ]

    assert shown == [""] * 10
