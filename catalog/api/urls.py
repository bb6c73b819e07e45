"""Addresses of the catalogue's API, mounted under /api/v1/."""

from django.urls import path

from catalog.api.gpus import Gpus, UseCase

urlpatterns = [
    path("gpus/", Gpus.as_view(), name="api-gpus"),
    path("use-cases/<slug:key>/", UseCase.as_view(), name="api-use-case"),
]
