"""Known prices at a known time."""

from collections.abc import Callable
from datetime import UTC, datetime

AS_OF = datetime(2026, 11, 30, 13, 5, 12, tzinfo=UTC)

# The best dollar offers that the demo's history ends with, in thousandths.
BEST_USD_MILLI = {
    "rtx-4090": 330,
    "rtx-5090": 690,
    "rtx-a6000": 330,
    "l40s": 790,
    "rtx-6000-ada": 740,
    "a100-sxm-80": 1790,
    "h100-sxm": 2880,
    "rtx-pro-6000-blackwell": 1690,
    "h200-sxm": 4190,
}

Publish = Callable[..., None]
