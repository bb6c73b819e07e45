"""Addresses of the catalogue's API, mounted under /api/v1/."""

from django.urls import path

from catalog.api.gpus import Gpus, UseCase
from catalog.api.sizing import SizingAccuracy, SizingCapacity, SizingEstimate, SizingFit, SizingRank

urlpatterns = [
    path("gpus/", Gpus.as_view(), name="api-gpus"),
    path("use-cases/<slug:key>/", UseCase.as_view(), name="api-use-case"),
    path("sizing/estimate/", SizingEstimate.as_view(), name="sizing-estimate"),
    path("sizing/fit/", SizingFit.as_view(), name="sizing-fit"),
    path("sizing/rank/", SizingRank.as_view(), name="sizing-rank"),
    path("sizing/capacity/", SizingCapacity.as_view(), name="sizing-capacity"),
    path("sizing/accuracy/", SizingAccuracy.as_view(), name="sizing-accuracy"),
]
