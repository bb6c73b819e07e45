"""A wallet's statement, on the page and as a file."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from decimal import Decimal
from typing import cast

from django.core.paginator import Paginator
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from billing.models import HoldMove, Journal
from billing.money import MINOR_PER_UNIT, Currency
from billing.queries import Statement, StatementLine, open_holds_of, wallet_of, wallets_of
from billing.views.wallets import takes_money
from marketplace.accounts.http import SignedInRequest, client_now, paying

# Some two screens of lines.
LINES_PER_PAGE = 50
CSV_COLUMNS = (
    "number",
    "occurred_at",
    "operation",
    "reference",
    "currency",
    "movement",
    "held_change",
    "balance",
    "held",
    "available",
)
HOLD_LABELS = {
    HoldMove.Kind.PLACED: _("Held for an order"),
    HoldMove.Kind.REPRICED: _("Surplus freed at the match"),
    HoldMove.Kind.RELEASED: _("Freed"),
}
NUMBERED_LABELS = {
    Journal.Kind.HOUR_CHARGE: _("Hour %(number)s"),
    Journal.Kind.HOUR_CREDIT: _("Undelivered time, hour %(number)s"),
}


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line with its words and the thing that it is about."""

    line: StatementLine
    label: str
    source: str
    source_id: int


@require_safe
@paying
def statement(request: SignedInRequest, currency: Currency) -> HttpResponse:
    organisation_id = request.organisation.pk
    lines = Statement(organisation_id=organisation_id, currency=currency)
    # The paginator asks for the length and for slices: that much of a sequence it is.
    paginator = Paginator(cast("Sequence[StatementLine]", lines), LINES_PER_PAGE)
    page = paginator.get_page(request.GET.get("page"))
    return render(
        request,
        "billing/statement.html",
        {
            "currency": currency.value,
            "wallet": wallet_of(organisation_id=organisation_id, currency=currency),
            "wallets": wallets_of(organisation_id=organisation_id),
            "holds": open_holds_of(organisation_id=organisation_id, currency=currency),
            "page": page,
            "lines": [shown(line) for line in page.object_list],
            "is_open": takes_money(),
        },
    )


@require_safe
@paying
def statement_csv(request: SignedInRequest, currency: Currency) -> StreamingHttpResponse:
    """Return all lines, oldest last: dots for decimals, times with their offset."""
    lines = Statement(organisation_id=request.organisation.pk, currency=currency)
    day = timezone.localtime(client_now()).date().isoformat()
    return StreamingHttpResponse(
        # The zone is the reader's now; the rows are written when the request is over.
        _csv_rows(lines, currency=currency, zone=timezone.get_current_timezone()),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="statement-{currency}-{day}.csv"'},
    )


def shown(line: StatementLine) -> ShownLine:
    source, source_id = _source(line)
    return ShownLine(line, _label(line), source, source_id)


def _label(line: StatementLine) -> str:
    if line.source_type == "hold":
        return str(HOLD_LABELS[HoldMove.Kind(line.kind)])
    kind = Journal.Kind(line.kind)
    numbered = NUMBERED_LABELS.get(kind)
    if numbered is not None:
        return str(numbered) % {"number": line.key.rpartition(":")[2]}
    return str(kind.label)


def _source(line: StatementLine) -> tuple[str, int]:
    """Return what a line is about, as a word and a number: the hold of a bid is about the bid."""
    if line.source_type != "hold":
        return line.source_type, line.source_id
    kind, _separator, number = line.key.partition(":")
    return (kind, int(number)) if number.isdigit() else ("hold", line.source_id)


class _Echo:
    """A file that gives each line back instead of keeping it."""

    def write(self, line: str) -> str:
        return line


def _csv_rows(lines: Statement, *, currency: str, zone: tzinfo) -> Iterator[str]:
    writer = csv.writer(_Echo())
    yield writer.writerow(CSV_COLUMNS)
    for line in lines.lines():
        yield writer.writerow(_csv_row(line, currency=currency, zone=zone))


def _csv_row(line: StatementLine, *, currency: str, zone: tzinfo) -> list[str]:
    source, source_id = _source(line)
    amounts = (
        line.moved_minor,
        line.held_move_minor,
        line.balance_minor,
        line.held_minor,
        line.free_minor,
    )
    return [
        str(line.number),
        line.occurred_at.astimezone(zone).isoformat(timespec="seconds"),
        line.kind,
        f"{source}:{source_id}",
        str(currency),
        *(_units(amount_minor) for amount_minor in amounts),
    ]


def _units(amount_minor: int) -> str:
    return f"{Decimal(amount_minor) / MINOR_PER_UNIT:.2f}"
