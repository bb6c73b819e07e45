"""Addresses of wallets. Every part that people read is translated."""

from django.urls import URLPattern, URLResolver, path, register_converter
from django.utils.translation import gettext_lazy as _

from billing.money import Currency
from billing.views import profile, statement, top_ups, wallets


class CurrencyConverter:
    """A currency of ours, upper-case; any other is an address that does not exist."""

    regex = "|".join(currency.value for currency in Currency)

    def to_python(self, value: str) -> Currency:
        return Currency(value)

    def to_url(self, value: str) -> str:
        return str(Currency(value).value)


register_converter(CurrencyConverter, "wallet_currency")

app_name = "billing"
urlpatterns: list[URLPattern | URLResolver] = [
    path(_("wallets/"), wallets.wallets, name="wallets"),
    path(_("wallets/<wallet_currency:currency>/"), statement.statement, name="statement"),
    path(
        _("wallets/<wallet_currency:currency>/statement.csv"),
        statement.statement_csv,
        name="statement_csv",
    ),
    path(_("top-up/"), top_ups.choose_wallet, name="top_up"),
    path(_("top-up/<wallet_currency:currency>/"), top_ups.top_up, name="top_up"),
    path(_("top-up/<int:pk>/"), top_ups.top_up_status, name="top_up_status"),
    path(_("billing-profile/"), profile.profile, name="profile"),
]
