"""Journeys of people through the pages, without script."""

import re

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from marketplace.accounts.clock import now
from marketplace.accounts.models import AuditEntry, Mail, Membership, Organisation, User
from marketplace.accounts.operations.people import (
    create_verified_user,
    current_totp_code,
    enrol_totp,
)

pytestmark = pytest.mark.django_db

PASSWORD = "four unrelated quiet words"
SECRET = "JBSWY3DPEHPK3PXP"


def latest_code(address: str) -> str:
    mail = Mail.objects.filter(to_address=address).order_by("-id").first()
    assert mail is not None
    found = re.search(r"^[A-Z0-9]{3,4}-?[A-Z0-9]{3,4}$", mail.body_text, re.MULTILINE)
    assert found, mail.body_text
    return found.group()


def sign_up(client: Client, address: str, language: str = "en"):
    with override(language):
        page = reverse("account_signup")
    return client.post(
        page, {"email": address, "password1": PASSWORD, "accepts_terms": "on"}, follow=True
    )


def person(
    address: str = "ada@example.com", *, language: str = "en", is_staff: bool = False
) -> User:
    return create_verified_user(
        email=address,
        password=PASSWORD,
        name="Ada",
        language=language,
        now=now(),
        is_staff=is_staff,
    )


def test_a_visitor_signs_up_confirms_the_code_and_acts_for_a_personal_organisation(client):
    answer = sign_up(client, "New@Example.com")
    assert answer.redirect_chain[-1][0] == reverse("account_email_verification_sent")

    answer = client.post(
        reverse("account_email_verification_sent"), {"code": latest_code("new@example.com")}
    )

    assert answer.status_code == 302
    user = User.objects.get()
    assert (user.email, user.language, user.time_zone) == ("new@example.com", "en", "Europe/Paris")
    assert EmailAddress.objects.get(user=user).verified
    organisation = user.personal_organisation
    assert organisation.kind == Organisation.Kind.PERSON
    assert Membership.objects.get(user=user).role == Membership.Role.OWNER
    assert client.get(reverse("accounts:profile")).context["user"] == user
    assert AuditEntry.objects.filter(action="person.signed_up", object_id=str(user.pk)).count() == 1


def test_the_language_of_the_page_becomes_the_persons(client):
    sign_up(client, "neuve@example.com", language="fr")

    assert User.objects.get().language == "fr"


def test_a_wrong_code_is_refused_and_three_end_the_attempt(client):
    sign_up(client, "new@example.com")
    page = reverse("account_email_verification_sent")

    refused = [client.post(page, {"code": "WRONG1"}) for _attempt in range(3)]

    assert [answer.status_code for answer in refused] == [200, 200, 302]
    assert "Incorrect code." in refused[0].content.decode()
    assert not EmailAddress.objects.get().verified


def test_a_new_code_replaces_the_old_one(client):
    sign_up(client, "new@example.com")
    old = latest_code("new@example.com")
    page = reverse("account_email_verification_sent")

    client.post(page, {"action": "resend"})

    assert client.post(page, {"code": old}).status_code == 200
    assert client.post(page, {"code": latest_code("new@example.com")}).status_code == 302


def test_signing_up_with_a_taken_address_tells_its_holder_and_nobody_else(client):
    person("taken@example.com")

    answer = sign_up(client, "taken@example.com")

    assert answer.redirect_chain[-1][0] == reverse("account_email_verification_sent")
    assert User.objects.count() == 1
    mail = Mail.objects.get()
    assert mail.to_address == "taken@example.com"
    assert mail.subject == "You have an account already"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"email": "no address"}, "email"),
        ({"password1": "short"}, "password1"),
        ({"email": ""}, "email"),
        ({"accepts_terms": ""}, "accepts_terms"),
    ],
)
def test_bad_sign_up_names_the_field_keeps_what_was_typed_and_creates_nothing(client, given, field):
    form = {"email": "new@example.com", "password1": PASSWORD, "accepts_terms": "on"} | given

    answer = client.post(reverse("account_signup"), form)

    assert answer.status_code == 200
    assert list(answer.context["form"].errors) == [field]
    assert answer.context["form"]["email"].value() == form["email"]
    assert (User.objects.count(), Organisation.objects.count(), Mail.objects.count()) == (0, 0, 0)


def test_a_person_signs_in_with_the_password_and_out_again(client):
    user = person()

    answer = client.post(reverse("account_login"), {"login": user.email, "password": PASSWORD})
    assert answer.status_code == 302
    assert client.get(reverse("accounts:profile")).status_code == 200

    client.post(reverse("account_logout"))
    assert client.get(reverse("accounts:profile")).status_code == 302


def test_sign_in_goes_on_in_the_persons_language(client):
    user = person(language="fr")

    answer = client.post("/en/account/sign-in/", {"login": user.email, "password": PASSWORD})

    assert answer["Location"].startswith("/fr/")


def test_a_wrong_password_is_refused_without_saying_which_of_the_two_is_wrong(client):
    user = person()
    page = reverse("account_login")

    wrong = client.post(page, {"login": user.email, "password": "another long one"})
    unknown = client.post(page, {"login": "nobody@example.com", "password": "another long one"})

    assert wrong.context["form"].errors == unknown.context["form"].errors
    assert "_auth_user_id" not in client.session


