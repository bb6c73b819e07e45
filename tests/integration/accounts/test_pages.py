"""Each page of people, tried by owner, colleague, stranger and nobody, in both languages."""

import pytest
from django.contrib.sessions.backends.base import SessionBase
from django.http import Http404, HttpResponse
from django.test import RequestFactory
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override

from marketplace.accounts.http import owning, paying, signed_in, trading
from marketplace.accounts.models import AuditEntry, User
from marketplace.accounts.operations.organisations import create_organisation
from marketplace.accounts.operations.people import create_verified_user, enrol_totp
from tests.factories import T0, MembershipFactory, OrganisationFactory, UserFactory
from tests.personas import make_personas

pytestmark = pytest.mark.django_db

OPEN = [
    "account_login",
    "account_signup",
    "account_reset_password",
    "account_inactive",
    "account_password_reset_completed",
    "accounts:outbox",
]
SIGNED_IN = [
    "accounts:profile",
    "accounts:keys",
    "accounts:devices",
    "accounts:tokens",
    "accounts:notifications",
    "accounts:export",
    "accounts:close",
    "accounts:accept_terms",
    "accounts:organisations",
    "accounts:members",
    "account_email",
    "account_change_password",
    "account_reauthenticate",
    "account_logout",
    "mfa_index",
    "mfa_list_webauthn",
]


@pytest.fixture
def kept_state(settings, own_cache):
    """Keep what pages remember for the whole test, apart from what other processes do."""
    settings.MARKET_STATE_SECONDS = 1_000


def sent_to_sign_in(answer: HttpResponse) -> bool:
    return answer.status_code == 302 and "/account/sign-in/" in answer["Location"]


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("name", OPEN)
def test_pages_on_the_way_in_are_open(client, name, language):
    with override(language):
        page = reverse(name)

    answer = client.get(page)

    assert answer.status_code == 200
    assert f'<html lang="{language}"' in answer.content.decode()
    assert answer.content.decode().count("<h1") == 1


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("name", SIGNED_IN)
def test_settings_are_shown_to_their_owner(client, name, language):
    people = make_personas()
    client.force_login(people.buyer)
    with override(language):
        page = reverse(name)

    answer = client.get(page)

    assert answer.status_code == 200
    assert answer.content.decode().count("<h1") == 1


@pytest.mark.parametrize("name", [name for name in SIGNED_IN if name != "account_logout"])
def test_nobody_is_sent_to_sign_in(client, name):
    page = reverse(name)

    answer = client.get(page)

    assert sent_to_sign_in(answer)
    assert page in answer["Location"]


@pytest.mark.parametrize(
    "name", ["accounts:switch", "accounts:key_remove", "accounts:member_remove"]
)
def test_nobody_changes_nothing(client, name):
    answer = client.post(reverse(name, args=[1]))

    assert sent_to_sign_in(answer)


def test_a_colleague_who_is_no_owner_finds_no_members_page(client):
    people = make_personas()
    client.force_login(people.colleague)

    assert client.get(reverse("accounts:members")).status_code == 404


def test_pages_carry_no_inline_script_or_style(client):
    people = make_personas()
    client.force_login(people.buyer)

    for name in SIGNED_IN:
        answer = client.get(reverse(name))
        text = answer.content.decode()
        assert " style=" not in text, name
        assert "script-src 'self'" in answer["Content-Security-Policy"]


@pytest.mark.parametrize(("language", "slug"), [("en", "/en/account/"), ("fr", "/fr/compte/")])
def test_addresses_are_in_the_language_of_the_page(language, slug):
    with override(language):
        addresses = {reverse(name) for name in OPEN + SIGNED_IN}

    assert all(address.startswith(slug) for address in addresses)
    assert len(addresses) == len(OPEN) + len(SIGNED_IN)


def test_the_profile_is_saved_and_goes_on_in_the_new_language(client):
    people = make_personas()
    client.force_login(people.buyer)

    answer = client.post(
        reverse("accounts:profile"),
        {"name": "Ada Lovelace", "language": "fr", "time_zone": "America/New_York"},
    )

    people.buyer.refresh_from_db()
    saved = (people.buyer.name, people.buyer.language, people.buyer.time_zone)
    assert saved == ("Ada Lovelace", "fr", "America/New_York")
    people.buyer_organisation.refresh_from_db()
    assert people.buyer_organisation.name == "Ada Lovelace"
    assert answer["Location"].startswith("/fr/")
    assert answer.cookies["django_language"].value == "fr"


