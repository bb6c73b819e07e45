"""Countries by name, for a list to choose from. Names come from Babel (CLDR)."""

import unicodedata
from functools import cache

from babel import Locale

# Codes of CLDR that are no country of ISO 3166-1: groups, test codes, islands without a code.
_NO_COUNTRY = frozenset(
    {"AC", "CP", "CQ", "DG", "EA", "EU", "EZ", "IC", "QO", "TA", "UN", "XA", "XB", "XK", "ZZ"}
)
_CODE_LENGTH = 2


@cache
def country_choices(language: str) -> tuple[tuple[str, str], ...]:
    """Return codes and names in the reader's language, sorted as its readers sort."""
    names = Locale.parse("fr" if language.startswith("fr") else "en").territories
    choices = [(code, name) for code, name in names.items() if _is_country(code)]
    return tuple(sorted(choices, key=lambda choice: _sort_key(choice[1])))


def country_name(code: str, *, language: str) -> str:
    """Return a country's name; an unknown code stays as it is."""
    return dict(country_choices(language)).get(code, code)


def _is_country(code: str) -> bool:
    return len(code) == _CODE_LENGTH and code.isalpha() and code not in _NO_COUNTRY


def _sort_key(name: str) -> str:
    letters = unicodedata.normalize("NFKD", name)
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).casefold()
