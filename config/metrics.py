"""Metrics for an operator's Prometheus: only with the token, since they tell how much is sold."""

from hmac import compare_digest

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django_prometheus.exports import ExportToDjangoView


def metrics(request: HttpRequest) -> HttpResponse:
    """Show the metrics to who sends ``Authorization: Bearer <METRICS_TOKEN>``; else there is no such page."""
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if not settings.METRICS_TOKEN or not compare_digest(given, settings.METRICS_TOKEN):
        raise Http404
    answer = ExportToDjangoView(request)  # type: ignore[no-untyped-call]  # no types there
    assert isinstance(answer, HttpResponse)
    return answer
