"""The list of GPU models as one address asks for it: rows, what they hide, and what would help."""

from dataclasses import dataclass
from datetime import datetime

from django.http import QueryDict

from billing.money import Currency
from catalog.filters import SHOW_ALL, SHOW_OFFERED, Criterion, Filters, read_filters
from catalog.ordering import in_order
from catalog.queries import listed_gpus
from catalog.queries_listed import ListedGpu, listed_gpu_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Relaxation:
    """A filter that could be left out, how many models that would free, and the link to do it."""

    key: str
    freed: int
    query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """An active filter and the link that takes it away."""

    key: str
    query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What the page and its CSV show. ``everything`` holds all listed models, for the form."""

    rows: list[ListedGpu]
    everything: list[ListedGpu]
    filters: Filters
    only_offered: bool
    hidden_count: int
    offered_count: int
    chips: list[Chip]
    relaxations: list[Relaxation]


def gpu_listing(*, query: QueryDict, currency: Currency, now: datetime) -> Listing:
    """Return the list that ``query`` asks for. Four queries."""
    gpus = listed_gpus()
    filters = read_filters(query, gpus=gpus, currency=currency)
    everything = listed_gpu_rows(gpus=gpus, currency=currency, now=now)
    only_offered = filters.shows_only_offered(everything)
    criteria = filters.criteria()
    matching = [row for row in everything if all(c.accepts(row) for c in criteria)]
    shown = [row for row in matching if row.is_offered or not only_offered]
    active = [*criteria, ON_OFFER] if only_offered else criteria
    return Listing(
        rows=in_order(shown, order=filters.order),
        everything=everything,
        filters=filters,
        only_offered=only_offered,
        hidden_count=len(matching) - len(shown),
        offered_count=sum(row.is_offered for row in shown),
        chips=[Chip(key=c.key, query=_without(query, c)) for c in active],
        relaxations=[] if shown else _relaxations(everything, active, query),
    )


ON_OFFER = Criterion(key="show", parameters=("show",), accepts=lambda row: row.is_offered)


def _relaxations(
    rows: list[ListedGpu], active: list[Criterion], query: QueryDict
) -> list[Relaxation]:
    """Return the single filters whose removal shows something, the most helpful first."""
    found = []
    for criterion in active:
        others = [other for other in active if other is not criterion]
        freed = sum(all(other.accepts(row) for other in others) for row in rows)
        if freed:
            link = _without(query, criterion)
            found.append(Relaxation(key=criterion.key, freed=freed, query=link))
    return sorted(found, key=lambda relaxation: -relaxation.freed)


def _without(query: QueryDict, criterion: Criterion) -> str:
    """Return the address's query without a filter; all models are asked for by name."""
    rest = query.copy()
    for parameter in criterion.parameters:
        rest.pop(parameter, None)
    if criterion is ON_OFFER:
        rest["show"] = SHOW_ALL
    return f"?{rest.urlencode()}"


def showing(query: QueryDict, *, only_offered: bool) -> str:
    """Return the same list with, or without, the models that have no offer."""
    rest = query.copy()
    rest["show"] = SHOW_OFFERED if only_offered else SHOW_ALL
    return f"?{rest.urlencode()}"
