"""The pages that are looked at in every language, theme and width."""

from dataclasses import dataclass, field

from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import override

from config.demo.cast import CAMILLE, COMPANIES


@dataclass(frozen=True, slots=True)
class Shown:
    """One page: its name in the address table, and what the address needs.

    ``title`` names its pictures. ``status`` is what the server answers.
    """

    title: str
    route: str
    arguments: dict[str, object] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    status: int = 200

    def path(self, *, language: str) -> str:
        with override(language):
            address = reverse(self.route, kwargs=self.arguments)
        query = QueryDict(mutable=True)
        query.update(self.query)
        return f"{address}?{query.urlencode()}" if self.query else address


DOLLARS = {"currency": "USD"}
CARD = {"slug": "rtx-4090"}
TWO_HOURS = {"kind": "buy_now", "gpus": "1", "hours": "2", "currency": "USD"}

PUBLIC = (
    Shown("home", "catalog:home"),
    Shown("use-case", "catalog:use_case", query=DOLLARS),
    Shown("gpus", "catalog:gpu_list", query=DOLLARS),
    Shown("gpu", "catalog:gpu", CARD, DOLLARS),
    Shown("gpu-without-offer", "catalog:gpu", {"slug": "b200-sxm"}, DOLLARS),
    Shown("order-new", "marketplace:order_new", CARD, DOLLARS | {"kind": "limit"}),
    Shown("sign-up", "account_signup"),
    Shown("sign-in", "account_login"),
    Shown("password-forgotten", "account_reset_password"),
    Shown("outbox", "accounts:outbox"),
)
CUSTOMERS = (
    Shown("dashboard", "marketplace:dashboard"),
    Shown("order-review", "marketplace:order_review", CARD, TWO_HOURS),
    Shown(
        "order-review-short",
        "marketplace:order_review",
        CARD,
        TWO_HOURS | {"hours": "168", "gpus": "4"},
    ),
    Shown(
        "order-refused",
        "marketplace:order_review",
        CARD,
        {"kind": "limit", "gpus": "0", "hours": "999"},
    ),
    Shown("orders", "marketplace:orders"),
    Shown("order-filled", "marketplace:order", {"pk": 1}),
    Shown("order-waiting", "marketplace:order", {"pk": 2}),
    Shown("rentals", "marketplace:rentals"),
    Shown("rental", "marketplace:rental", {"pk": 1}),
    Shown("wallets", "billing:wallets"),
    Shown("statement", "billing:statement", DOLLARS),
    Shown("top-up", "billing:top_up", DOLLARS),
    Shown("billing-profile", "billing:profile"),
    Shown("settings", "accounts:profile"),
    Shown("ssh-keys", "accounts:keys"),
    Shown("organisations", "accounts:organisations"),
    Shown("second-factor", "mfa_index"),
)
SELLERS = (
    Shown("seller", "marketplace:seller_home"),
    Shown("servers", "marketplace:servers"),
    Shown("server", "marketplace:server", {"pk": 1}),
    Shown("server-add", "marketplace:server_add"),
    Shown("offer-add", "marketplace:offer_add", {"pk": 1}),
    Shown("offers", "marketplace:offers"),
    Shown("sales", "marketplace:sales"),
    Shown("sale", "marketplace:sale", {"pk": 1}),
)
CUSTOMER_EMAIL = CAMILLE.email
SELLING_COMPANY = COMPANIES[0]
