"""What each request knows about its viewer, and what they get who ask too often."""

from collections.abc import Callable

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from redis.exceptions import RedisError

from marketplace.accounts.clock import now
from marketplace.accounts.models import Membership, Organisation, User
from marketplace.accounts.operations.devices import note_device
from marketplace.accounts.rate_limits import HOUR, MINUTE, TooOften
from marketplace.accounts.viewer import viewer_membership, visit_of

# How often a signed-in browser's row is written at most.
SEEN_EVERY_SECONDS = 10 * MINUTE


class DeviceMiddleware:
    """Remember with which browsers a person is signed in, and when each was seen last."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated and request.session.session_key and _is_due(request):
            note_device(visit=visit_of(request), now=now())
        return self.get_response(request)


class ViewerMiddleware:
    """Set ``request.membership`` and ``request.organisation``, and show times in the viewer's zone.

    Both are None for nobody. For somebody signed in they ask the database when first used.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        user = request.user
        membership: object = None
        organisation: object = None
        if isinstance(user, User):
            membership = SimpleLazyObject(lambda: viewer_membership(request))
            organisation = SimpleLazyObject(lambda: _organisation(viewer_membership(request)))
        request.membership = membership  # type: ignore[attr-defined]
        request.organisation = organisation  # type: ignore[attr-defined]
        if not isinstance(user, User):
            return self.get_response(request)
        with timezone.override(user.zone):
            answer = self.get_response(request)
        # Every page names its reader: no cache on the way may give it to somebody else.
        if not answer.has_header("Cache-Control"):
            answer["Cache-Control"] = "private, no-cache"
        return answer


class TooOftenMiddleware:
    """Answer an act beyond its limit with 429, and say when it may be tried again."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, TooOften):
            return None
        seconds = exception.retry_seconds
        context = {
            "seconds": seconds if seconds < 2 * MINUTE else 0,
            "minutes": -(-seconds // MINUTE) if 2 * MINUTE <= seconds < 2 * HOUR else 0,
            "hours": -(-seconds // HOUR) if seconds >= 2 * HOUR else 0,
        }
        answer = render(request, "429.html", context, status=429)
        answer["Retry-After"] = str(seconds)
        return answer


def _is_due(request: HttpRequest) -> bool:
    """Tell whether this browser was not seen for a while; not at all while the cache is away."""
    key = f"seen:{request.session.session_key}"
    try:
        return bool(cache.add(key, 1, SEEN_EVERY_SECONDS))
    except RedisError:
        return False


def _organisation(membership: Membership | None) -> Organisation | None:
    return membership.organisation if membership else None
