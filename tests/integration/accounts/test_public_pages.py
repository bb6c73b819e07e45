"""Visitors' pages are kept for a moment, for visitors alone, and are gone when something changes."""

import time
from collections.abc import Callable

import pytest
from django.core.cache import cache
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.test import RequestFactory
from django.utils.translation import override
from redis.exceptions import ConnectionError as CacheIsAway

from marketplace.accounts import public_pages
from marketplace.accounts.public_pages import pages_changed, public_page


@pytest.fixture(autouse=True)
def _pages_are_kept(settings, own_cache):
    settings.PUBLIC_PAGE_SECONDS = 5


class Counted:
    """A view that says how often it was asked."""

    def __init__(self, answer: Callable[[HttpRequest], HttpResponse] | None = None) -> None:
        self.count = 0
        self.answer = answer or (lambda request: HttpResponse(f"<p>page {self.count}</p>"))
        self.page = public_page(self.view)

    def view(self, request: HttpRequest) -> HttpResponse:
        self.count += 1
        return self.answer(request)

    def get(
        self,
        path: str = "/en/gpus/",
        *,
        cookies: dict[str, str] | None = None,
        headers: dict[str, str] | None = None,
    ):
        request = RequestFactory().get(path, headers=headers)
        request.COOKIES.update(cookies or {})
        return self.page(request)


def test_a_page_is_rendered_once_for_all_visitors():
    view = Counted()

    first, again = view.get(), view.get()

    assert (first.content, again.content) == (b"<p>page 1</p>", b"<p>page 1</p>")
    assert view.count == 1
    assert again["Cache-Control"] == "public, no-cache"
    assert again["Vary"] == "Cookie, HX-Request"
    assert again["Content-Type"] == "text/html; charset=utf-8"


def test_a_visitor_who_has_the_page_is_told_so_without_a_question_to_the_database(
    django_assert_num_queries, db
):
    view = Counted()
    etag = view.get()["ETag"]

    with django_assert_num_queries(0):
        answers = [
            view.get(headers={"If-None-Match": value}) for value in (etag, f"W/{etag}", '"other"')
        ]

    assert [answer.status_code for answer in answers] == [304, 304, 200]
    assert answers[0].content == b""
    assert answers[0]["ETag"] == etag
    assert view.count == 1


def test_a_page_that_was_rendered_anew_and_is_the_same_is_still_304():
    view = Counted(lambda request: HttpResponse("same"))
    etag = view.get()["ETag"]
    cache.clear()
    public_pages._memory.clear()

    answer = view.get(headers={"If-None-Match": etag})

    assert answer.status_code == 304
    assert view.count == 2


@pytest.mark.parametrize(
    ("path", "cookies", "language"),
    [
        ("/en/gpus/?currency=USD", {}, "en"),
        ("/en/gpus/h200/", {}, "en"),
        ("/en/gpus/", {"theme": "dark"}, "en"),
        ("/en/gpus/", {}, "fr"),
    ],
)
def test_another_address_theme_or_language_is_another_page(path, cookies, language):
    view = Counted()
    view.get()

    with override(language):
        other = view.get(path, cookies=cookies)

    assert other.content == b"<p>page 2</p>"


@pytest.mark.parametrize(
    ("cookies", "headers"),
    [
        ({"sessionid": "abc"}, {}),
        ({"messages": "abc"}, {}),
        ({}, {"HX-Request": "true"}),
        ({}, {"Authorization": "Token abc"}),
    ],
)
def test_nothing_is_kept_of_or_for_who_has_a_session_a_message_or_asks_for_a_part(cookies, headers):
    view = Counted()

    own = [view.get(cookies=cookies, headers=headers) for _ in range(2)]
    public = view.get()

    assert [answer.content for answer in own] == [b"<p>page 1</p>", b"<p>page 2</p>"]
    assert public.content == b"<p>page 3</p>"
    assert own[0]["Cache-Control"] == "private, no-cache"
    assert "Cookie" in own[0]["Vary"]
    assert not own[0].has_header("ETag")


