"""Which mails a person wants."""

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse

from marketplace.accounts.models import ALWAYS_SENT, MailKind, NotificationSettings
from marketplace.accounts.operations.notifications import (
    LowBalance,
    MailIsNeeded,
    choose_mails,
    low_balance_of,
    wants,
)
from tests.factories import T0, UserFactory
from tests.personas import make_personas

pytestmark = pytest.mark.django_db


def choose(user, *, switched_off=(), hours=6, minor=0) -> None:
    choose_mails(
        user_id=user.pk,
        switched_off=switched_off,
        low_balance_hours=hours,
        low_balance_minor=minor,
        now=T0,
    )


def test_without_a_choice_every_mail_is_wanted():
    user = UserFactory.create()

    assert [kind for kind in MailKind if not wants(user_id=user.pk, kind=kind)] == []
    assert low_balance_of(user_id=user.pk) == LowBalance(hours=6, amount_minor=0)


def test_a_kind_that_is_switched_off_is_wanted_by_others_only():
    user, other = UserFactory.create(), UserFactory.create()

    choose(user, switched_off=[MailKind.RENTAL_READY], hours=12, minor=500)

    assert [kind for kind in MailKind if not wants(user_id=user.pk, kind=kind)] == ["rental_ready"]
    assert wants(user_id=other.pk, kind=MailKind.RENTAL_READY)
    assert low_balance_of(user_id=user.pk) == LowBalance(hours=12, amount_minor=500)


def test_a_later_choice_replaces_the_earlier_one():
    user = UserFactory.create()
    choose(user, switched_off=[MailKind.OPENING, MailKind.HOURS_SOLD])

    choose(user, switched_off=[MailKind.BID_EXPIRED])

    assert NotificationSettings.objects.get(user=user).switched_off == ["bid_expired"]


@pytest.mark.parametrize("kind", sorted(ALWAYS_SENT))
def test_mails_about_money_cannot_be_switched_off(kind):
    user = UserFactory.create()
    choose(user, switched_off=[MailKind.OPENING])

    with pytest.raises(MailIsNeeded):
        choose(user, switched_off=[kind])
    with pytest.raises(IntegrityError), transaction.atomic():
        NotificationSettings.objects.update(switched_off=[kind])

    assert NotificationSettings.objects.get(user=user).switched_off == ["opening"]
    assert wants(user_id=user.pk, kind=kind)


def test_a_kind_that_does_not_exist_is_a_mistake_of_ours():
    user = UserFactory.create()

    with pytest.raises(ValueError, match="newsletter"):
        wants(user_id=user.pk, kind="newsletter")


class TestPage:
    FORM = {
        "bid_expired": "on",
        "rental_ready": "on",
        "hours_sold": "on",
        "low_balance_hours": "12",
        "low_balance_units": "5",
    }

    def test_keeps_the_choice(self, client):
        people = make_personas()
        client.force_login(people.buyer)

        client.post(reverse("accounts:notifications"), self.FORM)

        stored = NotificationSettings.objects.get(user=people.buyer)
        assert stored.switched_off == ["opening", "rental_ending"]
        assert low_balance_of(user_id=people.buyer.pk) == LowBalance(hours=12, amount_minor=500)
        form = client.get(reverse("accounts:notifications")).context["form"]
        assert {field.name: field.value() for field in form.choices}["opening"] is False

    def test_offers_no_switch_for_what_is_always_sent(self, client):
        client.force_login(make_personas().buyer)

        client.post(reverse("accounts:notifications"), self.FORM | {"payout": ""})
        page = client.get(reverse("accounts:notifications"))

        names = {field.name for field in page.context["form"].choices}
        assert names == set(MailKind.values) - ALWAYS_SENT
        assert "Always sent" in page.content.decode()

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("low_balance_hours", "0"),
            ("low_balance_hours", "169"),
            ("low_balance_hours", "six"),
            ("low_balance_hours", ""),
            ("low_balance_units", "-1"),
            ("low_balance_units", "5001"),
            ("low_balance_units", "2,80"),
        ],
    )
    def test_refuses_by_its_field_what_cannot_be(self, client, field, value):
        client.force_login(make_personas().buyer)

        answer = client.post(reverse("accounts:notifications"), self.FORM | {field: value})

        assert list(answer.context["form"].errors) == [field]
        assert NotificationSettings.objects.count() == 0
