"""Addresses of the market's pages; each is translated."""

from django.urls import path
from django.utils.translation import gettext_lazy as _

from marketplace.views import (
    dashboard,
    explain,
    intentions,
    mail_samples,
    market,
    market_files,
    memory_tests,
    orders,
    rentals,
    sales,
    sell,
    seller,
    status,
)

app_name = "marketplace"
urlpatterns = [
    path(_("dashboard/"), dashboard.dashboard, name="dashboard"),
    path(_("order/<slug:slug>/"), orders.order_new, name="order_new"),
    path(_("order/<slug:slug>/review/"), orders.order_review, name="order_review"),
    path(_("orders/"), orders.orders, name="orders"),
    path(_("orders/<int:pk>/"), orders.order, name="order"),
    path(_("orders/<int:pk>/cancel/"), orders.order_cancel, name="order_cancel"),
    path("intentions/", intentions.intentions, name="intentions"),
    path(_("intentions/new/<slug:slug>/"), intentions.intention_new, name="intention_new"),
    path(
        _("intentions/<int:pk>/withdraw/"),
        intentions.intention_withdraw,
        name="intention_withdraw",
    ),
    path(_("market/"), market.market, name="market"),
    path(_("market/export.csv"), market.market_csv, name="market_csv"),
    path(_("market/<slug:slug>/"), market.market_gpu, name="market_gpu"),
    path(_("market/<slug:slug>/fills.csv"), market_files.fills_csv, name="fills_csv"),
    path(
        _("market/<slug:slug>/history.json"),
        market_files.price_history_json,
        name="price_history",
    ),
    path(_("mail-samples/"), mail_samples.mail_samples, name="mail_samples"),
    path(_("rentals/"), rentals.rentals, name="rentals"),
    path(_("rentals/<int:pk>/"), rentals.rental, name="rental"),
    path(_("rentals/<int:pk>/end/"), rentals.rental_stop, name="rental_stop"),
    path(_("rentals/<int:pk>/wait/"), rentals.rental_wait, name="rental_wait"),
    path(_("memory-tests/"), memory_tests.memory_tests, name="memory_tests"),
    path(_("memory-tests/new/"), memory_tests.memory_test_new, name="memory_test_new"),
    path(_("memory-tests/<int:pk>/"), memory_tests.memory_test, name="memory_test"),
    path(
        _("memory-tests/<int:pk>/memory_test.py"),
        memory_tests.memory_test_script,
        name="memory_test_script",
    ),
    path(
        _("memory-tests/<int:pk>/result/"),
        memory_tests.memory_test_upload,
        name="memory_test_upload",
    ),
    path(_("how-it-works/"), explain.rule, name="rule"),
    path(_("how-it-works/prices/"), explain.method, name="method"),
    path(_("status/"), status.status, name="status"),
    path(_("sell/"), sell.sell, name="sell"),
    path(_("seller/"), seller.seller_home, name="seller_home"),
    path(_("seller/apply/"), seller.seller_apply, name="seller_apply"),
    path(_("seller/servers/"), seller.servers, name="servers"),
    path(_("seller/servers/add/"), seller.server_add, name="server_add"),
    path(_("seller/servers/<int:pk>/"), seller.server, name="server"),
    path(_("seller/servers/<int:pk>/offer/"), seller.offer_add, name="offer_add"),
    path(_("seller/offers/"), seller.offers, name="offers"),
    path(_("seller/offers/<int:pk>/withdraw/"), seller.offer_withdraw, name="offer_withdraw"),
    path(_("seller/demand/"), intentions.demand, name="demand"),
    path(_("seller/sales/"), sales.sales, name="sales"),
    path(_("seller/sales/<int:pk>/"), sales.sale, name="sale"),
]
