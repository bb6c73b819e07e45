"""Public pages answered from what was rendered a moment ago.

`public_page` keeps what a view answers to a visitor who has no session, for a few seconds, so that
the ages on it stay honest. A kept page is forgotten at once when the version moves: `pages_changed`
moves it when prices are published, when the market's state changes and when content is edited.

Nothing is kept of or for anybody who has a session or a waiting message, and nothing that sets a
cookie or holds a form's token. While the cache is away every page is rendered, and none fails.

When a page's time is over one visitor's request renders it anew, and the others get the old one for
that long: a page that takes a moment to render is not rendered by everybody at once.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from hashlib import sha256
from typing import Concatenate, ParamSpec
from uuid import uuid4

from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotModified
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.translation import get_language
from redis.exceptions import RedisError

P = ParamSpec("P")
AnyView = Callable[Concatenate[HttpRequest, P], HttpResponseBase]

VERSION_KEY = "public-pages:version"
COUNT_KEY = "public-pages:count"
# What a process answers from its own memory without asking the cache: a change is seen this late.
MEMORY_SECONDS = 1.0
# The memory of one process: the pages of the moment, some megabytes.
MEMORY_PAGES = 64
# New pages that are kept in a lifetime: addresses with made-up queries must not fill the cache.
KEPT_PAGES = 500
# So much longer an old page is answered while somebody renders the new one.
GRACE_SECONDS = 5
# A longer query is nobody's filter.
QUERY_MAX_LENGTH = 300
VARY = ("Cookie", "HX-Request")
PUBLIC = "public, no-cache"
PRIVATE = "private, no-cache"


@dataclass(frozen=True, slots=True)
class Page:
    """A rendered page, and the version and moment in which its rendering began."""

    version: str
    begun_at: float
    etag: str
    content_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Found:
    """What is known of an address: its page if any, and the version now; none without a cache."""

    version: str | None = None
    page: Page | None = None
    is_fresh: bool = False


# Of this process: address -> (when it was asked for, the page). A dict's own acts are atomic.
_memory: dict[str, tuple[float, Page]] = {}


def public_page(view: AnyView[P]) -> AnyView[P]:
    """Answer visitors from kept pages, and 304 where theirs is still the same.

    Whether it is the same is decided before any question to the database.
    """

    @wraps(view)
    def answered(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not _is_anonymous_reading(request):
            return _private(view(request, *args, **kwargs))
        key, now = _key(request), time.time()
        found = _recall(key, now=now)
        if found.page is not None and (found.is_fresh or _somebody_renders(key)):
            return _answer(request, found.page)
        response = view(request, *args, **kwargs)
        if found.version is None or not _may_be_kept(request, response):
            return _private(response)
        assert isinstance(response, HttpResponse)
        page = _page_of(response, version=found.version, begun_at=now)
        _keep(key, page)
        return _answer(request, page)

    return answered


def pages_changed() -> None:
    """Forget the kept pages, once the caller's transaction is committed."""
    transaction.on_commit(_move_version)


def _move_version() -> None:
    _memory.clear()
    try:
        cache.set(VERSION_KEY, uuid4().hex, None)
    except RedisError:
        # Without a cache nothing is kept there.
        return


def _is_anonymous_reading(request: HttpRequest) -> bool:
    return (
        settings.PUBLIC_PAGE_SECONDS > 0
        and request.method == "GET"
        and settings.SESSION_COOKIE_NAME not in request.COOKIES
        and "messages" not in request.COOKIES
        and "HTTP_HX_REQUEST" not in request.META
        and "HTTP_AUTHORIZATION" not in request.META
        and len(request.META.get("QUERY_STRING", "")) <= QUERY_MAX_LENGTH
    )


def _may_be_kept(request: HttpRequest, response: HttpResponseBase) -> bool:
    """Say whether an answer is the same for every visitor."""
    return (
        isinstance(response, HttpResponse)
        and response.status_code == 200  # noqa: PLR2004  OK
        and getattr(response, "is_rendered", True)
        and not response.cookies
        # A form's token was asked for: it is this visitor's own.
        and not request.META.get("CSRF_COOKIE_NEEDS_UPDATE")
        and not response.has_header("Cache-Control")
    )


def _key(request: HttpRequest) -> str:
    """Return all that a page without a session can depend on."""
    return "\n".join(
        (
            f"{request.scheme}://{request.get_host()}{request.path}",
            request.META.get("QUERY_STRING", ""),
            get_language() or "",
            request.COOKIES.get("theme", "")[:8],
        )
    )


def _cache_key(key: str) -> str:
    return f"public-pages:{sha256(key.encode()).hexdigest()}"


def _recall(key: str, *, now: float) -> Found:
    asked_at, page = _memory.get(key, (0.0, None))
    if page is not None and 0 <= now - asked_at < MEMORY_SECONDS:
        return Found(version=page.version, page=page, is_fresh=True)
    cache_key = _cache_key(key)
    try:
        kept = cache.get_many([VERSION_KEY, cache_key])
    except RedisError:
        return Found()
    version, page = str(kept.get(VERSION_KEY, "")), kept.get(cache_key)
    if not isinstance(page, Page):
        return Found(version=version)
    is_young = now - page.begun_at < settings.PUBLIC_PAGE_SECONDS
    is_fresh = is_young and page.version == version
    if is_fresh:
        _remember(key, page, now=now)
    return Found(version=version, page=page, is_fresh=is_fresh)


def _somebody_renders(key: str) -> bool:
    """Say whether somebody else renders this page anew; if not, it is now this request's to do."""
    try:
        return not cache.add(f"{_cache_key(key)}:rendered", 1, GRACE_SECONDS)
    except RedisError:
        return False


def _keep(key: str, page: Page) -> None:
    lifetime, cache_key = settings.PUBLIC_PAGE_SECONDS, _cache_key(key)
    try:
        cache.delete(f"{cache_key}:rendered")
        cache.add(COUNT_KEY, 0, lifetime)
        if cache.incr(COUNT_KEY) > KEPT_PAGES:
            return
        cache.set(cache_key, page, lifetime + GRACE_SECONDS)
    except (RedisError, ValueError):
        # Away, or the count ended between two calls: the next visitor's page is kept.
        return
    _remember(key, page, now=time.time())


def _remember(key: str, page: Page, *, now: float) -> None:
    if len(_memory) >= MEMORY_PAGES:
        _memory.clear()
    _memory[key] = (now, page)


def _page_of(response: HttpResponse, *, version: str, begun_at: float) -> Page:
    return Page(
        version=version,
        begun_at=begun_at,
        etag=f'"{sha256(response.content).hexdigest()[:32]}"',
        content_type=response.headers["Content-Type"],
        content=response.content,
    )


def _answer(request: HttpRequest, page: Page) -> HttpResponseBase:
    headers = {"ETag": page.etag, "Cache-Control": PUBLIC, "Vary": ", ".join(VARY)}
    known = request.META.get("HTTP_IF_NONE_MATCH")
    # What browsers send; other forms of the header are Django's to read.
    if known == page.etag:
        return HttpResponseNotModified(headers=headers)
    response = HttpResponse(page.content, content_type=page.content_type, headers=headers)
    if known is None:
        return response
    return get_conditional_response(request, etag=page.etag, response=response) or response


def _private(response: HttpResponseBase) -> HttpResponseBase:
    """Keep an answer that is one reader's own out of caches between us."""
    patch_vary_headers(response, VARY)
    if not response.has_header("Cache-Control"):
        response.headers["Cache-Control"] = PRIVATE
    return response
