"""The verdicts that the page shows: which cards and counts, in which order, with what beside."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from catalog.calculator.choices import SETTINGS, Words
from catalog.calculator.reading import Asked, Job
from catalog.calculator.words import SPLITS, VERDICTS
from catalog.fits import CARD_PERCENT, KINDS
from sizing.cards import Card, all_cards
from sizing.estimates import Estimate
from sizing.fits import Verdict
from sizing.planning.changes import smallest_change
from sizing.planning.placing import Placed
from sizing.planning.ranking import Ranked, rank
from sizing.planning.work import Interval, rates_of, tokens_per_hour, training_load
from sizing.serving.peaks import UnknownPeakError
from sizing.serving.speed import decode_throughput
from sizing.training.job import TrainingJob

SHOWN_FITS: Final = 8
SHOWN_MISFITS: Final = 3
MOST_HOURS: Final = 168  # The longest rental.
SECONDS_PER_HOUR: Final = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownChange:
    """The smallest change that fits: a figure, or a setting by its words."""

    key: str
    after: int | str
    setting: Words = ""
    words: Words = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One card model and count with its verdict; ``fit_bar.html`` draws ``kind`` and the bar."""

    card: Card
    gpus: int
    verdict: Verdict
    estimate: Estimate
    missing_bytes: int
    split: str
    price_micro: int | None
    hours: Interval | None
    total_micro: Interval | None
    tokens_per_s: float | None = None
    change: ShownChange | None = None
    is_advised: bool = False
    is_asked: bool = False

    @property
    def kind(self) -> str:
        return KINDS[self.verdict]

    @property
    def word(self) -> str:
        return str(VERDICTS[self.verdict])

    @property
    def split_words(self) -> str:
        return str(SPLITS[self.split])

    @property
    def fits(self) -> bool:
        return self.verdict is not Verdict.NO

    @property
    def bar_percent(self) -> int:
        share = CARD_PERCENT * self.estimate.peak_bytes // self.card.memory_bytes
        return min(share, 100)

    @property
    def price_per_gpu_micro(self) -> int | None:
        return None if self.price_micro is None else self.price_micro // self.gpus

    @property
    def order_hours(self) -> int:
        """Return what the order form is filled in with: the hours of the work, else one."""
        if self.hours is None:
            return 1
        return min(max(1, math.ceil(self.hours.middle)), MOST_HOURS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """What is shown of all cards and counts. ``fitting_slugs`` are kept for bids on any of them.

    ``best`` is the cheapest with room to spare, ``tight`` what holds the job for less without it.
    """

    rows: tuple[Row, ...]
    hidden: int
    best: Row | None
    tight: Row | None
    fitting_slugs: tuple[str, ...]


def verdicts_on(
    asked: Asked,
    job: Job,
    *,
    slugs: Sequence[str],
    prices: Mapping[tuple[str, int], int],
    is_whole: bool = False,
) -> Verdicts:
    """Place the job on the listed cards and choose what to show."""
    known = all_cards()
    cards = [known[slug] for slug in slugs if slug in known]
    ranked = rank(job, cards=cards, prices=prices, work=asked.work)
    fits = [each for each in ranked if each.placed.verdict is not Verdict.NO]
    best = _cheapest(fits)
    tight = _tighter(fits, best)
    chosen = _in_order(_fits_to_show(fits, best), asked)
    shown = chosen if is_whole else chosen[:SHOWN_FITS]
    if best is not None and not any(each is best for each in shown):
        shown = [*shown[:-1], best]
    if asked.card_slug:
        shown = _asked_first(shown, ranked, asked.card_slug)
    misfits = _misfits(ranked, shown, is_whole=is_whole)
    return Verdicts(
        rows=tuple(_row(each, job, best=best, asked=asked) for each in [*shown, *misfits]),
        hidden=0 if is_whole else max(len(chosen) - len(shown), 0),
        best=_row(best, job, best=best, asked=asked) if best else None,
        tight=_row(tight, job, best=best, asked=asked) if tight else None,
        fitting_slugs=tuple(dict.fromkeys(each.placed.card.slug for each in fits)),
    )


def _cheapest(fits: Sequence[Ranked]) -> Ranked | None:
    """Return the cheapest with room to spare; where none has, the cheapest that fits."""
    priced = [each for each in fits if each.price_micro is not None]
    roomy = [each for each in priced if each.placed.verdict is Verdict.COMFORTABLE]
    return next(iter(roomy or priced), None)


def _tighter(fits: Sequence[Ranked], best: Ranked | None) -> Ranked | None:
    """Return what fits for less than the advised one: the cheapest of all, if that is another."""
    first = next((each for each in fits if each.price_micro is not None), None)
    if first is None or best is None or _cost(first) >= _cost(best):
        return None
    return first


def _cost(each: Ranked) -> float:
    """Return what the rows are ordered by: the cost of the work, else of an hour."""
    assert each.price_micro is not None
    return each.total_micro.middle if each.total_micro else each.price_micro


def _fits_to_show(fits: Sequence[Ranked], best: Ranked | None) -> list[Ranked]:
    """Return one row a card, the fewest of it that fit; the advised one whatever its count."""
    fewest: dict[str, Ranked] = {}
    for each in fits:
        known = fewest.get(each.placed.card.slug)
        if known is None or each.placed.gpus < known.placed.gpus:
            fewest[each.placed.card.slug] = each
    return [each for each in fits if each is best or each is fewest[each.placed.card.slug]]


def _in_order(rows: list[Ranked], asked: Asked) -> list[Ranked]:
    if asked.sort == "margin":
        return sorted(rows, key=lambda each: (each.price_micro is None, _share_used(each)))
    if asked.sort == "speed":
        speeds = {id(each): tokens_per_s(each.placed) or 0.0 for each in rows}
        return sorted(rows, key=lambda each: (each.price_micro is None, -speeds[id(each)]))
    return rows


def _share_used(each: Ranked) -> Decimal:
    placed = each.placed
    return Decimal(placed.estimate.peak_bytes) / placed.card.memory_bytes


def _asked_first(shown: Sequence[Ranked], ranked: Sequence[Ranked], slug: str) -> list[Ranked]:
    """Put every count of the card in question first, whether it fits or not."""
    own = sorted(
        (each for each in ranked if each.placed.card.slug == slug),
        key=lambda each: each.placed.gpus,
    )
    return [*own, *(each for each in shown if each.placed.card.slug != slug)]


def _misfits(ranked: Sequence[Ranked], shown: Sequence[Ranked], *, is_whole: bool) -> list[Ranked]:
    """Return what falls short, nearest first, one of each size of memory."""
    found: dict[object, Ranked] = {}
    already = {id(each) for each in shown}
    for each in ranked:
        placed = each.placed
        if placed.verdict is Verdict.NO and placed.gpus == 1 and id(each) not in already:
            found.setdefault(placed.card.slug if is_whole else placed.card.memory_gb, each)
    nearest = sorted(found.values(), key=lambda each: each.placed.missing_bytes)
    return nearest if is_whole else nearest[:SHOWN_MISFITS]


def _row(each: Ranked, job: Job, *, best: Ranked | None, asked: Asked) -> Row:
    placed = each.placed
    is_misfit = placed.verdict is Verdict.NO
    return Row(
        card=placed.card,
        gpus=placed.gpus,
        verdict=placed.verdict,
        estimate=placed.estimate,
        missing_bytes=placed.missing_bytes,
        split=placed.split,
        price_micro=each.price_micro,
        hours=each.hours,
        total_micro=each.total_micro,
        tokens_per_s=None if is_misfit else tokens_per_s(placed),
        change=_change(job, placed) if is_misfit else None,
        is_advised=each is best,
        is_asked=placed.card.slug == asked.card_slug,
    )


def _change(job: Job, placed: Placed) -> ShownChange | None:
    found = smallest_change(job, placed.card, gpus=placed.gpus)
    if found is None:
        return None
    after = dict(found.values)["after"]
    setting, known = SETTINGS.get(found.key, ("", {}))
    return ShownChange(
        key=found.key, after=after, setting=setting, words=known.get(str(after), str(after))
    )


def tokens_per_s(placed: Placed) -> float | None:
    """Return the tokens per second of all the cards together; None where no rate is known."""
    try:
        if isinstance(placed.job, TrainingJob):
            speed = tokens_per_hour(training_load(placed.job), rates_of(placed.card))
            return speed.middle / SECONDS_PER_HOUR
        return decode_throughput(placed.job, placed.card).tokens_per_s
    except UnknownPeakError:
        return None
