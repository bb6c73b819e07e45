"""API tokens: made once, kept as a hash, held to their scopes."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory
from rest_framework.views import APIView

from marketplace.accounts import clock
from marketplace.accounts.models import ApiToken, AuditEntry, Membership
from marketplace.accounts.operations.tokens import (
    TOKENS_MAX,
    ScopeRefused,
    TooManyTokens,
    create_token,
)
from tests.personas import make_personas

pytestmark = pytest.mark.django_db

ME = "/api/v1/me/"
PASSWORD = "four unrelated quiet words"


class Orders(APIView):
    """Stands for any endpoint of trading."""

    write_scope = "trade"

    def get(self, request):
        return Response({})

    def post(self, request):
        return Response({})


@pytest.fixture
def people():
    return make_personas()


def membership_of(people, who: str = "buyer") -> Membership:
    return Membership.objects.get(user=getattr(people, who), organisation=people.buyer_organisation)


def make(people, *scopes: str, who: str = "buyer", days: int | None = None):
    return create_token(
        membership=membership_of(people, who),
        name="job",
        scopes=scopes or ("read",),
        lifetime=None if days is None else timedelta(days=days),
        now=clock.now(),
    )


def ask(text: str, path: str = ME):
    return Client().get(path, headers={"authorization": f"Token {text}"})


def trade(text: str, *, method: str = "post", view=Orders):
    request = getattr(APIRequestFactory(), method)("/", headers={"authorization": f"Token {text}"})
    return view.as_view()(request).status_code


class TestSigningIn:
    def test_a_program_is_told_for_whom_it_acts(self, people):
        _token, text = make(people, "read", "trade")

        assert ask(text).json() == {
            "email": "buyer@example.com",
            "organisation_id": people.buyer_organisation.pk,
            "organisation": "Buyers",
            "token": "job",
            "scopes": ["read", "trade"],
            "expires_at": None,
        }

    def test_the_text_of_a_token_is_nowhere_in_the_database(self, people):
        token, text = make(people)

        row = ApiToken.objects.filter(pk=token.pk).values().get()

        assert text.startswith("gpb_")
        assert len(text) == 68
        assert all(text not in str(value) for value in row.values())
        assert row["token_key"] == text[:15]
        assert len(row["digest"]) == 128
        assert text not in str(AuditEntry.objects.latest("id").details)

    def test_market_data_stays_public_and_a_wrong_token_is_told(self, people):
        assert Client().get("/api/v1/gpus/").status_code == 200
        assert ask(make(people)[1], "/api/v1/gpus/").status_code == 200
        assert ask("gpb_wrong", "/api/v1/gpus/").status_code == 401

    def test_nobody_is_asked_for_a_token(self):
        answer = Client().get(ME)

        assert answer.status_code == 401
        assert answer["WWW-Authenticate"] == "Token"
        assert answer["Content-Type"] == "application/problem+json"

    @pytest.mark.parametrize(
        "text",
        ["", "a b", "é", "x" * 5_000, "gpb_\x00", "'; DROP TABLE", "%f0%9f", "\N{PILE OF POO}"],
    )
    def test_what_is_no_token_is_refused(self, people, text):
        make(people)

        answer = Client().get(
            ME, headers={"authorization": f"Token {text}".encode().decode("latin-1")}
        )

        assert answer.status_code == 401

    def test_another_tokens_beginning_opens_nothing(self, people):
        _token, text = make(people)

        assert ask(text[:20] + "0" * 48).status_code == 401

    def test_a_revoked_token_opens_nothing(self, people, client):
        token, text = make(people)
        client.force_login(people.buyer)

        client.post(reverse("accounts:token_revoke", args=[token.pk]))

        assert ask(text).status_code == 401
        assert AuditEntry.objects.filter(action="token.revoked", actor=people.buyer).count() == 1

    def test_a_token_ends_at_its_moment_and_stays_on_the_list(self, people):
        token, text = make(people, days=30)
        assert ask(text).status_code == 200

        ApiToken.objects.filter(pk=token.pk).update(expiry=clock.now())

        assert ask(text).status_code == 401
        assert "expired" in ask(text).json()["detail"]
        assert ApiToken.objects.filter(pk=token.pk).exists()

    def test_a_member_who_left_takes_their_tokens_along(self, people):
        _token, text = make(people, who="colleague")
        membership_of(people, "colleague").delete()

        assert ask(text).status_code == 401

    def test_a_person_who_is_switched_off_has_no_tokens_that_work(self, people):
        _token, text = make(people)
        people.buyer.is_active = False
        people.buyer.save()

        assert ask(text).status_code == 401

    def test_its_use_is_noted_to_the_minute(self, people):
        token, text = make(people)

        ask(text)
        token.refresh_from_db()
        first = token.last_used_at
        ask(text)
        token.refresh_from_db()

        assert first is not None
        assert token.last_used_at == first


class TestScopes:
    def test_reading_wants_the_scope_to_read(self, people):
        assert ask(make(people, "read")[1]).status_code == 200
        assert ask(make(people, "trade")[1]).status_code == 403

    def test_trading_wants_the_scope_to_trade(self, people):
        assert trade(make(people, "trade")[1]) == 200
        assert trade(make(people, "read", "sell")[1]) == 403
        assert trade(make(people, "trade")[1], method="get") == 403

    def test_an_endpoint_that_names_no_scope_takes_no_token(self, people):
        class Unnamed(Orders):
            write_scope = None

        assert trade(make(people, "read", "trade", "sell")[1], view=Unnamed) == 403

    def test_who_lost_the_role_trades_with_no_token(self, people):
        _token, text = make(people, "trade", who="colleague")
        Membership.objects.filter(user=people.colleague).update(role="viewer")

        assert trade(text) == 403

    def test_a_viewer_makes_tokens_that_read_only(self, people):
        Membership.objects.filter(user=people.colleague).update(role="viewer")

        make(people, "read", who="colleague")
        with pytest.raises(ScopeRefused):
            make(people, "read", "trade", who="colleague")

        assert ApiToken.objects.count() == 1


class TestPage:
    @pytest.fixture
    def owner(self, people, client):
        """Return a browser whose person has just proved who they are."""
        people.buyer.set_password(PASSWORD)
        people.buyer.save()
        client.force_login(people.buyer)
        client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
        return client

    FORM = {"name": "nightly", "scopes": ["read", "trade"], "days": "90"}

    def test_shows_a_new_token_once(self, owner):
        answer = owner.post(reverse("accounts:tokens"), self.FORM)
        again = owner.get(reverse("accounts:tokens"))

        text = answer.context["token_text"]
        assert answer.content.decode().count(text) == 2
        assert text not in again.content.decode()
        assert "no-store" in answer["Cache-Control"]
        assert ask(text).json()["scopes"] == ["read", "trade"]
        token = ApiToken.objects.get()
        assert token.expiry - token.created == timedelta(days=90)
        assert AuditEntry.objects.filter(action="token.created").count() == 1

    def test_asks_who_it_is_and_then_goes_on_with_what_was_sent(self, people, client):
        people.buyer.set_password(PASSWORD)
        people.buyer.save()
        client.force_login(people.buyer)

        asked = client.post(reverse("accounts:tokens"), self.FORM)
        assert ApiToken.objects.count() == 0
        assert asked["Location"].startswith(reverse("account_reauthenticate"))
        answer = client.post(asked["Location"], {"password": PASSWORD})

        assert ApiToken.objects.get().name == "nightly"
        assert answer.context["token_text"] in answer.content.decode()

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("name", ""),
            ("name", "x" * 61),
            ("scopes", []),
            ("scopes", ["root"]),
            ("days", "7"),
            ("days", ""),
        ],
    )
    def test_refuses_by_its_field_what_cannot_be(self, owner, field, value):
        answer = owner.post(reverse("accounts:tokens"), self.FORM | {field: value})

        assert list(answer.context["form"].errors) == [field]
        assert ApiToken.objects.count() == 0

    def test_makes_no_more_than_twenty(self, people, owner):
        for _number in range(TOKENS_MAX):
            make(people)

        answer = owner.post(reverse("accounts:tokens"), self.FORM)

        assert answer.context["form"].non_field_errors() == [
            "You have 20 tokens. Revoke one first."
        ]
        with pytest.raises(TooManyTokens):
            make(people)
        assert ApiToken.objects.count() == TOKENS_MAX

    @pytest.mark.parametrize("who", ["colleague", "stranger", "admin"])
    def test_nobody_elses_token_can_be_revoked_or_seen(self, people, client, who):
        token, text = make(people)
        client.force_login(getattr(people, who))

        answer = client.post(reverse("accounts:token_revoke", args=[token.pk]))

        assert answer.status_code == 404
        assert ask(text).status_code == 200
        if who != "admin":
            assert token.token_key not in client.get(reverse("accounts:tokens")).content.decode()
