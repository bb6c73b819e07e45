"""Idempotency keys as Stripe keeps them.

The first answer that an endpoint gave is replayed for 24 hours, failures included. Requests that
failed validation, and requests refused because their key was busy, leave no trace. The same key
with other parameters is an error, so is a key whose first request is still running.
"""

import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Any

from billing.gateways.stripe_double.errors import ApiError
from billing.gateways.stripe_double.store import IDEMPOTENCY_KEYS, Store

KEY_CHARACTERS_AT_MOST = 255
KEPT_SECONDS = 24 * 3600


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An answer of the API, before it becomes bytes."""

    status: int
    body: dict[str, Any]
    is_recorded: bool = True
    is_replayed: bool = False


@dataclass(frozen=True, kw_only=True)
class Ask:
    """A request with its key, reduced to what makes it the same request."""

    key: str
    method: str
    path: str
    params: dict[str, Any]
    now: int

    @property
    def fingerprint(self) -> str:
        """Return a digest of the parameters, whatever their order."""
        return hashlib.sha256(json.dumps(self.params, sort_keys=True).encode()).hexdigest()


class IdempotencyKeys:
    """The keys of one double, safe to use from many threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._running: set[str] = set()

    def answer(self, *, ask: Ask, act: Callable[[], Answer]) -> Answer:
        """Return the first answer again, or run ``act`` and remember what it says."""
        if len(ask.key) > KEY_CHARACTERS_AT_MOST:
            message = f"Idempotency keys can be at most {KEY_CHARACTERS_AT_MOST} characters long."
            raise ApiError(message, is_recorded=False)
        with self._lock:
            seen = self._seen(ask)
            if seen is not None:
                return seen
            self._running.add(ask.key)
        try:
            return self._remembered(ask=ask, answer=act())
        finally:
            with self._lock:
                self._running.discard(ask.key)

    def _seen(self, ask: Ask) -> Answer | None:
        if ask.key in self._running:
            raise _key_in_use(ask.key)
        record = self._store.find(IDEMPOTENCY_KEYS, ask.key)
        if record is None or record["created"] + KEPT_SECONDS <= ask.now:
            return None
        if (record["method"], record["path"]) != (ask.method, ask.path):
            raise _used_elsewhere(record=record, ask=ask)
        if record["fingerprint"] != ask.fingerprint:
            raise _used_otherwise(ask.key)
        return Answer(status=record["status"], body=record["body"], is_replayed=True)

    def _remembered(self, *, ask: Ask, answer: Answer) -> Answer:
        if answer.is_recorded:
            record = {
                **asdict(ask),
                "id": ask.key,
                "created": ask.now,
                "fingerprint": ask.fingerprint,
                "status": answer.status,
                "body": answer.body,
            }
            with self._store.changing():
                self._store.save(IDEMPOTENCY_KEYS, record)
        return answer


def _key_in_use(key: str) -> ApiError:
    return ApiError(
        "There is currently another in-progress request using this Stripe account with that "
        f"idempotency key: {key}. Please try again later.",
        status=HTTPStatus.CONFLICT,
        kind="idempotency_error",
        code="idempotency_key_in_use",
        is_recorded=False,
    )


def _used_otherwise(key: str) -> ApiError:
    return ApiError(
        "Keys for idempotent requests can only be used with the same parameters they were first "
        f"used with. Try using a key other than '{key}' if you meant to execute a different "
        "request.",
        kind="idempotency_error",
        is_recorded=False,
    )


def _used_elsewhere(*, record: dict[str, Any], ask: Ask) -> ApiError:
    return ApiError(
        "Keys for idempotent requests can only be used for the same endpoint they were first used "
        f"for ('{ask.path}' vs '{record['path']}'). Try using a key other than '{ask.key}' if you "
        "meant to execute a different request.",
        kind="idempotency_error",
        is_recorded=False,
    )