def with_cookie(request: HttpRequest) -> HttpResponse:
    answer = HttpResponse("mine")
    answer.set_cookie("a", "b")
    return answer


def with_token(request: HttpRequest) -> HttpResponse:
    return HttpResponse(get_token(request))


@pytest.mark.parametrize(
    "answer",
    [
        with_cookie,
        with_token,
        lambda request: HttpResponse("no", status=404),
        lambda request: HttpResponse("no", status=400),
        lambda request: HttpResponse("x", headers={"Cache-Control": "no-store"}),
    ],
    ids=["cookie", "token", "missing", "refused", "not to be stored"],
)
def test_an_answer_that_is_one_visitors_own_is_not_kept(answer):
    view = Counted(answer)

    view.get()
    view.get()

    assert view.count == 2


def test_a_post_and_a_head_reach_the_view():
    view = Counted()
    view.get()

    view.page(RequestFactory().post("/en/gpus/"))
    view.page(RequestFactory().head("/en/gpus/"))

    assert view.count == 3


@pytest.mark.django_db(transaction=True)
def test_a_change_is_seen_once_it_is_committed_and_not_before():
    view = Counted()
    view.get()

    with transaction.atomic():
        pages_changed()
        during = view.get()
    after = view.get()

    assert (during.content, after.content) == (b"<p>page 1</p>", b"<p>page 2</p>")


@pytest.mark.django_db(transaction=True)
def test_a_page_whose_rendering_began_before_a_change_is_not_kept():
    view = Counted()

    def changed_meanwhile(request: HttpRequest) -> HttpResponse:
        pages_changed()
        return HttpResponse("old")

    view.answer = changed_meanwhile
    view.get()
    public_pages._memory.clear()
    view.answer = lambda request: HttpResponse("new")

    assert view.get().content == b"new"


def test_made_up_addresses_do_not_fill_the_cache(monkeypatch):
    monkeypatch.setattr(public_pages, "KEPT_PAGES", 3)
    view = Counted()

    for number in range(9):
        view.get(f"/en/gpus/?x={number}")

    kept = [view.get(f"/en/gpus/?x={number}").content for number in range(9)]
    assert view.count == 9 + 6
    assert kept[:3] == [b"<p>page 1</p>", b"<p>page 2</p>", b"<p>page 3</p>"]


def test_without_a_cache_every_page_is_rendered_and_none_fails(monkeypatch):
    def away(*args: object, **options: object) -> None:
        raise CacheIsAway

    for name in ("get_many", "set", "add", "incr", "delete"):
        monkeypatch.setattr(type(cache._connections[cache._alias]), name, away)
    view = Counted()

    answers = [view.get() for _ in range(2)]
    public_pages._move_version()

    assert [answer.status_code for answer in answers] == [200, 200]
    assert view.count == 2
    assert answers[0]["Cache-Control"] == "private, no-cache"


def test_nothing_is_kept_where_the_time_is_zero(settings):
    settings.PUBLIC_PAGE_SECONDS = 0
    view = Counted()

    view.get()
    view.get()

    assert view.count == 2


def test_while_one_visitor_renders_a_page_anew_the_others_get_the_old_one(monkeypatch):
    view = Counted()
    view.get()
    later = time.time() + 6
    monkeypatch.setattr(public_pages.time, "time", lambda: later)
    meanwhile = []

    def render_slowly(request: HttpRequest) -> HttpResponse:
        view.answer = lambda request: HttpResponse("rendered twice")
        meanwhile.append(view.get().content)
        return HttpResponse("new")

    view.answer = render_slowly
    answers = [view.get().content, view.get().content]

    assert meanwhile == [b"<p>page 1</p>"]
    assert answers == [b"new", b"new"]
    assert view.count == 2
