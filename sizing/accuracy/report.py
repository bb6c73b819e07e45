"""How far estimates are from measurements: the report behind the page and the command.

Every row that can be compared is estimated twice: with the engine's constants, and with constants
fitted anew without the row's source ("left out"), which is what to expect of a framework that
nobody has measured yet. Errors are summed up by kind, by method, and by method and source. For
training on one card the published rules of others are set beside ours, on the same rows, and each
estimate is turned into a verdict on six sizes of card.

Rows that cannot be compared are counted with their reason. No row is dropped for its error.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeVar

from sizing.accuracy.judging import Judgement, Kind, judged
from sizing.estimates import MARGIN_PERCENT, verdict_on
from sizing.fits import Verdict
from sizing.measurements import MeasurementsFile, NotJudged, Reason
from sizing.relative_errors import ErrorSummary, RowError, row_error, summed_up
from sizing.rivals import RIVALS, Rival
from sizing.units import GB

# The sizes of card that verdicts are tried on, in gigabytes as makers print them.
VERDICT_MEMORIES_GB: Final = (24, 32, 48, 80, 96, 141)


class Target(NamedTuple):
    """What the engine aims at for a kind, in percent. None: no aim was set."""

    median: float
    left_out_median: float | None = None
    worst: float | None = None


TARGETS: Final = {
    Kind.TRAINING_ONE_CARD: Target(median=7, left_out_median=10, worst=35),
    Kind.INFERENCE_16_BITS: Target(median=1),
    Kind.INFERENCE_QUANTIZED: Target(median=3),
    Kind.DECODE_SPEED: Target(median=15),
}
MOST_FALSE_REFUSALS_PERCENT: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Errors of the rows of one kind, of one of its methods, or of one method and source.

    ``method`` and ``source`` are None where the group is not narrowed to one.
    """

    kind: Kind
    method: str | None
    source: str | None
    in_sample: ErrorSummary
    left_out: ErrorSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A published rule and the engine on the same rows, all that the rule covers or one method's."""

    rival: Rival
    method: str | None
    rival_errors: ErrorSummary
    engine_errors: ErrorSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictCount:
    """Verdicts of one kind on `VERDICT_MEMORIES_GB`, one a row and size.

    A false fit promises room for a run that needs more than the memory, a false refusal turns a
    run away that needs no more than it.
    """

    kind: Kind
    decisions: int
    false_fits: int
    false_refusals: int
    left_out_false_fits: int
    left_out_false_refusals: int

    @property
    def false_refusals_percent(self) -> float:
        return 100 * self.false_refusals / self.decisions


class ReasonCount(NamedTuple):
    """How many rows were not compared for one reason, with the details met first."""

    reason: Reason
    rows: int
    details: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccuracyReport:
    """The whole report. ``margin_percent`` is the one of the verdicts."""

    rows: int
    judged: int
    groups: tuple[Group, ...]
    comparisons: tuple[Comparison, ...]
    verdicts: tuple[VerdictCount, ...]
    not_judged: tuple[ReasonCount, ...]
    missing_columns: tuple[str, ...]
    margin_percent: int = MARGIN_PERCENT


def accuracy_report(table: MeasurementsFile) -> AccuracyReport:
    """Return the report on the rows of a file."""
    judgements, refused = judged(table.measurements)
    return report_on(
        judgements=judgements,
        not_judged=(*table.not_judged, *refused),
        missing_columns=table.missing_columns,
    )


def report_on(
    *,
    judgements: Sequence[Judgement],
    not_judged: Sequence[NotJudged] = (),
    missing_columns: tuple[str, ...] = (),
) -> AccuracyReport:
    """Return the report on rows that were estimated and on those that were not."""
    return AccuracyReport(
        rows=len(judgements) + len(not_judged),
        judged=len(judgements),
        groups=tuple(_groups(judgements)),
        comparisons=tuple(_comparisons(judgements)),
        verdicts=tuple(_verdicts(judgements)),
        not_judged=tuple(_reason_counts(not_judged)),
        missing_columns=missing_columns,
    )


def meets(group: Group) -> bool | None:
    """Whether a whole kind meets its target; None where there is none."""
    target = TARGETS.get(group.kind)
    if target is None or group.method is not None:
        return None
    return (
        group.in_sample.median_percent <= target.median
        and (
            target.left_out_median is None
            or group.left_out.median_percent <= target.left_out_median
        )
        and (target.worst is None or group.in_sample.worst_percent <= target.worst)
    )


_Key = TypeVar("_Key", bound=Hashable)


