"""Who sells, as the settings say; what they do not say is named as missing."""

from decimal import Decimal

from babel import Locale
from babel.numbers import format_percent
from django.conf import settings
from django.utils.translation import gettext as _

from marketplace.accounts.models import Language

HUNDREDTHS_OF_A_PERCENT = 10_000
PERCENT = "#,##0.##%"
PERCENT_FRENCH = "#,##0.##\N{NARROW NO-BREAK SPACE}%"


def missing_identity() -> list[str]:
    """Return in words what the settings do not say about the merchant."""
    asked = (
        (settings.MERCHANT_NAME, _("name")),
        (settings.MERCHANT_ADDRESS, _("address")),
        (settings.MERCHANT_SIREN, _("company number")),
        (settings.MERCHANT_VAT_ID, _("VAT number")),
        (settings.CONTACT_EMAIL, _("e-mail address")),
    )
    return [words for value, words in asked if not value]


def fill_in(text: str, *, language: str) -> str:
    """Return a legal text with the names in double square brackets replaced by what they stand for."""
    for name, value in _facts(language).items():
        text = text.replace(f"[[{name}]]", value or _("(not stated yet)"))
    return text


def _facts(language: str) -> dict[str, str]:
    return {
        "site": settings.SITE_NAME,
        "programme": settings.SELLER_PROGRAMME_NAME,
        "merchant_name": settings.MERCHANT_NAME,
        "merchant_address": settings.MERCHANT_ADDRESS,
        "merchant_country": _country(settings.MERCHANT_COUNTRY, language),
        "merchant_siren": settings.MERCHANT_SIREN,
        "merchant_vat_id": settings.MERCHANT_VAT_ID,
        "contact_email": settings.CONTACT_EMAIL,
        "platform_fee": _share(settings.PLATFORM_FEE_BPS, language),
        "break_fee": _share(settings.BREAK_FEE_BPS, language),
        "fx_margin": _share(settings.FX_MARGIN_BPS, language),
    }


def _country(code: str, language: str) -> str:
    return str(Locale.parse(language).territories.get(code, code))


def _share(bps: int, language: str) -> str:
    """Return hundredths of a percent as pages write them: ``10%``, in French with a narrow space."""
    share = Decimal(bps) / HUNDREDTHS_OF_A_PERCENT
    pattern = PERCENT_FRENCH if language == Language.FRENCH else PERCENT
    return str(format_percent(share, format=pattern, locale=language))
