"""Signed webhooks: at least once, with retries, in the order and number that chaos wants.

The events of one act travel together, one after the other. A failed one is tried again alone
after a growing delay, with a fresh signature, until its endpoint answers 2xx or patience ends.
"""

import hashlib
import heapq
import hmac
import http.client
import itertools
import json
import logging
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlsplit

from billing.gateways.stripe_double.chaos import Chaos, WebhookChaos, WebhookMode
from billing.gateways.stripe_double.config import DoubleConfig
from billing.gateways.stripe_double.store import Document, Store

logger = logging.getLogger(__name__)

# Stripe waits about this long for an answer before it counts the try as failed.
ANSWER_SECONDS = 20.0
# Enough for a test that sends one event ten times at once.
SENDERS = 12
# What the state page remembers.
DELIVERIES_KEPT = 500

UNREACHABLE = 0


@dataclass(frozen=True, kw_only=True)
class SignedWebhook:
    """The bytes and the header of one delivery."""

    body: bytes
    signature: str


@dataclass(frozen=True, kw_only=True)
class Parcel:
    """Events that travel together, and which try this is (the first is 0)."""

    events: tuple[Document, ...]
    attempt: int = 0


def sign(*, event: Document, secret: str, now: int) -> SignedWebhook:
    """Return an event as Stripe sends it: ``t=`` seconds, ``v1=`` HMAC-SHA256 of ``t.body``."""
    body = json.dumps(event, indent=2, ensure_ascii=False)
    digest = hmac.new(secret.encode(), f"{now}.{body}".encode(), hashlib.sha256).hexdigest()
    return SignedWebhook(body=body.encode(), signature=f"t={now},v1={digest}")


class WebhookSender:
    """Sends parcels when they are due. One thread keeps the time, a few do the sending."""

    def __init__(self, *, config: DoubleConfig, store: Store, chaos: Chaos) -> None:
        self.url = config.webhook_url
        self._secret = config.webhook_secret
        self._delays = config.retry_delays_seconds
        self._store = store
        self._chaos = chaos
        self._ready = threading.Condition()
        self._due: list[tuple[float, int, Parcel]] = []
        self._number = itertools.count()
        self._busy = 0
        self._is_stopping = False
        self._pool = ThreadPoolExecutor(max_workers=SENDERS, thread_name_prefix="webhook")
        self._clerk = threading.Thread(target=self._keep_time, name="webhooks", daemon=True)
        self.deliveries: deque[Document] = deque(maxlen=DELIVERIES_KEPT)

    def start(self) -> None:
        """Begin to send; what an earlier run left unsent goes first."""
        self._clerk.start()
        with self._store.changing():
            unsent = [e for e in self._store.newest_first("events") if e["pending_webhooks"]]
        if self.url and unsent:
            self._post(Parcel(events=tuple(reversed(unsent))), delay_seconds=0.0)

    def stop(self) -> None:
        """Send nothing more. Tries that are under way end by themselves."""
        with self._ready:
            self._is_stopping = True
            self._ready.notify_all()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def forget(self) -> None:
        """Drop what waits and what was sent."""
        with self._ready:
            self._due.clear()
            self.deliveries.clear()
            self._ready.notify_all()

    def send_act(self, events: list[Document]) -> None:
        """Send the events of one act, as the chaos switch says."""
        if not events or not self.url:
            return
        chaos = self._chaos.take_webhooks()
        if chaos.mode is WebhookMode.DROP:
            self._drop(events)
            return
        ordered = reversed(events) if chaos.mode is WebhookMode.REORDER else events
        parcel = Parcel(events=tuple(ordered))
        for _copy in range(_copies(chaos)):
            self._post(parcel, delay_seconds=chaos.delay_seconds)

    def resend(self, *, event: Document, copies: int) -> list[int]:
        """Send one event now, ``copies`` times at once; return the statuses (0: unreachable)."""
        tries = [self._pool.submit(self._deliver, event, 0) for _copy in range(copies)]
        return [attempt.result() for attempt in tries]

    def wait_until_idle(self, timeout_seconds: float) -> bool:
        """Wait until nothing is waiting or under way; say whether that was reached."""
        with self._ready:
            return self._ready.wait_for(
                lambda: not self._due and self._busy == 0, timeout=timeout_seconds
            )

    def _post(self, parcel: Parcel, *, delay_seconds: float) -> None:
        with self._ready:
            if self._is_stopping:
                return
            due = time.monotonic() + delay_seconds
            heapq.heappush(self._due, (due, next(self._number), parcel))
            self._ready.notify_all()

    def _keep_time(self) -> None:
        while True:
            with self._ready:
                if self._is_stopping:
                    return
                wait_seconds = self._due[0][0] - time.monotonic() if self._due else None
                if wait_seconds is None or wait_seconds > 0:
                    self._ready.wait(timeout=wait_seconds)
                    continue
                parcel = heapq.heappop(self._due)[2]
                self._busy += 1
            self._hand_over(parcel)

    def _hand_over(self, parcel: Parcel) -> None:
        try:
            self._pool.submit(self._carry, parcel)
        except RuntimeError:
            # The pool was closed between the two lines: nothing more is sent.
            self._finished()

    def _carry(self, parcel: Parcel) -> None:
        try:
            for event in parcel.events:
                status = self._deliver(event, parcel.attempt)
                if not _is_accepted(status):
                    self._try_again(event, attempt=parcel.attempt + 1)
        finally:
            self._finished()

    def _finished(self) -> None:
        with self._ready:
            self._busy -= 1
            self._ready.notify_all()

    def _try_again(self, event: Document, *, attempt: int) -> None:
        if attempt > len(self._delays):
            logger.warning("webhook given up: %s", event["id"])
            return
        self._post(
            Parcel(events=(event,), attempt=attempt), delay_seconds=self._delays[attempt - 1]
        )

    def _deliver(self, event: Document, attempt: int) -> int:
        signed = sign(event=event, secret=self._secret, now=int(time.time()))
        status = _post_webhook(url=self.url or "", signed=signed)
        self._note(event, attempt=attempt, status=status)
        if _is_accepted(status):
            with self._store.changing():
                event["pending_webhooks"] = 0
                self._store.save("events", event)
        return status

    def _drop(self, events: list[Document]) -> None:
        with self._store.changing():
            for event in events:
                event["pending_webhooks"] = 0
                self._store.save("events", event)
                self._note(event, attempt=0, status=None)

    def _note(self, event: Document, *, attempt: int, status: int | None) -> None:
        outcome = {"event": event["id"], "type": event["type"], "attempt": attempt}
        self.deliveries.append({**outcome, "status": status, "dropped": status is None})


def _copies(chaos: WebhookChaos) -> int:
    return chaos.copies if chaos.mode is WebhookMode.DUPLICATE else 1


def _is_accepted(status: int) -> bool:
    return HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES


def _post_webhook(*, url: str, signed: SignedWebhook) -> int:
    """Post one delivery. A redirect is a failure, as with Stripe."""
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=ANSWER_SECONDS)
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    headers = {
        "Content-Type": "application/json; charset=utf-8",
        "Stripe-Signature": signed.signature,
        "User-Agent": "Stripe/1.0 (double)",
    }
    try:
        connection.request("POST", path or "/", body=signed.body, headers=headers)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return UNREACHABLE
    finally:
        connection.close()
