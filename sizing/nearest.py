"""Names that look like a mistyped one."""

from collections.abc import Iterable
from difflib import get_close_matches

NEAREST_NAMES = 3  # More suggestions are a list to read, not a help.
NEAREST_CUTOFF = 0.5  # Below it difflib offers names that share only a prefix such as "rtx-".


def nearest(name: str, *, known: Iterable[str]) -> tuple[str, ...]:
    """Return the known names that look most like ``name``, best first."""
    names = tuple(known)
    wanted = "-".join(name.lower().split())
    inside = [each for each in names if wanted and wanted in each]
    close = get_close_matches(wanted, names, n=NEAREST_NAMES, cutoff=NEAREST_CUTOFF)
    return tuple(dict.fromkeys([*close, *inside]))[:NEAREST_NAMES]
