"""Metrics for an operator's Prometheus: only with the token, since they tell how much is sold."""

from hmac import compare_digest

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from django_prometheus.exports import ExportToDjangoView


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Show the metrics to who sends ``Authorization: Bearer <METRICS_TOKEN>``; else there is no such page."""
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    # As bytes: text with an accent cannot be compared so.
    is_known = compare_digest(given.encode(), settings.METRICS_TOKEN.encode())
    if not settings.METRICS_TOKEN or not is_known:
        raise Http404
    answer = ExportToDjangoView(request)  # type: ignore[no-untyped-call]  # no types there
    assert isinstance(answer, HttpResponse)
    return answer
