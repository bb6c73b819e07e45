"""Addresses of the API about the one who asks, mounted under /api/v1/."""

from django.urls import path

from marketplace.accounts.api.whoami import WhoAmI

urlpatterns = [
    path("me/", WhoAmI.as_view(), name="api-me"),
]