def test_an_unconfirmed_person_is_sent_to_the_code_instead_of_in(client):
    sign_up(client, "new@example.com")
    other = Client()

    answer = other.post(
        reverse("account_login"), {"login": "new@example.com", "password": PASSWORD}
    )

    assert answer["Location"] == reverse("account_email_verification_sent")
    assert "_auth_user_id" not in other.session


def test_a_forgotten_password_is_replaced_by_code(client):
    user = person()

    client.post(reverse("account_reset_password"), {"email": user.email})
    client.post(reverse("account_confirm_password_reset_code"), {"code": latest_code(user.email)})
    new = "another four quiet words"
    client.post(reverse("account_complete_password_reset"), {"password1": new, "password2": new})

    user.refresh_from_db()
    assert user.check_password(new)
    assert AuditEntry.objects.filter(action="access.password_reset", actor=user).count() == 1


def test_a_person_with_an_authenticator_app_is_asked_for_its_code(client):
    user = person()
    enrol_totp(user=user, secret=SECRET)

    answer = client.post(reverse("account_login"), {"login": user.email, "password": PASSWORD})
    assert answer["Location"] == reverse("mfa_authenticate")
    assert "_auth_user_id" not in client.session
    refused = client.post(reverse("mfa_authenticate"), {"code": "000000"})
    client.post(reverse("mfa_authenticate"), {"code": current_totp_code(user)})

    assert refused.status_code == 200
    assert client.session["_auth_user_id"] == str(user.pk)


@pytest.mark.django_db(transaction=True)
def test_a_person_adds_an_authenticator_app_and_gets_recovery_codes(client):
    user = person()
    client.post(reverse("account_login"), {"login": user.email, "password": PASSWORD})
    asked = client.get(reverse("mfa_activate_totp"))
    assert asked["Location"].startswith(reverse("account_reauthenticate"))
    confirm_password(client)
    page = client.get(reverse("mfa_activate_totp"))
    assert 'src="data:image/svg+xml;base64,' in page.content.decode()
    secret = page.context["form"].secret

    answer = client.post(reverse("mfa_activate_totp"), {"code": code_of(secret)})

    assert answer["Location"] == reverse("mfa_view_recovery_codes")
    types = set(Authenticator.objects.filter(user=user).values_list("type", flat=True))
    assert types == {"totp", "recovery_codes"}
    assert len(client.get(answer["Location"]).context["unused_codes"]) == 10
    assert AuditEntry.objects.filter(action="access.totp_activated", actor=user).count() == 1
    assert Mail.objects.filter(subject="Authenticator app added").count() == 1


def confirm_password(client: Client) -> None:
    """Answer what is asked before a change of access."""
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})


def code_of(secret: str) -> str:
    from allauth.mfa.totp.internal import auth

    counters = list(auth.yield_hotp_counters_from_time())
    return auth.format_hotp_value(auth.hotp_value(secret, counters[len(counters) // 2]))


def test_staff_without_a_second_factor_is_sent_to_add_one_and_with_one_is_let_in(client):
    staff = person("staff@example.com", is_staff=True)
    client.force_login(staff)

    answer = client.get(reverse("admin:login"), {"next": reverse("admin:index")})
    assert answer["Location"] == reverse("mfa_activate_totp")
    assert client.get(reverse("admin:accounts_user_changelist")).status_code == 302

    enrol_totp(user=staff, secret=SECRET)
    assert client.get(reverse("admin:accounts_user_changelist")).status_code == 200


def test_the_admins_sign_in_is_the_sites_own_and_people_find_no_admin_there(client):
    page = reverse("admin:login")

    assert client.get(page)["Location"].startswith(reverse("account_login"))
    client.force_login(person())
    assert client.get(page).status_code == 404


def test_staff_cannot_remove_the_last_second_factor(client):
    staff = person("staff@example.com", is_staff=True)
    enrol_totp(user=staff, secret=SECRET)
    client.post(reverse("account_login"), {"login": staff.email, "password": PASSWORD})
    client.post(reverse("mfa_authenticate"), {"code": current_totp_code(staff)})

    confirm_password(client)

    answer = client.post(reverse("mfa_deactivate_totp"))

    assert answer.status_code == 200
    assert "Members of the staff need a second factor." in answer.content.decode()
    assert Authenticator.objects.filter(user=staff, type="totp").count() == 1


def test_sign_in_is_limited_by_address(client, settings, own_cache):
    settings.ACCOUNT_RATE_LIMITS = {"login": "2/m/ip", "login_failed": "100/m/ip"}
    given = {"login": "nobody@example.com", "password": "wrong"}

    answers = [client.post(reverse("account_login"), given) for _attempt in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert "Too many attempts" in answers[2].content.decode()


def test_every_limit_of_allauth_is_on_outside_the_tests():
    from config.settings import base

    assert not hasattr(base, "ACCOUNT_RATE_LIMITS")


def test_mails_are_written_in_the_readers_language_as_text_and_html(client):
    person("lea@example.com", language="fr")

    client.post("/en/account/password/forgotten/", {"email": "lea@example.com"})

    mail = Mail.objects.get()
    assert '<html lang="fr">' in mail.body_html
    assert latest_code("lea@example.com") in mail.body_html
