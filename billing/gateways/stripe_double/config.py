"""What one double is started with."""

from dataclasses import dataclass
from pathlib import Path

API_VERSION = "2026-10-28.endive"

DEFAULT_API_KEY = "sk_test_double"
DEFAULT_WEBHOOK_SECRET = "whsec_double"  # noqa: S105 - known to everybody: it protects no money

# Stripe goes on for three days. Ten minutes are enough for a site that is being restarted.
RETRY_DELAYS_SECONDS = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0, 120.0, 360.0)

LIVE_KEY_PREFIXES = ("sk_live_", "rk_live_", "pk_live_")


class LiveKeyRefused(Exception):
    """A live key was offered to the double: a sign of a dangerous mistake in the settings."""


@dataclass(frozen=True, kw_only=True)
class DoubleConfig:
    """Where the double listens, whom it trusts and whom it tells.

    ``port`` 0 takes any free one. ``webhook_url`` None sends no webhooks. ``state_file`` None
    keeps everything in memory.
    """

    host: str = "127.0.0.1"
    port: int = 0
    api_key: str = DEFAULT_API_KEY
    webhook_url: str | None = None
    webhook_secret: str = DEFAULT_WEBHOOK_SECRET
    state_file: Path | None = None
    retry_delays_seconds: tuple[float, ...] = RETRY_DELAYS_SECONDS

    def __post_init__(self) -> None:
        if self.api_key.startswith(LIVE_KEY_PREFIXES):
            raise LiveKeyRefused
