"""The pages that are looked at in every language, theme and width."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import override
from playwright.sync_api import Page, Response

from config.demo.cast import CAMILLE, COMPANIES


@dataclass(frozen=True, slots=True)
class Shown:
    """One page: its name in the address table, and what the address needs.

    ``title`` names its pictures. ``first`` goes on to the first link of that kind, as people do.
    """

    title: str
    route: str
    arguments: Mapping[str, object] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    first: str = ""

    def open(self, page: Page, *, language: str) -> Response | None:
        answer = page.goto(self.path(language=language))
        if not self.first:
            return answer
        with page.expect_navigation() as navigation:
            page.locator(self.first).first.click()
        return navigation.value

    def path(self, *, language: str) -> str:
        with override(language):
            address = reverse(self.route, kwargs=dict(self.arguments))
        query = QueryDict(mutable=True)
        query.update(dict(self.query))
        return f"{address}?{query.urlencode()}" if self.query else address


ROW = "main tbody th[scope=row] a"
DOLLARS = {"currency": "USD"}
CARD = {"slug": "rtx-4090"}
TWO_HOURS = {"kind": "buy_now", "gpus": "1", "hours": "2", "currency": "USD"}

PUBLIC = (
    Shown("home", "catalog:home"),
    Shown("home-rendering", "catalog:home", query={"job": "rendering", "currency": "EUR"}),
    Shown("home-too-large", "catalog:home", query={"job": "full", "model": "llama-3.1-70b"}),
    Shown("use-cases", "catalog:use_cases", query=DOLLARS),
    Shown("use-case", "catalog:use_case", {"key": "fine-tuning"}, DOLLARS),
    Shown("use-case-training", "catalog:use_case", {"key": "llm-training"}, DOLLARS),
    Shown("use-case-inference", "catalog:use_case", {"key": "llm-inference"}, DOLLARS),
    Shown("use-case-video", "catalog:use_case", {"key": "image-video"}, DOLLARS),
    Shown("use-case-rendering", "catalog:use_case", {"key": "rendering"}, DOLLARS),
    Shown("use-case-science", "catalog:use_case", {"key": "scientific"}, DOLLARS),
    Shown("gpus", "catalog:gpu_list", query=DOLLARS),
    Shown("gpus-all", "catalog:gpu_list", query=DOLLARS | {"show": "all"}),
    Shown("gpus-fitting", "catalog:gpu_list", query=DOLLARS | {"model": "llama-3.1-70b"}),
    Shown("gpus-none", "catalog:gpu_list", query=DOLLARS | {"memory": "141", "price": "0.20"}),
    Shown("gpus-ignored", "catalog:gpu_list", query={"memory": "lots", "price": "cheap"}),
    Shown("compare", "catalog:compare", query={"cards": "rtx-4090,l40s,a100-sxm-80"}),
    Shown("compare-four", "catalog:compare", query={"cards": "rtx-4090,l40s,l4,h100-sxm,a40,x"}),
    Shown("compare-one", "catalog:compare", query={"cards": "l40s"}),
    Shown("compare-none", "catalog:compare"),
    Shown("gpu", "catalog:gpu", CARD, DOLLARS),
    Shown("gpu-month", "catalog:gpu", CARD, DOLLARS | {"range": "30d"}),
    Shown("gpu-without-offer", "catalog:gpu", {"slug": "b200-sxm"}, DOLLARS),
    Shown("calculator", "catalog:calculator", query=DOLLARS),
    Shown(
        "calculator-serving",
        "catalog:calculator",
        query=DOLLARS | {"task": "serving", "model": "llama-3.1-8b", "concurrency": "16"},
    ),
    Shown(
        "calculator-work",
        "catalog:calculator",
        query={"method": "full", "model": "llama-3.1-8b", "training_tokens": "1000000000"},
    ),
    Shown(
        "calculator-too-large",
        "catalog:calculator",
        query={"method": "full", "model": "llama-3.1-405b", "card": "rtx-4090", "show": "all"},
    ),
    Shown(
        "calculator-refused",
        "catalog:calculator",
        query={"method": "qlora", "model": "llama-3.1-8b", "lora_rank": "9000"},
    ),
    Shown("accuracy", "catalog:accuracy"),
    Shown("figures", "catalog:figures"),
    Shown("guides", "catalog:guides"),
    # The slug of the other language leads on to the page in this one.
    Shown("guide", "catalog:guide", {"slug": "choosing-a-gpu-for-fine-tuning"}, DOLLARS),
    Shown("guide-rendering", "catalog:guide", {"slug": "choosing-a-gpu-for-3d-rendering"}),
    Shown("market", "marketplace:market", query=DOLLARS),
    Shown("market-gpu", "marketplace:market_gpu", CARD, DOLLARS),
    Shown(
        "market-gpu-without-trade", "marketplace:market_gpu", {"slug": "l4"}, {"currency": "GBP"}
    ),
    Shown("order-new", "marketplace:order_new", CARD, DOLLARS | {"kind": "limit"}),
    Shown("rule", "marketplace:rule"),
    Shown("price-method", "marketplace:method"),
    Shown("sell", "marketplace:sell"),
    Shown("status", "marketplace:status"),
    Shown("api", "api_page"),
    Shown("sign-up", "account_signup"),
    Shown("sign-in", "account_login"),
    Shown("password-forgotten", "account_reset_password"),
    Shown("terms", "accounts:legal", {"key": "terms"}),
    Shown("terms-of-sale", "accounts:legal", {"key": "sale"}),
    Shown("terms-for-sellers", "accounts:legal", {"key": "sellers"}),
    Shown("privacy", "accounts:legal", {"key": "privacy"}),
    Shown("legal-notice", "accounts:legal", {"key": "notice"}),
    Shown("contact", "accounts:contact", query={"topic": "abuse"}),
    Shown("contact-sent", "accounts:contact_sent"),
    Shown("outbox", "accounts:outbox"),
    Shown("mail-samples", "marketplace:mail_samples"),
)
RUNNING = "section:has(#rentals) tbody tr:last-child th[scope=row] a"
RENTAL = Shown("rental", "marketplace:dashboard", first=RUNNING)
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
    Shown("order-filled", "marketplace:orders", query={"status": "filled"}, first=ROW),
    Shown("order-waiting", "marketplace:orders", query={"status": "resting"}, first=ROW),
    Shown("intentions", "marketplace:intentions"),
    Shown("memory-tests", "marketplace:memory_tests"),
    Shown("memory-test-new", "marketplace:memory_test_new"),
    Shown(
        "memory-test-expected",
        "marketplace:memory_test_new",
        query={"card": "rtx-4090", "job": "method=qlora&model=llama-3.1-8b&sequence_tokens=4096"},
    ),
    Shown("memory-test", "marketplace:memory_tests", first=ROW),
    Shown("rentals", "marketplace:rentals"),
    RENTAL,
    Shown("wallets", "billing:wallets"),
    Shown("statement", "billing:statement", DOLLARS),
    Shown("top-up", "billing:top_up", DOLLARS),
    Shown("billing-profile", "billing:profile"),
    Shown("settings", "accounts:profile"),
    Shown("ssh-keys", "accounts:keys"),
    Shown("organisations", "accounts:organisations"),
    Shown("second-factor", "mfa_index"),
    Shown("password", "account_change_password"),
    Shown("e-mail-address", "account_email"),
    Shown("devices", "accounts:devices"),
    Shown("tokens", "accounts:tokens"),
    Shown("notifications", "accounts:notifications"),
    Shown("own-data", "accounts:export"),
    Shown("close-account", "accounts:close"),
    Shown("consent", "accounts:accept_terms"),
)
SELLERS = (
    Shown("seller", "marketplace:seller_home"),
    Shown("servers", "marketplace:servers"),
    Shown("server", "marketplace:servers", first=ROW),
    Shown("server-add", "marketplace:server_add"),
    Shown("offer-add", "marketplace:offer_add", {"pk": 1}),
    Shown("offers", "marketplace:offers"),
    Shown("demand", "marketplace:demand"),
    Shown("sales", "marketplace:sales"),
    Shown("sale", "marketplace:sales", first=ROW),
)
# For staff with a second factor alone.
STAFF = (Shown("components", "gallery"),)
# These may load the zoomable chart.
MARKET_ROUTES = frozenset({"marketplace:market", "marketplace:market_gpu"})
# The same pages and others, before the market's launch; the first two are a visitor's too.
BEFORE_LAUNCH = (
    Shown("home-before-launch", "catalog:home"),
    Shown("gpu-before-launch", "catalog:gpu", CARD, DOLLARS),
    Shown("intention-new", "marketplace:intention_new", CARD, {"gpus": "2", "hours": "12"}),
    Shown("intentions-before-launch", "marketplace:intentions"),
    Shown("dashboard-before-launch", "marketplace:dashboard"),
    Shown("top-up-before-launch", "billing:top_up", query=DOLLARS),
)
SELLING_COMPANYS_DEMAND = (Shown("demand-before-launch", "marketplace:demand"),)
CUSTOMER_EMAIL = CAMILLE.email
SELLING_COMPANY = COMPANIES[0]