def _split(
    judgements: Iterable[Judgement], *, by: Callable[[Judgement], _Key]
) -> dict[_Key, list[Judgement]]:
    """Return the judgements by a key, keys in the order of their first row."""
    parts: defaultdict[_Key, list[Judgement]] = defaultdict(list)
    for each in judgements:
        parts[by(each)].append(each)
    return dict(parts)


def _groups(judgements: Sequence[Judgement]) -> Iterable[Group]:
    of_kind = _split(judgements, by=lambda each: each.kind)
    for kind in (kind for kind in Kind if kind in of_kind):
        yield _group(of_kind[kind], kind=kind)
        for method, rows in _split(of_kind[kind], by=lambda each: each.method).items():
            yield _group(rows, kind=kind, method=method)
            for source, some in _split(rows, by=lambda each: each.source).items():
                yield _group(some, kind=kind, method=method, source=source)


def _group(
    judgements: Sequence[Judgement],
    *,
    kind: Kind,
    method: str | None = None,
    source: str | None = None,
) -> Group:
    in_sample = summed_up([_error(each, each.estimate) for each in judgements])
    left_out = summed_up([_error(each, each.left_out_estimate) for each in judgements])
    assert in_sample is not None
    assert left_out is not None
    return Group(kind=kind, method=method, source=source, in_sample=in_sample, left_out=left_out)


def _error(judgement: Judgement, estimate: float) -> RowError:
    return row_error(id=judgement.id, estimate=estimate, measured=judgement.measured)


def _comparisons(judgements: Sequence[Judgement]) -> Iterable[Comparison]:
    comparable = [
        each
        for each in judgements
        if each.kind is Kind.TRAINING_ONE_CARD and each.rival_run is not None
    ]
    by_method = _split(comparable, by=lambda each: each.method)
    for rival in RIVALS:
        for method, rows in ((None, comparable), *by_method.items()):
            comparison = _comparison(rival, method=method, rows=rows)
            if comparison is not None:
                yield comparison


def _comparison(
    rival: Rival, *, method: str | None, rows: Sequence[Judgement]
) -> Comparison | None:
    theirs, ours = [], []
    for each in rows:
        assert each.rival_run is not None
        estimate = rival.peak_bytes(each.rival_run)
        if estimate is not None:
            theirs.append(_error(each, estimate))
            ours.append(_error(each, each.estimate))
    rival_errors, engine_errors = summed_up(theirs), summed_up(ours)
    if rival_errors is None or engine_errors is None:
        return None
    return Comparison(
        rival=rival, method=method, rival_errors=rival_errors, engine_errors=engine_errors
    )


def _verdicts(judgements: Sequence[Judgement]) -> Iterable[VerdictCount]:
    of_kind = _split(judgements, by=lambda each: each.kind)
    for kind in (Kind.TRAINING_ONE_CARD, Kind.INFERENCE_16_BITS, Kind.INFERENCE_QUANTIZED):
        rows = [each for each in of_kind.get(kind, ()) if each.is_one_card]
        if rows:
            yield _verdict_count(kind, rows)


def _verdict_count(kind: Kind, rows: Sequence[Judgement]) -> VerdictCount:
    outcomes = Counter(
        (is_left_out, _outcome(each, estimate, memory_gb * GB))
        for each in rows
        for memory_gb in VERDICT_MEMORIES_GB
        for is_left_out, estimate in ((False, each.estimate), (True, each.left_out_estimate))
    )
    return VerdictCount(
        kind=kind,
        decisions=len(rows) * len(VERDICT_MEMORIES_GB),
        false_fits=outcomes[False, "false_fit"],
        false_refusals=outcomes[False, "false_refusal"],
        left_out_false_fits=outcomes[True, "false_fit"],
        left_out_false_refusals=outcomes[True, "false_refusal"],
    )


def _outcome(judgement: Judgement, estimate: float, memory_bytes: int) -> str:
    verdict = verdict_on(peak_bytes=round(estimate), memory_bytes=memory_bytes)
    has_room = judgement.measured <= memory_bytes
    if has_room == (verdict is not Verdict.NO):
        return "right"
    return "false_refusal" if has_room else "false_fit"


# Enough to see what is meant, few enough for a line.
MOST_DETAILS: Final = 3


def _reason_counts(rows: Sequence[NotJudged]) -> Iterable[ReasonCount]:
    for reason in Reason:
        details = [row.detail for row in rows if row.reason is reason]
        if details:
            yield ReasonCount(
                reason=reason,
                rows=len(details),
                details=tuple(dict.fromkeys(details))[:MOST_DETAILS],
            )
