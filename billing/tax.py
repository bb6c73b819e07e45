"""Which value-added tax an hour carries. Pure: standard library only, one table of rates.

The site sells in its own name an electronically supplied service, taxed where the customer is
(Directive 2006/112/EC, art. 44 and 58). In order, the first that applies:

1. A customer outside the Union and the United Kingdom: no tax of these territories, 0 %.
2. A business elsewhere than the merchant, with a checked VAT number: the customer owes the tax
   (reverse charge), 0 % here.
3. Everybody else: the standard rate of the customer's country on that day. A VAT number that was
   not checked changes nothing.

The decision is frozen on each order, so a later change of rate or profile leaves it alone. What is
left out: the small turnover across borders that may be taxed at home, and sales taxes elsewhere.
These rules are research, not advice.
"""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib import resources

STANDARD = "standard"
REVERSE_CHARGE = "reverse_charge"
OUTSIDE_SCOPE = "outside_scope"

# Two territories that count as another for this tax: Directive 2006/112/EC, art. 7.
TREATED_AS = {"MC": "FR", "IM": "GB"}


class NoRateOnDate(LookupError):
    """The table has no rate of a taxed country that goes back to this day."""


@dataclass(frozen=True, slots=True)
class TaxDecision:
    """The rule that applied, the country whose tax it is, and the rate in hundredths of a percent."""

    rule: str
    country: str
    rate_bps: int


@dataclass(frozen=True, slots=True)
class VatRate:
    """A country's standard rate from a day on, and the law that sets it."""

    country: str
    valid_from: date
    rate_bps: int
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaxStatus:
    """What the decision looks at: where the customer is, and whether it is a proven business."""

    country: str
    is_business: bool
    has_checked_vat_id: bool


def decide(*, customer: TaxStatus, merchant_country: str, on: date) -> TaxDecision:
    """Return the tax of an hour sold to this customer on this day.

    Raises
    ------
    NoRateOnDate
        The country is taxed, but our table does not go back that far.
    """
    country = TREATED_AS.get(customer.country, customer.country)
    if country not in taxed_countries():
        return TaxDecision(rule=OUTSIDE_SCOPE, country=country, rate_bps=0)
    is_abroad = country != TREATED_AS.get(merchant_country, merchant_country)
    if is_abroad and customer.is_business and customer.has_checked_vat_id:
        return TaxDecision(rule=REVERSE_CHARGE, country=country, rate_bps=0)
    return TaxDecision(rule=STANDARD, country=country, rate_bps=standard_rate_bps(country, on=on))


def standard_rate_bps(country: str, *, on: date) -> int:
    """Return the country's standard rate on a day: the last one that began by then."""
    rates = [rate for rate in _rates_by_country().get(country, ()) if rate.valid_from <= on]
    if not rates:
        raise NoRateOnDate(country, on)
    return max(rates, key=lambda rate: rate.valid_from).rate_bps


def taxed_countries() -> frozenset[str]:
    """Return the countries whose tax we collect: those of the table."""
    return frozenset(_rates_by_country())


@cache
def vat_rates() -> tuple[VatRate, ...]:
    """Return the table of standard rates, as it stands in the file."""
    text = resources.files("billing.tables").joinpath("vat_rates.csv").read_text(encoding="utf-8")
    return tuple(_read(csv.DictReader(text.splitlines())))


def _read(rows: Iterable[Mapping[str, str]]) -> Iterable[VatRate]:
    for row in rows:
        yield VatRate(
            country=row["country"],
            valid_from=date.fromisoformat(row["valid_from"]),
            rate_bps=int(row["rate_bps"]),
            source=row["source"],
        )


@cache
def _rates_by_country() -> dict[str, tuple[VatRate, ...]]:
    by_country: dict[str, tuple[VatRate, ...]] = {}
    for rate in vat_rates():
        by_country[rate.country] = (*by_country.get(rate.country, ()), rate)
    return by_country
