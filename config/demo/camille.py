"""The orders of the customer whose login the demo gives away: something of everything."""

from collections.abc import Iterator
from dataclasses import replace

from billing.money import MICRO_PER_MINOR, Currency
from config.demo.acts import DAY, HOUR, Fate, Order, early_in
from config.demo.cast import CAMILLE, FEATURED

CARDS = {card.slug: card for card in FEATURED}


def camilles_story() -> Iterator[Order]:
    """Yield three weeks of orders, among them one of each thing that may go wrong."""
    yield _bought(days=18, slug="rtx-4090", currency=Currency.EUR, hours=4, label="premiers essais")
    yield _bought(days=15, slug="l40s", currency=Currency.USD, hours=6)
    pair = _bought(days=12, slug="h100-sxm", currency=Currency.EUR, hours=5, label="LoRA 70B")
    yield replace(pair, gpus=2)
    forgotten = _bought(days=9, slug="rtx-pro-6000-blackwell", currency=Currency.EUR, hours=3)
    yield replace(forgotten, fate=Fate.NEVER_DELIVERED)
    long = _bought(days=6, slug="a100-sxm-80", currency=Currency.GBP, hours=8)
    yield replace(long, fate=Fate.STOPPED, label="classification")
    late = _bought(days=4, slug="rtx-5090", currency=Currency.EUR, hours=3)
    yield replace(late, fate=Fate.LATE)
    yield _bought(days=2, slug="h200-sxm", currency=Currency.USD, hours=4, label="évaluation")
    yield from _open_orders()


def _open_orders() -> Iterator[Order]:
    """Yield what runs, what begins tomorrow and what waits at the end of the history."""
    running = _bought(days=0, slug="rtx-4090", currency=Currency.EUR, hours=12, label="QLoRA 13B")
    yield replace(running, minute=early_in(5))
    running = _bought(days=0, slug="h100-sxm", currency=Currency.USD, hours=10, label="LoRA 30B")
    yield replace(running, minute=early_in(3))
    tomorrow = _bought(days=0, slug="l40s", currency=Currency.USD, hours=6, label="nuit de demain")
    yield replace(
        tomorrow,
        minute=early_in(2),
        limit_micro=CARDS["l40s"].ask_micro(Currency.USD) + 10 * MICRO_PER_MINOR,
        starts_in=22 * HOUR,
        waits=26 * HOUR,
    )
    waiting = _bought(days=0, slug="rtx-pro-6000-blackwell", currency=Currency.EUR, hours=24)
    cents = waiting.card.ask_micro(Currency.EUR) // MICRO_PER_MINOR * 9 // 10
    yield replace(
        waiting,
        minute=early_in(1),
        limit_micro=cents * MICRO_PER_MINOR,
        waits=5 * DAY,
        label="si le prix baisse",
    )


def _bought(*, days: int, slug: str, currency: Currency, hours: int, label: str = "") -> Order:
    return Order(
        minute=early_in(days * 24),
        customer=CAMILLE,
        card=CARDS[slug],
        currency=currency,
        gpus=1,
        hours=hours,
        label=label,
    )
