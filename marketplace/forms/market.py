"""What visitors choose in the address of a market page: currency, order, period.

The address is the whole state. A value that means nothing is left out and named.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from catalog.filters import MAX_TYPED_LENGTH, SHOW_ALL, SHOW_OFFERED, Ignored
from catalog.forms import CurrencyChoice, chosen_currency
from catalog.ordering import Order
from catalog.queries_market import MarketRow

Value = Decimal | int | str | None

# Most traded first.
DEFAULT_ORDER = Order("sold", is_descending=True)
DEFAULT_RANGE = "7d"
RANGES: Mapping[str, timedelta | None] = {
    "24h": timedelta(hours=24),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
    "all": None,
}
RANGE_LABELS: Mapping[str, str | Promise] = {
    "24h": _("24 h"),
    "7d": _("7 d"),
    "30d": _("30 d"),
    "all": _("All time"),
}


def _figure(name: str) -> Callable[[MarketRow], Value]:
    def value(row: MarketRow) -> Value:
        found: Value = getattr(row.figures, name, None)
        return found

    return value


VALUES: Mapping[str, Callable[[MarketRow], Value]] = {
    "name": lambda row: row.gpu.name.casefold(),
    "price": lambda row: row.price_micro,
    "eight": lambda row: row.eight_price_micro,
    "offered": _figure("offered_gpu_hours"),
    "sold": _figure("sold_gpu_hours_24h"),
    "last": _figure("last_price_micro"),
    "change": _figure("change_share"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketAddress:
    """What the address of the market's overview asks for. ``show`` is empty when it does not say."""

    choice: CurrencyChoice
    show: str
    order: Order
    ignored: tuple[Ignored, ...]

    def shows_only_offered(self, rows: Iterable[MarketRow]) -> bool:
        """Tell whether models without an offer are hidden: by choice, or while any has one."""
        if self.show:
            return self.show == SHOW_OFFERED
        return any(row.is_offered for row in rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryAddress:
    """What the address of a model's market page asks for."""

    choice: CurrencyChoice
    period: str
    ignored: tuple[Ignored, ...]

    def since(self, *, now: datetime) -> datetime | None:
        """Return where the period begins; None is the beginning."""
        length = RANGES[self.period]
        return None if length is None else now - length


def read_market(query: Mapping[str, str], *, slugs: Iterable[str]) -> MarketAddress:
    """Return what the overview's address asks for; ``gpu`` names a model that there is none of."""
    ignored: list[Ignored] = []
    show = _one_of(query, "show", _("On offer"), (SHOW_OFFERED, SHOW_ALL), ignored)
    _one_of(query, "gpu", _("Model"), slugs, ignored)
    sorts = [sort for key in VALUES for sort in (key, f"-{key}")]
    sort = _one_of(query, "sort", _("Sort order"), sorts, ignored)
    order = Order(sort.removeprefix("-"), sort.startswith("-")) if sort else DEFAULT_ORDER
    return MarketAddress(
        choice=chosen_currency(query), show=show, order=order, ignored=tuple(ignored)
    )


def read_history(query: Mapping[str, str]) -> HistoryAddress:
    """Return what the address of a model's market page asks for."""
    ignored: list[Ignored] = []
    period = _one_of(query, "range", _("Period"), RANGES, ignored)
    return HistoryAddress(
        choice=chosen_currency(query), period=period or DEFAULT_RANGE, ignored=tuple(ignored)
    )


def in_order(rows: Iterable[MarketRow], *, order: Order) -> list[MarketRow]:
    """Return the rows in ``order``; a row without the value stands last, equal ones by name."""
    value = VALUES[order.key]
    steady = sorted(rows, key=lambda row: (not row.is_offered, row.gpu.name, row.gpu.slug))
    known = [row for row in steady if value(row) is not None]
    # Python's sort is stable in both directions, so equal values keep the steady order.
    known.sort(key=value, reverse=order.is_descending)  # type: ignore[arg-type]  # None is left out
    return known + [row for row in steady if value(row) is None]


def _one_of(
    query: Mapping[str, str],
    key: str,
    label: str | Promise,
    known: Iterable[str],
    ignored: list[Ignored],
) -> str:
    text = query.get(key, "").strip()
    if not text or text in known:
        return text
    ignored.append(Ignored(label, text[:MAX_TYPED_LENGTH]))
    return ""
