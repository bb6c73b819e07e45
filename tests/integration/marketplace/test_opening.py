"""The opening: told once to every confirmed account that wants to know."""

import pytest
from allauth.account.models import EmailAddress

from marketplace.accounts.models import Mail, MailKind, User
from marketplace.accounts.operations.notifications import choose_mails
from marketplace.models import Intention, MarketState, OpeningNotice
from marketplace.operations.market_state import set_market_state
from marketplace.operations.opening import tell_of_opening
from tests.exchange import HOUR, match
from tests.factories import T0, GpuModelFactory, MembershipFactory, UserFactory

pytestmark = pytest.mark.django_db

State = MarketState.State


def person(*, email: str, is_verified: bool = True, **facts: object) -> User:
    user: User = UserFactory.create(email=email, **facts)
    EmailAddress.objects.create(user=user, email=email, verified=is_verified, primary=True)
    return user


def set_state(state: MarketState.State, *, now=T0, gpu_model_id: int | None = None) -> None:
    staff = User.objects.filter(is_staff=True).first() or UserFactory.create(is_staff=True)
    set_market_state(
        state=state, reason="Test", staff_id=staff.pk, now=now, gpu_model_id=gpu_model_id
    )


def test_is_told_once_to_each_confirmed_account_in_its_language():
    person(email="a@example.com")
    person(email="b@example.com", language="fr")
    person(email="unconfirmed@example.com", is_verified=False)
    person(email="gone@example.com", is_active=False)

    set_state(State.OPEN)
    told = [tell_of_opening(now=T0), tell_of_opening(now=T0 + HOUR)]

    assert told == [2, 0]
    english, french = Mail.objects.order_by("to_address")
    assert (english.to_address, english.subject) == ("a@example.com", "GPU Bourse is open")
    assert "http://127.0.0.1:8000/en/gpus/" in english.body_text
    assert english.unsubscribe_url.startswith("http://127.0.0.1:8000/en/account/unsubscribe/")
    assert (french.to_address, french.subject) == ("b@example.com", "GPU Bourse est ouvert")
    assert "http://127.0.0.1:8000/fr/gpu/" in french.body_text
    assert set(OpeningNotice.objects.values_list("told_at", flat=True)) == {T0}


def test_leads_who_saved_intentions_to_them():
    user = person(email="a@example.com")
    organisation = MembershipFactory.create(user=user).organisation
    for key in ("one", "two"):
        Intention.objects.create(
            organisation=organisation,
            saved_by=user,
            gpu_model=GpuModelFactory.create(),
            gpus=1,
            hours=2,
            currency="EUR",
            key=key,
            saved_at=T0,
        )

    set_state(State.OPEN)
    tell_of_opening(now=T0)

    (mail,) = Mail.objects.all()
    assert "You saved 2 intentions." in mail.body_text
    assert "http://127.0.0.1:8000/en/intentions/" in mail.body_text


def test_is_not_told_to_who_switched_it_off_now_or_later():
    user = person(email="a@example.com")
    choose_mails(
        user_id=user.pk,
        switched_off=[MailKind.OPENING],
        low_balance_hours=6,
        low_balance_minor=0,
        now=T0,
    )

    set_state(State.OPEN)
    tell_of_opening(now=T0)

    assert Mail.objects.count() == 0
    assert OpeningNotice.objects.get().told_at == T0


def test_is_told_neither_twice_nor_to_newcomers_after_a_halt():
    person(email="a@example.com")
    set_state(State.OPEN)
    tell_of_opening(now=T0)
    person(email="newcomer@example.com")

    set_state(State.HALTED, now=T0 + HOUR)
    set_state(State.OPEN, now=T0 + 2 * HOUR)
    match(T0 + 3 * HOUR)
    tell_of_opening(now=T0 + 3 * HOUR)

    assert list(Mail.objects.values_list("to_address", flat=True)) == ["a@example.com"]


def test_waits_while_the_market_is_halted_again_before_anybody_was_told():
    person(email="a@example.com")
    set_state(State.OPEN)
    set_state(State.HALTED)

    while_halted = tell_of_opening(now=T0)
    set_state(State.OPEN, now=T0 + HOUR)
    match(T0 + 2 * HOUR)
    once_open = tell_of_opening(now=T0 + 2 * HOUR)

    assert (while_halted, once_open) == (0, 1)


def test_of_one_model_is_no_opening_of_the_market():
    person(email="a@example.com")
    set_state(State.OPEN, gpu_model_id=GpuModelFactory.create().pk)

    assert OpeningNotice.objects.count() == 0


def test_costs_as_many_statements_for_ten_as_for_one(django_assert_max_num_queries):
    for number in range(10):
        person(email=f"p{number}@example.com")
    set_state(State.OPEN)

    with django_assert_max_num_queries(10):
        assert tell_of_opening(now=T0) == 10

    assert Mail.objects.count() == 10
