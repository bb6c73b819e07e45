"""The market's forms as their pages would send them, and what people type into them instead."""

from datetime import datetime, timedelta
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from marketplace.accounts import clock
from tests.exchange import SSH_KEY
from tests.functional.whole_market import SLUG, address_of

# What no form takes for an amount, whatever it is for.
NO_AMOUNTS = (
    "",
    " ",
    "abc",
    "NaN",
    "Infinity",
    "-Infinity",
    "1e5",
    "0x10",
    "1_000",
    "12.34.56",
    "12,34,56",
    "1,2.3,4",
    "--5",
    "5-",
    "٣",
    "²",
    "½",
    "💶",
    "10 💶",
    "1" + 30 * "0",
    "9" * 5_000,
    "0",
    "0,00",
    "-1",
    "\N{MINUS SIGN}20",
    "1,234",
    "<script>alert(1)</script>",
)
NO_NUMBERS = (
    "",
    "0",
    "-1",
    "1.5",
    "1,5",
    "1e5",
    "NaN",
    "💩",
    "99999999999999999999",
    "9" * 5_000,
    "null",
)


def ticket(**changes: object) -> dict[str, object]:
    return {
        "kind": "limit",
        "gpus": 1,
        "hours": 2,
        "currency": "EUR",
        "limit_price": "0.10",
    } | changes


def review_address(language: str = "en", **changes: object) -> str:
    page = address_of("marketplace:order_review", SLUG, language=language)
    return f"{page}?{urlencode(ticket(**changes))}"


def accepted(**changes: object) -> dict[str, object]:
    """Return the review form of a bid at 0.10, as its page would send it."""
    return {
        "key": "new",
        "accepted_price_micro": 100_000,
        "accepted_start": 1,
        "ssh_key": "new",
        "new_key": SSH_KEY,
        "label": "",
    } | changes


def offer_form(**changes: object) -> dict[str, object]:
    start = next_hour() + timedelta(hours=1)
    return {
        "key": "new",
        "ask_price": "0.50",
        "currency": "EUR",
        "starts_at": typed(start),
        "ends_at": typed(start + timedelta(days=1)),
        "min_gpus": 1,
        "gpu_step": 1,
        "min_hours": 1,
    } | changes


def next_hour() -> datetime:
    """Return the next full hour as the people of these tests see it: they live in Paris."""
    here = clock.now().astimezone(ZoneInfo("Europe/Paris"))
    return here.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)


def typed(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M}"


def errors_of(answer) -> dict[str, list[str]]:
    """Return the words of a refused form by field; empty when nothing was refused."""
    form = answer.context["form"] if answer.context else None
    return dict(form.errors) if form is not None and form.is_bound else {}
