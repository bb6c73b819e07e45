"""Cards and numbers of cards for one job, the cheapest that fits first.

Order: what fits and has a price, by the cost of the work, or by the hourly price where no work is
told; then what fits and has a price but no known speed; then what fits and nobody offers now, by
time, or by memory; last what does not fit, by the memory that is missing. Equals: fewer cards
first, then by slug. Prices are told by the caller, for offers that sell so many cards in one
server; a price that is absent is never made up. The cost of work is an estimate to compare by.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from math import inf
from typing import NamedTuple

from sizing.cards import Card
from sizing.fits import Verdict
from sizing.planning.placing import COUNTS, Job, Placed, Sharing, choose, plans_by_count
from sizing.planning.work import (
    Interval,
    Rates,
    TrainingLoad,
    Work,
    rates_of,
    serving_hours,
    tokens_per_hour,
    training_hours,
    training_load,
)
from sizing.serving.job import ServingJob
from sizing.serving.peaks import UnknownPeakError


class Reason(StrEnum):
    """Why a row stands where it stands, and what to know about it."""

    CHEAPEST = "cheapest"
    FASTEST = "fastest"
    TIGHT = "tight"
    MISSING_MEMORY = "missing_memory"
    NO_OFFER = "no_offer"
    UNKNOWN_SPEED = "unknown_speed"
    COPY_ON_EACH_CARD = "copy_on_each_card"
    WEIGHTS_DIVIDED = "weights_divided"
    STATES_DIVIDED = "states_divided"
    LAYERS_DIVIDED = "layers_divided"
    LAYERS_IN_TURN = "layers_in_turn"
    IDLE_CARDS = "idle_cards"
    NVLINK = "nvlink"
    NO_NVLINK = "no_nvlink"


_REASON_OF_SPLIT = {
    Sharing.DDP: Reason.COPY_ON_EACH_CARD,
    Sharing.ZERO1: Reason.STATES_DIVIDED,
    Sharing.ZERO2: Reason.STATES_DIVIDED,
    Sharing.ZERO3: Reason.WEIGHTS_DIVIDED,
    Sharing.FSDP: Reason.WEIGHTS_DIVIDED,
    Sharing.TENSOR: Reason.LAYERS_DIVIDED,
    Sharing.LAYERS: Reason.LAYERS_IN_TURN,
}


class Ranked(NamedTuple):
    """One row. ``price_micro`` is per hour for all its cards, None when there is no offer now.

    ``hours`` and ``total_micro`` are those of the work; None where it does not fit, no work was
    told, or the speed is not known. ``reasons`` are values of `Reason`.
    """

    placed: Placed
    price_micro: int | None
    hours: Interval | None
    total_micro: Interval | None
    reasons: tuple[Reason, ...]


def rank(
    job: Job,
    *,
    cards: Sequence[Card],
    prices: Mapping[tuple[str, int], int],
    work: Work | None = None,
    counts: Sequence[int] = COUNTS,
) -> tuple[Ranked, ...]:
    """Return every card with every number of cards, best first.

    ``prices`` are micro-units per GPU and hour, by slug and number of GPUs on one server.
    """
    plans = plans_by_count(job, counts=counts)
    clock = None if work is None else _Clock(work)
    rows = []
    for card in cards:
        for count in counts:
            placed = choose(plans[count], card, gpus=count)
            hours = clock.hours(placed) if clock is not None and placed.fits else None
            price = prices.get((card.slug, count))
            rows.append(_row(placed, price=price, hours=hours, has_work=work is not None))
    rows.sort(key=_place_of)
    return _with_best(rows)


class _Clock:
    """Hours of one work on many cards; what does not depend on the card is reckoned once."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._loads: dict[tuple[int, Sharing], TrainingLoad] = {}
        self._rates: dict[str, Rates | None] = {}

    def hours(self, placed: Placed) -> Interval | None:
        rates = self._rates_of(placed.card)
        job = placed.job
        if isinstance(job, ServingJob):
            # Decoding is bound by the memory; only prompts need the peak.
            if rates is None and job.output_tokens:
                return None
            return serving_hours(job, self._work, placed.card)
        if rates is None:
            return None
        key = (job.cards, placed.split)
        load = self._loads.get(key)
        if load is None:
            load = self._loads[key] = training_load(job)
        return training_hours(self._work, tokens_per_hour(load, rates))

    def _rates_of(self, card: Card) -> Rates | None:
        if card.slug not in self._rates:
            try:
                self._rates[card.slug] = rates_of(card)
            except UnknownPeakError:
                self._rates[card.slug] = None
        return self._rates[card.slug]


def _row(placed: Placed, *, price: int | None, hours: Interval | None, has_work: bool) -> Ranked:
    whole = None if price is None else price * placed.gpus
    total = None
    if whole is not None and hours is not None:
        # To the nearest micro-unit: a figure to compare by, which nobody is charged.
        total = Interval(*(round(each * whole) for each in hours))
    reasons = []
    if placed.verdict is Verdict.TIGHT:
        reasons.append(Reason.TIGHT)
    if not placed.fits:
        reasons.append(Reason.MISSING_MEMORY)
    if whole is None:
        reasons.append(Reason.NO_OFFER)
    if has_work and hours is None and placed.fits:
        reasons.append(Reason.UNKNOWN_SPEED)
    if placed.gpus > 1:
        reasons += _reasons_of_several(placed)
    return Ranked(placed, whole, hours, total, tuple(reasons))


def _reasons_of_several(placed: Placed) -> list[Reason]:
    reasons = []
    split = _REASON_OF_SPLIT.get(placed.split)
    if split is not None:
        has_nvlink = placed.card.nvlink_gb_per_s is not None
        reasons += [split, Reason.NVLINK if has_nvlink else Reason.NO_NVLINK]
    if placed.working < placed.gpus:
        reasons.append(Reason.IDLE_CARDS)
    return reasons


def _place_of(row: Ranked) -> tuple[int, float, int, str]:
    placed = row.placed
    if not placed.fits:
        group, figure = 3, float(placed.missing_bytes)
    elif row.price_micro is None:
        memory = float(placed.gpus * placed.card.memory_bytes)
        group, figure = 2, memory if row.hours is None else row.hours.middle
    elif row.total_micro is not None:
        group, figure = 0, row.total_micro.middle
    else:
        is_unknown = Reason.UNKNOWN_SPEED in row.reasons
        group, figure = 1 if is_unknown else 0, float(row.price_micro)
    return group, figure, placed.gpus, placed.card.slug


def _with_best(rows: list[Ranked]) -> tuple[Ranked, ...]:
    """Mark the cheapest, and the fastest of those that are on offer."""
    offered = [row for row in rows if row.placed.fits and row.price_micro is not None]
    if not offered:
        return tuple(rows)
    cheapest = offered[0]
    fastest = min(offered, key=lambda row: inf if row.hours is None else row.hours.middle)
    return tuple(
        row._replace(reasons=(*_marks(row, cheapest, fastest), *row.reasons))
        if row is cheapest or row is fastest
        else row
        for row in rows
    )


def _marks(row: Ranked, cheapest: Ranked, fastest: Ranked) -> Iterator[Reason]:
    if row is cheapest:
        yield Reason.CHEAPEST
    if row is fastest and row.hours is not None:
        yield Reason.FASTEST
