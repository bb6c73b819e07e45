"""Tables as files for spreadsheets: UTF-8 with a mark that they recognise, dots for decimals."""

import csv
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from io import StringIO

from django.http import HttpResponse, HttpResponseBadRequest
from django.utils.translation import gettext

from billing.money import MICRO_PER_UNIT
from catalog.forms import CurrencyChoice

BYTE_ORDER_MARK = "\ufeff"


def csv_file(*, name: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> HttpResponse:
    """Return a file with one line per row under ``head``."""
    text = StringIO()
    text.write(BYTE_ORDER_MARK)
    writer = csv.writer(text)
    writer.writerow(head)
    writer.writerows(rows)
    return HttpResponse(
        text.getvalue(),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )


def price_cell(micro: int | None) -> str:
    """Return a price in units of currency, two to three decimals; empty when there is none."""
    if micro is None:
        return ""
    text = f"{Decimal(micro) / MICRO_PER_UNIT:.3f}"
    return text.removesuffix("0")


def time_cell(moment: datetime | None) -> str:
    return moment.isoformat(timespec="seconds") if moment else ""


def refused_file(choice: CurrencyChoice) -> HttpResponse:
    """Say instead of a file that the currency is none of ours: a wrong column helps nobody."""
    text = gettext("“%(typed)s” is not a currency of this market; choose EUR, USD or GBP.")
    return HttpResponseBadRequest(
        text % {"typed": choice.refused}, content_type="text/plain; charset=utf-8"
    )
