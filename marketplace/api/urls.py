"""Addresses of the API."""

from django.urls import path

from marketplace.api.market import GpuMarket, Market

urlpatterns = [
    path("market/", Market.as_view(), name="api-market"),
    path("market/<slug:slug>/", GpuMarket.as_view(), name="api-gpu-market"),
]
