"""The browsers in which an account is open."""

from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from marketplace.accounts import clock
from marketplace.accounts.models import AuditEntry, User
from marketplace.accounts.operations.devices import forget_old_devices
from marketplace.accounts.user_agents import Device, device_of
from tests.personas import make_personas

pytestmark = pytest.mark.django_db

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15"
    " (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1"
)
CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36"


@pytest.fixture
def kept_state(settings, own_cache):
    """Keep what pages remember for the whole test, apart from what other processes do."""
    settings.MARKET_STATE_SECONDS = 1_000


def browser(user: User, agent: str = FIREFOX) -> Client:
    client = Client(headers={"user-agent": agent})
    client.force_login(user)
    client.get(reverse("accounts:profile"))
    return client


def page(client: Client) -> list[dict[str, object]]:
    return client.get(reverse("accounts:devices")).context["devices"]


@pytest.mark.parametrize(
    ("agent", "device"),
    [
        (FIREFOX, Device("Firefox", "Linux")),
        (IPHONE, Device("Safari", "iPhone")),
        (f"Mozilla/5.0 (Windows NT 10.0) {CHROME}", Device("Chrome", "Windows")),
        (f"Mozilla/5.0 (Windows NT 10.0) {CHROME} Edg/140.0", Device("Edge", "Windows")),
        (f"Mozilla/5.0 (Linux; Android 16) {CHROME} Mobile", Device("Chrome", "Android")),
        ("curl/8.14", Device("", "")),
        ("", Device("", "")),
    ],
)
def test_a_browser_is_known_by_two_words(agent, device):
    assert device_of(agent) == device


def test_the_page_lists_ones_own_browsers_and_marks_this_one():
    people = make_personas()
    here, _other = browser(people.buyer), browser(people.buyer, IPHONE)
    browser(people.stranger)

    shown = {row["words"]: row["is_this_one"] for row in page(here)}

    assert shown == {"Firefox on Linux": True, "Safari on iPhone": False}


def test_a_browser_without_a_name_is_listed_too():
    client = browser(make_personas().buyer, "")

    assert [row["words"] for row in page(client)] == ["Unknown browser"]


def test_one_browser_is_signed_out_and_this_one_is_not():
    people = make_personas()
    here, lost = browser(people.buyer), browser(people.buyer, IPHONE)
    (row,) = [row for row in page(here) if not row["is_this_one"]]

    here.post(reverse("accounts:device_end", args=[row["pk"]]))

    assert lost.get(reverse("accounts:profile")).status_code == 302
    assert here.get(reverse("accounts:profile")).status_code == 200
    assert len(page(here)) == 1
    assert AuditEntry.objects.filter(action="device.ended", actor=people.buyer).count() == 1


def test_all_others_are_signed_out_at_once_and_nobody_else_is():
    people = make_personas()
    here = browser(people.buyer)
    others = [browser(people.buyer, IPHONE), browser(people.buyer, IPHONE)]
    stranger = browser(people.stranger)

    here.post(reverse("accounts:devices_end_others"))

    assert [other.get(reverse("accounts:profile")).status_code for other in others] == [302, 302]
    assert here.get(reverse("accounts:profile")).status_code == 200
    assert stranger.get(reverse("accounts:profile")).status_code == 200


def test_nobody_elses_session_can_be_ended():
    people = make_personas()
    victim, attacker = browser(people.buyer), browser(people.stranger)
    row = UserSession.objects.get(user=people.buyer)

    answer = attacker.post(reverse("accounts:device_end", args=[row.pk]))

    assert answer.status_code == 404
    assert victim.get(reverse("accounts:profile")).status_code == 200
    assert UserSession.objects.filter(pk=row.pk).exists()
    assert not AuditEntry.objects.filter(action="device.ended").exists()


def test_to_end_this_browser_is_to_sign_out():
    client = browser(make_personas().buyer)
    (row,) = page(client)

    answer = client.post(reverse("accounts:device_end", args=[row["pk"]]))

    assert answer["Location"] == reverse("account_login")
    assert client.get(reverse("accounts:profile")).status_code == 302


def test_a_session_that_a_new_password_made_worthless_is_not_listed():
    people = make_personas()
    browser(people.buyer, IPHONE)
    user = User.objects.get(pk=people.buyer.pk)
    user.set_password("four other quiet words")
    user.save()

    assert [row["words"] for row in page(browser(user))] == ["Firefox on Linux"]


def test_a_browser_is_noted_once_in_a_while_only(kept_state, django_assert_num_queries):
    client = browser(make_personas().buyer)

    # The session, the person, their membership, the keys.
    with django_assert_num_queries(4):
        client.get(reverse("accounts:keys"))


def test_nothing_is_noted_while_the_cache_is_away(monkeypatch):
    from redis.exceptions import ConnectionError as RedisAway

    def away(*_args: object) -> bool:
        raise RedisAway

    monkeypatch.setattr(cache, "add", away)

    client = browser(make_personas().buyer)

    assert UserSession.objects.count() == 0
    assert len(page(client)) == 1


def test_expired_sessions_and_what_was_known_of_them_are_forgotten():
    people = make_personas()
    browser(people.buyer)
    kept = browser(people.stranger)
    Session.objects.filter(
        session_key=UserSession.objects.get(user=people.buyer).session_key
    ).update(expire_date=clock.now() - timedelta(seconds=1))

    assert forget_old_devices(now=clock.now()) == 1

    assert list(UserSession.objects.values_list("user_id", flat=True)) == [people.stranger.pk]
    assert kept.get(reverse("accounts:profile")).status_code == 200
