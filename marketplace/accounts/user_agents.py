"""What a browser calls itself, in two words: enough to know one's own devices again.

Rough on purpose: browsers pretend to be one another, so the more special name is looked for first.
"""

from dataclasses import dataclass

BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Macintosh", "macOS"),
    ("Linux", "Linux"),
)


@dataclass(frozen=True, slots=True)
class Device:
    """The names of browser and system; empty when unknown."""

    browser: str
    system: str


def device_of(user_agent: str) -> Device:
    """Return the browser and the system that a request names."""
    return Device(_first(BROWSERS, user_agent), _first(SYSTEMS, user_agent))


def _first(names: tuple[tuple[str, str], ...], text: str) -> str:
    return next((name for mark, name in names if mark in text), "")
