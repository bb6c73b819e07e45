"""Pages that follow a state: the whole page, or only its live part with an ETag."""

import re
from collections.abc import Mapping
from hashlib import sha256

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified, QueryDict
from django.shortcuts import render
from django.template.loader import render_to_string

# The query that asks for the live part alone.
PART = "part"
# Drawn anew at each rendering; what it protects has not changed.
CSRF_VALUE = re.compile(r'name="csrfmiddlewaretoken" value="[^"]*"')


def page_query(request: HttpRequest) -> QueryDict:
    """Return what the address asks for, as the whole page's address says it."""
    query = request.GET.copy()
    query.pop(PART, None)
    return query


def live_fragment(
    request: HttpRequest, *, page: str, fragment: str, context: Mapping[str, object]
) -> HttpResponse:
    """Render ``page``; for ``?part=live`` render ``fragment`` alone, or 304 when it is unchanged."""
    if request.GET.get(PART) != "live":
        return render(request, page, {**context, "fragment": fragment})
    # Links in the part lead to pages, not to parts.
    request.GET = page_query(request)  # type: ignore[assignment]  # a copy that nobody changes
    body = render_to_string(fragment, dict(context), request)
    etag = f'"{sha256(CSRF_VALUE.sub("", body).encode()).hexdigest()[:32]}"'
    if request.headers.get("If-None-Match") == etag:
        return HttpResponseNotModified(headers={"ETag": etag})
    return HttpResponse(body, headers={"ETag": etag, "Cache-Control": "private, no-cache"})
