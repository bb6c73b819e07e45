"""Addresses that other machines call: no language in them."""

from django.urls import path

from billing import webhooks

urlpatterns = [path("stripe/", webhooks.stripe, name="stripe-webhook")]