@pytest.mark.parametrize(
    ("given", "field"),
    [({"time_zone": "Mars/Olympus"}, "time_zone"), ({"language": "de"}, "language")],
)
def test_a_refused_profile_names_the_field_and_changes_nothing(client, given, field):
    people = make_personas()
    client.force_login(people.buyer)

    answer = client.post(
        reverse("accounts:profile"),
        {"name": "Other", "language": "en", "time_zone": "Europe/Paris"} | given,
    )

    assert list(answer.context["form"].errors) == [field]
    assert answer.context["form"]["name"].value() == "Other"
    assert User.objects.get(pk=people.buyer.pk).name == "Buyer"


def test_times_are_shown_in_the_viewers_zone_and_only_there(client):
    people = make_personas()
    people.buyer.time_zone = "Asia/Tokyo"
    people.buyer.save()
    client.force_login(people.buyer)

    text = client.get(reverse("accounts:profile")).content.decode()

    assert "Tokyo" in text or "Japan" in text or "JST" in text
    assert timezone.get_current_timezone_name() == "UTC"


def test_an_unknown_zone_in_the_database_falls_back_to_utc(client):
    people = make_personas()
    User.objects.filter(pk=people.buyer.pk).update(time_zone="../etc/passwd")
    client.force_login(people.buyer)

    assert client.get(reverse("accounts:profile")).status_code == 200


def test_a_signed_in_page_asks_little_of_the_database(
    client, kept_state, django_assert_num_queries
):
    people = make_personas()
    client.force_login(people.buyer)
    client.get(reverse("accounts:keys"))

    # The session, the person, their membership, the keys.
    with django_assert_num_queries(4):
        client.get(reverse("accounts:keys"))


def test_the_list_of_members_asks_the_same_for_two_and_for_ten(
    client, kept_state, django_assert_num_queries
):
    people = make_personas()
    client.force_login(people.buyer)
    for _number in range(10):
        MembershipFactory.create(
            organisation=people.buyer_organisation, user=UserFactory.create(), role="viewer"
        )
    client.get(reverse("accounts:keys"))

    with django_assert_num_queries(5):
        client.get(reverse("accounts:members"))


@pytest.mark.parametrize(
    ("role", "rights"),
    [
        ("owner", [200, 200, 200, 200]),
        ("trader", [200, 200, 404, 404]),
        ("billing", [200, 404, 200, 404]),
        ("viewer", [200, 404, 404, 404]),
    ],
)
def test_a_role_opens_its_pages_and_no_others(role, rights):
    user = UserFactory.create()
    mine = MembershipFactory.create(user=user, organisation=OrganisationFactory.create(), role=role)

    def page(request):
        assert (request.membership, request.organisation) == (mine, mine.organisation)
        return HttpResponse()

    assert [
        status_of(guard(page), user) for guard in (signed_in, trading, paying, owning)
    ] == rights


def status_of(view, user):
    request = RequestFactory().get("/")
    request.user, request.session = user, SessionBase()
    try:
        return view(request).status_code
    except Http404:
        return 404


def test_templates_see_no_organisation_for_nobody(client):
    answer = client.get(reverse("account_login"))

    assert answer.wsgi_request.organisation is None
    assert answer.wsgi_request.membership is None


def test_another_organisation_is_used_when_the_session_names_a_foreign_one(client):
    people = make_personas()
    client.force_login(people.buyer)
    session = client.session
    session["organisation_id"] = people.stranger_organisation.pk
    session.save()

    current = client.get(reverse("accounts:organisations")).context["current_id"]

    assert current == people.buyer_organisation.pk


@pytest.mark.parametrize(
    "model",
    [
        "user",
        "organisation",
        "membership",
        "auditentry",
        "mail",
        "apitoken",
        "contactmessage",
        "termsacceptance",
    ],
)
def test_staff_reads_people_in_the_administration(client, model):
    staff = create_verified_user(
        email="s@example.com", password="x", name="S", language="en", now=T0, is_staff=True
    )
    enrol_totp(user=staff, secret="JBSWY3DPEHPK3PXP")
    create_organisation(owner_id=staff.pk, name="A", kind="company", now=T0)
    client.force_login(staff)

    answer = client.get(reverse(f"admin:accounts_{model}_changelist"))
    added = client.get(reverse(f"admin:accounts_{model}_add"))

    assert (answer.status_code, added.status_code) == (200, 403)


def test_the_audit_log_cannot_be_changed_in_the_administration(client):
    staff = create_verified_user(
        email="s@example.com", password="x", name="S", language="en", now=T0, is_staff=True
    )
    enrol_totp(user=staff, secret="JBSWY3DPEHPK3PXP")
    client.force_login(staff)
    entry = AuditEntry.objects.latest("id")

    page = reverse("admin:accounts_auditentry_change", args=[entry.pk])

    assert client.get(page).status_code == 200
    assert client.post(page, {"action": "other"}).status_code == 403
    assert (
        client.post(
            reverse("admin:accounts_auditentry_delete", args=[entry.pk]), {"post": "yes"}
        ).status_code
        == 403
    )
