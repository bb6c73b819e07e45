"""Switches that make the double misbehave, thrown through ``/_double/`` or from a test."""

import threading
from dataclasses import dataclass, replace
from enum import StrEnum


class WebhookMode(StrEnum):
    """What happens to the webhooks of one act."""

    NORMAL = "normal"
    DUPLICATE = "duplicate"
    DROP = "drop"
    DELAY = "delay"
    REORDER = "reorder"


class ApiFault(StrEnum):
    """What happens to one API call."""

    # 500 before anything was done; the key replays it, as with Stripe.
    ERROR = "error"
    # 503 at the door: nothing was done, nothing is remembered.
    UNAVAILABLE = "unavailable"
    # The work is done and remembered, the connection closes without an answer.
    LOST_REPLY = "lost_reply"
    # The answer comes, later.
    SLOW = "slow"


@dataclass(frozen=True, kw_only=True)
class WebhookChaos:
    """A mode with its numbers. ``acts_left`` None lasts until the next change."""

    mode: WebhookMode = WebhookMode.NORMAL
    copies: int = 1
    delay_seconds: float = 0.0
    acts_left: int | None = None


@dataclass(frozen=True, kw_only=True)
class ApiChaos:
    """A fault for the next ``calls_left`` calls whose path begins with ``path``."""

    fault: ApiFault
    calls_left: int = 1
    delay_seconds: float = 0.0
    path: str = "/v1/"


class Chaos:
    """The switches of one double. Every read uses up one turn of what it reads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._webhooks = WebhookChaos()
        self._api: ApiChaos | None = None
        self._are_fees_late = False

    @property
    def are_fees_late(self) -> bool:
        """Whether charges come without their balance line until it is asked for."""
        return self._are_fees_late

    def set_fees_late(self, *, is_late: bool) -> None:
        """Hold back, or stop holding back, the balance line of new charges."""
        self._are_fees_late = is_late

    def set_webhooks(self, chaos: WebhookChaos) -> None:
        """Change what happens to webhooks from now on."""
        with self._lock:
            self._webhooks = chaos

    def set_api(self, chaos: ApiChaos | None) -> None:
        """Change what happens to API calls from now on."""
        with self._lock:
            self._api = chaos

    def take_webhooks(self) -> WebhookChaos:
        """Return the mode for one act and count it."""
        with self._lock:
            now, left = self._webhooks, self._webhooks.acts_left
            if left is not None:
                self._webhooks = replace(now, acts_left=left - 1) if left > 1 else WebhookChaos()
            return now

    def take_api(self, path: str) -> ApiChaos | None:
        """Return the fault for one call and count it."""
        with self._lock:
            fault = self._api
            if fault is None or not path.startswith(fault.path):
                return None
            left = fault.calls_left - 1
            self._api = replace(fault, calls_left=left) if left else None
            return fault

    def describe(self) -> dict[str, object]:
        """Return the switches as they stand, for the state page."""
        with self._lock:
            return {
                "webhooks": _plain(self._webhooks),
                "api": _plain(self._api) if self._api else None,
                "fees_late": self._are_fees_late,
            }


def _plain(chaos: WebhookChaos | ApiChaos) -> dict[str, object]:
    return {name: getattr(chaos, name) for name in chaos.__dataclass_fields__}
