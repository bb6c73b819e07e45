"""The report on our own table, computed once for all tests that look at it."""

from functools import cache

from sizing.accuracy.judging import Judgement, judged
from sizing.accuracy.report import AccuracyReport, accuracy_report
from sizing.measurements import own_measurements


@cache
def own_report() -> AccuracyReport:
    return accuracy_report(own_measurements())


@cache
def own_judgements() -> tuple[Judgement, ...]:
    return tuple(judged(own_measurements().measurements)[0])
