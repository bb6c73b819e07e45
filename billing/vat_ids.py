"""The written form of VAT numbers. Pure: standard library only.

Only the form is looked at here; whether a number is in use is another question, asked of the
authorities. Forms: European Commission, VIES, "VAT identification numbers: structure"; for GB,
HMRC's manual VATREG.
"""

import re

# Greece writes EL before its numbers.
PREFIXES = {"GR": "EL", "IM": "GB", "MC": "FR"}

_FORMS = {
    "AT": r"U\d{8}",
    "BE": r"[01]\d{9}",
    "BG": r"\d{9,10}",
    "CY": r"\d{8}[A-Z]",
    "CZ": r"\d{8,10}",
    "DE": r"\d{9}",
    "DK": r"\d{8}",
    "EE": r"\d{9}",
    "EL": r"\d{9}",
    "ES": r"[A-Z0-9]\d{7}[A-Z0-9]",
    "FI": r"\d{8}",
    "FR": r"[A-HJ-NP-Z0-9]{2}\d{9}",
    "GB": r"(\d{9}|\d{12}|(GD|HA)\d{3})",
    "HR": r"\d{11}",
    "HU": r"\d{8}",
    "IE": r"(\d{7}[A-W][A-I]?|\d[A-Z+*]\d{5}[A-W])",
    "IT": r"\d{11}",
    "LT": r"(\d{9}|\d{12})",
    "LU": r"\d{8}",
    "LV": r"\d{11}",
    "MT": r"\d{8}",
    "NL": r"[A-Z0-9+*]{10}\d{2}",
    "PL": r"\d{10}",
    "PT": r"\d{9}",
    "RO": r"\d{2,10}",
    "SE": r"\d{10}01",
    "SI": r"\d{8}",
    "SK": r"\d{10}",
}
_FILLERS = str.maketrans("", "", " .-\u00a0\u202f\t")


class VatIdMalformed(ValueError):
    """A VAT number that no authority of the country could have issued."""


def normalise_vat_id(text: str, *, country: str) -> str:
    """Return a number without spaces, with its country's prefix.

    Raises
    ------
    VatIdMalformed
        Another country's prefix, or not the country's form. A country without forms has no number.
    """
    prefix = PREFIXES.get(country, country)
    typed = text.translate(_FILLERS).upper()
    if prefix not in _FORMS or _is_whole_number_of_another(typed, prefix=prefix):
        raise VatIdMalformed(text)
    number = typed.removeprefix(prefix)
    if not _has_form(number, prefix=prefix):
        raise VatIdMalformed(text)
    return prefix + number


def _is_whole_number_of_another(typed: str, *, prefix: str) -> bool:
    """Tell whether a number names another country: DE123456789 must not become French."""
    other = typed[:2]
    return other != prefix and other in _FORMS and _has_form(typed[2:], prefix=other)


def _has_form(number: str, *, prefix: str) -> bool:
    return re.fullmatch(_FORMS[prefix], number, flags=re.ASCII) is not None
