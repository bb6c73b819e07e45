"""What an operator asks the site: health, metrics, error pages."""

import pytest
from django.core.cache import cache
from django.urls import reverse

from marketplace.models import MarketState

pytestmark = pytest.mark.django_db


def test_live_answers_without_asking_anybody(client):
    assert client.get("/health/live").json() == {"status": "ok"}


def test_ready_names_each_part(client):
    response = client.get("/health/ready")

    assert response.status_code == 200
    assert response.json()["checks"] == {"database": True, "broker": True, "migrations": True}


def test_ready_is_503_while_the_broker_is_away(client, settings):
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": "unix:///nowhere/broker.sock",
        }
    }

    response = client.get("/health/ready")

    assert response.status_code == 503
    assert response.json()["checks"]["broker"] is False


@pytest.mark.parametrize("header", [{}, {"Authorization": "Bearer wrong"}])
def test_metrics_are_not_there_without_the_token(client, settings, header):
    settings.METRICS_TOKEN = "right"

    assert client.get(reverse("metrics"), headers=header).status_code == 404


def test_metrics_are_not_there_while_no_token_is_set(client, settings):
    settings.METRICS_TOKEN = ""

    assert client.get(reverse("metrics"), headers={"Authorization": "Bearer "}).status_code == 404


def test_metrics_are_shown_with_the_token(client, settings):
    settings.METRICS_TOKEN = "right"

    response = client.get(reverse("metrics"), headers={"Authorization": "Bearer right"})

    assert response.status_code == 200
    assert b"django_http_requests" in response.content


@pytest.mark.parametrize(("language", "words"), [("en", "does not exist"), ("fr", "n’existe pas")])
def test_an_unknown_page_says_where_to_go(client, language, words):
    response = client.get(f"/{language}/nothing-here/")

    assert response.status_code == 404
    assert words in response.content.decode()


@pytest.mark.parametrize(
    ("state", "words"),
    [("prelaunch", "The market is not open yet"), ("halted", "Trading is halted"), ("open", None)],
)
def test_every_page_says_when_the_market_takes_no_orders(client, state, words):
    cache.clear()
    MarketState.objects.update(state=state)

    page = client.get("/en/").content.decode()

    said = [words for words in ("The market is not open yet", "Trading is halted") if words in page]
    assert said == ([words] if words else [])
