"""The parts of one double, and the frame in which an act on them runs."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from billing.gateways.stripe_double.chaos import Chaos
from billing.gateways.stripe_double.config import DoubleConfig
from billing.gateways.stripe_double.idempotency import IdempotencyKeys
from billing.gateways.stripe_double.payments import Act, expire_due
from billing.gateways.stripe_double.store import Document, Store
from billing.gateways.stripe_double.webhooks import WebhookSender


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Everything a request may need."""

    config: DoubleConfig
    store: Store
    chaos: Chaos
    keys: IdempotencyKeys
    sender: WebhookSender

    @contextmanager
    def acting(self, *, request: Document | None = None) -> Iterator[Act]:
        """Hold the lock for one act, with lapsed sessions expired first; then send its events.

        Nothing else watches the clock: a session expires when anybody looks.
        """
        events: list[Document] = []
        try:
            with self.store.changing() as events:
                act = Act(
                    store=self.store,
                    now=int(time.time()),
                    has_webhook=self.sender.url is not None,
                    are_fees_late=self.chaos.are_fees_late,
                    request=request,
                )
                expire_due(act=act)
                yield act
        finally:
            self.sender.send_act(events)


def build_parts(config: DoubleConfig) -> Parts:
    """Put the parts of one double together."""
    store = Store(state_file=config.state_file)
    chaos = Chaos()
    return Parts(
        config=config,
        store=store,
        chaos=chaos,
        keys=IdempotencyKeys(store),
        sender=WebhookSender(config=config, store=store, chaos=chaos),
    )
