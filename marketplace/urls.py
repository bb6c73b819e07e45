"""Addresses of the market's pages; each is translated."""

from django.urls import path
from django.utils.translation import gettext_lazy as _

from marketplace.views import dashboard, explain, orders, rentals, sales, sell, seller, status

app_name = "marketplace"
urlpatterns = [
    path(_("dashboard/"), dashboard.dashboard, name="dashboard"),
    path(_("order/<slug:slug>/"), orders.order_new, name="order_new"),
    path(_("order/<slug:slug>/review/"), orders.order_review, name="order_review"),
    path(_("orders/"), orders.orders, name="orders"),
    path(_("orders/<int:pk>/"), orders.order, name="order"),
    path(_("orders/<int:pk>/cancel/"), orders.order_cancel, name="order_cancel"),
    path(_("rentals/"), rentals.rentals, name="rentals"),
    path(_("rentals/<int:pk>/"), rentals.rental, name="rental"),
    path(_("rentals/<int:pk>/end/"), rentals.rental_stop, name="rental_stop"),
    path(_("rentals/<int:pk>/wait/"), rentals.rental_wait, name="rental_wait"),
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
    path(_("seller/sales/"), sales.sales, name="sales"),
    path(_("seller/sales/<int:pk>/"), sales.sale, name="sale"),
]
