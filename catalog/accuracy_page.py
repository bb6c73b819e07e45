"""What the page of the accuracy report shows: the stored report, in words and in order."""

from collections.abc import Mapping
from datetime import date
from types import MappingProxyType
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from sizing.accuracy.constants_dates import constants_fitted_on
from sizing.accuracy.plain import stored_report_object

Words = str | Promise

KINDS: Final[Mapping[str, Words]] = MappingProxyType(
    {
        "training_one_card": _("Fine-tuning memory, one card"),
        "training_many_cards": _("Fine-tuning memory, several cards"),
        "inference_16_bits": _("Inference memory, 16 bits"),
        "inference_quantized": _("Inference memory, quantized"),
        "decode_speed": _("Speed of writing"),
        "prefill_speed": _("Speed of reading the prompt"),
    }
)
REASONS: Final[Mapping[str, Words]] = MappingProxyType(
    {
        "wrong_cells": _("the row has more or fewer cells than the first line names"),
        "other_task": _("the engine makes no estimate for this task"),
        "other_metric": _("the engine makes no estimate of this metric"),
        "broken_number": _("a number is missing, broken or out of all bounds"),
        "unknown_unit": _("the unit is not one of this metric"),
        "unknown_model": _("the model is not in the table of models"),
        "no_length": _("the length in tokens is not given"),
        "no_precision": _("the precision of the weights is not given"),
        "approximate": _("the note says that the figure is only approximate"),
        "compilation": _("the note says that the figure comes from a compilation"),
        "below_states": _(
            "the peak is below weights, gradients and optimizer states alone, so it cannot be of "
            "the run described"
        ),
        "not_estimated": _("the engine refuses to estimate what the row describes"),
    }
)


def report_in_words() -> dict[str, Any]:
    """Return the report for the page: whole kinds, their methods, sources, other rules, verdicts."""
    report = stored_report_object()
    groups = [group | {"name": KINDS[group["kind"]]} for group in report["groups"]]
    verdicts = report["verdicts"]
    return {
        "rows": report["rows"],
        "judged": report["judged"],
        "kinds": [group for group in groups if group["method"] is None],
        "methods": [group for group in groups if group["method"] and group["source"] is None],
        "sources": [group for group in groups if group["source"]],
        "rivals": [rival for rival in report["rivals"] if rival["method"] is None],
        "margin_percent": verdicts["margin_percent"],
        "verdicts": [each | {"name": KINDS[each["kind"]]} for each in verdicts["kinds"]],
        "not_judged": [
            {"rows": each["rows"], "text": REASONS[each["reason"]]} for each in report["not_judged"]
        ],
        "fitted_on": fitted_on(),
    }


def fitted_on() -> date | None:
    """Return the day on which the newest constants were fitted."""
    return max(constants_fitted_on().values(), default=None)
