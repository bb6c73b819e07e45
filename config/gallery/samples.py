"""Every component of ``templates/components/`` with inputs for each of its states."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace

from django.core.paginator import Paginator
from django.http import HttpRequest
from django.utils.translation import gettext as _

from config.gallery.form import sample_form
from config.gallery.pictures import PICTURES
from config.templatetags import formats


@dataclass(frozen=True, slots=True)
class Sample:
    """One state: the component, what sets the state apart (as a template would say it), its inputs."""

    component: str
    state: str
    inputs: Mapping[str, object] = field(default_factory=dict)

    @property
    def template(self) -> str:
        return f"components/{self.component}.html"


# What stands around every page, and what another component is made of.
PARTS_OF_OTHERS = frozenset(
    {
        "account_links",
        "foot_link",
        "footer",
        "header",
        "htmx",
        "language_link",
        "logo",
        "price_chart_head",
        "section_link",
        "section_menu",
        "site_links",
    }
)


def all_samples(*, request: HttpRequest, now: datetime) -> list[Sample]:
    """Return the samples, those of one component together."""
    return [
        *_values(now=now),
        *_notices(now=now),
        *_forms(),
        *_lists(request=request),
        *_steps(),
        *(Sample(*picture()) for picture in PICTURES),
    ]


def _values(*, now: datetime) -> Iterator[Sample]:
    price = {"micro": 330_000, "currency": "USD"}
    yield Sample("price", "micro=330000", price)
    yield Sample("price", "from_ with_unit", price | {"from_": True, "with_unit": True})
    aged = {"with_tax": True, "as_of": now - timedelta(minutes=3), "now": now}
    yield Sample("price", "with_unit with_tax as_of now", price | {"with_unit": True} | aged)
    yield Sample("price", "micro=None", price | {"micro": None})
    yield Sample("price_figure", "micro=2880000", {"micro": 2_880_000, "currency": "EUR"})
    yield Sample("price_figure", "micro=None", {"micro": None, "currency": "EUR"})
    for minor, signed in ((123_450, False), (123_450, True), (-500, True), (None, False)):
        inputs = {"minor": minor, "currency": "GBP", "signed": signed}
        yield Sample("amount", f"minor={minor}{' signed' if signed else ''}", inputs)
    yield Sample("rate", "value='82.6'", {"value": "82.6"})
    yield Sample("rate", "value=None", {"value": None})
    share = {"width": "40%", "label": formats.number(1_008)}
    yield Sample("share_bar", "value=1008 largest=2520", share)
    for change in (Decimal("0.021"), Decimal("-0.029"), Decimal(0), None):
        yield Sample("change", f"share={change}", {"share": change})
    for kind in ("", "ok", "warn", "bad", "info"):
        yield Sample("badge", f"kind='{kind}'", {"label": _("Running"), "kind": kind})
    for kind, label in (("ok", _("Running")), ("tight", _("Waiting")), ("no", _("Failed"))):
        yield Sample("status", f"kind='{kind}'", {"label": label, "kind": kind})
    yield Sample("status", "kind=''", {"label": _("Sold"), "kind": ""})
    figure = formats.unit_price(2_880_000, "USD")
    note = formats.age(now - timedelta(minutes=3), now)
    yield Sample("kpi", "note", {"label": _("Price per hour"), "value": figure, "note": note})
    yield Sample("kpi", "", {"label": _("Hours"), "value": formats.number(1_284)})


def _notices(*, now: datetime) -> Iterator[Sample]:
    title, text = _("Sample title"), _("One sentence says what the reader should know.")
    for kind in ("", "info", "ok", "bad"):
        inputs = {"kind": kind, "title": title, "text": text}
        yield Sample("alert", f"kind='{kind}'", inputs)
    link = {"url": "#alert", "action": _("Dashboard")}
    yield Sample("alert", "url action", {"title": title, "text": text} | link)
    yield Sample("empty", "title", {"title": title})
    yield Sample("empty", "text url action", {"title": title, "text": text} | link)
    for state in ("prelaunch", "reopening", "halted"):
        yield Sample("market_state", f"state='{state}'", {"market": _market(state)})
    yield Sample("market_state", "state='halted' reason", {"market": _market("halted", text)})
    yield Sample("market_state", "state='open'", {"market": _market("open")})
    moments = {"as_of": now - timedelta(seconds=40), "now": now}
    yield Sample("price_age", "as_of", moments | {"is_stale": False})
    yield Sample("price_age", "is_stale", moments | {"is_stale": True})
    yield Sample("price_age", "as_of=None", {"as_of": None, "now": now})
    yield Sample("market_age", "as_of is_stale", moments | {"is_stale": True, "currency": "USD"})
    yield Sample("market_age", "as_of=None", {"as_of": None, "currency": "USD"})
    yield Sample("stale", "is-stale")
    yield Sample("ways_out", "")
    ignored = [SimpleNamespace(label=_("Memory"), typed="x", reason="")]
    yield Sample("left_out", "ignored", {"ignored": ignored})
    refused = SimpleNamespace(refused="CHF", currency="EUR")
    yield Sample("currency_refused", "choice.refused='CHF'", {"choice": refused})
    levels = ("success", "info", "warning", "error")
    messages = [_Message(text, level) for level in levels]
    yield Sample("messages", "success info warning error", {"messages": messages})


def _forms() -> Iterator[Sample]:
    fresh = sample_form(prefix="fresh")
    refused = sample_form(prefix="refused", typed={"amount": "1,234", "hours": "0"})
    for name in ("hours", "kind", "agreed", "note"):
        yield Sample("field", f"field={name}", {"field": fresh[name]})
    yield Sample("field", "field=hours unit errors", {"field": refused["hours"], "unit": "h"})
    yield Sample("field", "field=agreed errors", {"field": refused["agreed"]})
    yield Sample("field", "field=kind errors", {"field": refused["kind"]})
    yield Sample("money_field", "", {"field": fresh["amount"], "currency": "EUR"})
    yield Sample("money_field", "errors", {"field": refused["amount"], "currency": "EUR"})
    yield Sample("form_errors", "form.errors", {"form": refused})
    filters = sample_form(prefix="filters")
    yield Sample("filter_form", "active=2", {"form": filters, "clear_url": "#filters", "active": 2})


def _lists(*, request: HttpRequest) -> Iterator[Sample]:
    yield Sample("scroll_table", "", {"label": _("Table: sample"), "content": ""})
    for current in ("price", "-price", "name"):
        head = {"label": _("Price per hour"), "key": "price", "numeric": True}
        yield Sample("sort_header", f"current='{current}'", head | _list(current, request))
    yield Sample("csv_link", "url", {"url": "#csv", "request": request})
    pages = Paginator(range(50), 10)
    yield Sample("pagination", "page=2", {"page": pages.page(2), "request": request})
    crumbs = {"url": "#1", "label": _("Home"), "url2": "#2", "label2": _("Orders")}
    yield Sample("breadcrumb", "url2 label2", crumbs | {"current": _("Rental")})
    tabs = [(_("Orders"), "#orders", "page"), (_("Wallets"), "#wallets", "")]
    yield Sample("tabs", "current='page'", {"tabs": tabs, "label": _("Account")})
    yield Sample("currency_switch", "current='EUR'", {"current": "EUR", "request": request})


def _list(current: str, request: HttpRequest) -> dict[str, object]:
    return {"current": current, "request": request}


def _steps() -> Iterator[Sample]:
    for value in (0, 3, 12):
        label = _("%(done)s of %(all)s hours") % {"done": value, "all": 12}
        yield Sample("progress", f"value={value} largest=12", _progress(value, label))
    dialog = {"id": "sample-dialog", "title": _("Sample title"), "opener": _("Open a sample")}
    content = _("One sentence says what the reader should know.")
    yield Sample("dialog", "", dialog | {"content": content})


def _progress(value: int, label: str) -> dict[str, object]:
    return {"value": value, "largest": 12, "label": label}


def _market(state: str, reason: str = "") -> dict[str, str]:
    return {"state": state, "reason": reason}


@dataclass(frozen=True, slots=True)
class _Message:
    """What the component reads of a message of Django's."""

    text: str
    level_tag: str

    def __str__(self) -> str:
        return self.text
