"""The tax decision, by the customer's country, kind and number, and by the day."""

from datetime import date

import pytest

from billing.tax import (
    NoRateOnDate,
    TaxDecision,
    TaxStatus,
    decide,
    standard_rate_bps,
    taxed_countries,
    vat_rates,
)

DAY = date(2026, 11, 30)
EU = {
    *("AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR", "HR", "HU"),
    *("IE", "IT", "LT", "LU", "LV", "MT", "NL", "PL", "PT", "RO", "SE", "SI", "SK"),
}


def customer(country: str, *, is_business: bool = False, is_checked: bool = False) -> TaxStatus:
    return TaxStatus(country=country, is_business=is_business, has_checked_vat_id=is_checked)


def decision(status: TaxStatus, *, on: date = DAY) -> TaxDecision:
    return decide(customer=status, merchant_country="FR", on=on)


@pytest.mark.parametrize(
    ("country", "rate_bps"),
    [("FR", 2_000), ("DE", 1_900), ("HU", 2_700), ("LU", 1_700), ("FI", 2_550), ("GB", 2_000)],
)
def test_a_person_pays_the_rate_of_their_country(country, rate_bps):
    assert decision(customer(country)) == TaxDecision("standard", country, rate_bps)


@pytest.mark.parametrize("country", ["US", "CH", "NO", "JP"])
def test_a_customer_outside_the_union_pays_no_tax(country):
    assert decision(customer(country)) == TaxDecision("outside_scope", country, 0)


def test_a_business_abroad_with_a_checked_number_owes_the_tax_itself():
    status = customer("DE", is_business=True, is_checked=True)

    assert decision(status) == TaxDecision("reverse_charge", "DE", 0)


def test_a_business_abroad_whose_number_is_not_checked_pays_its_countrys_rate():
    assert decision(customer("DE", is_business=True)) == TaxDecision("standard", "DE", 1_900)


def test_a_business_at_home_pays_the_tax_even_with_a_checked_number():
    status = customer("FR", is_business=True, is_checked=True)

    assert decision(status) == TaxDecision("standard", "FR", 2_000)


def test_a_person_with_a_number_is_no_business():
    assert decision(customer("DE", is_checked=True)) == TaxDecision("standard", "DE", 1_900)


@pytest.mark.parametrize(("territory", "country"), [("MC", "FR"), ("IM", "GB")])
def test_two_territories_count_as_their_neighbour(territory, country):
    assert decision(customer(territory)) == TaxDecision("standard", country, 2_000)


@pytest.mark.parametrize(
    ("country", "day", "rate_bps"),
    [
        ("EE", date(2025, 6, 30), 2_200),
        ("EE", date(2025, 7, 1), 2_400),
        ("RO", date(2025, 7, 31), 1_900),
        ("RO", date(2025, 8, 1), 2_100),
        ("SK", date(2024, 12, 31), 2_000),
        ("SK", date(2025, 1, 1), 2_300),
        ("FI", date(2024, 8, 31), 2_400),
        ("FI", date(2024, 9, 1), 2_550),
    ],
)
def test_a_rate_changes_on_its_day(country, day, rate_bps):
    assert decision(customer(country), on=day).rate_bps == rate_bps


def test_a_day_before_the_table_is_refused_not_guessed():
    with pytest.raises(NoRateOnDate):
        standard_rate_bps("EE", on=date(2020, 1, 1))


def test_the_table_holds_the_union_and_the_united_kingdom_each_with_its_source():
    assert taxed_countries() == EU | {"GB"}
    assert all(rate.source and 1_500 <= rate.rate_bps <= 2_700 for rate in vat_rates())
    assert len({(rate.country, rate.valid_from) for rate in vat_rates()}) == len(vat_rates())
