"""Create people and what belongs to each of them."""

from datetime import datetime

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from allauth.mfa.utils import decrypt
from django.conf import settings
from django.db import transaction

from marketplace.accounts.models import Membership, Organisation, User
from marketplace.accounts.operations.audit import record_act
from marketplace.accounts.operations.legal import accept_terms


class NoAuthenticatorApp(Exception):
    """The person has no authenticator app, so there is no code to show."""


@transaction.atomic
def create_personal_organisation(*, user: User, now: datetime) -> Organisation:
    """Give a new person the organisation that owns what they buy for themselves."""
    organisation = Organisation.objects.create(
        name=user.display_name, personal_of=user, created_at=now
    )
    Membership.objects.create(
        organisation=organisation, user=user, role=Membership.Role.OWNER, created_at=now
    )
    record_act(
        actor_id=user.pk,
        organisation_id=organisation.pk,
        action="person.signed_up",
        object_type="user",
        object_id=user.pk,
        now=now,
    )
    return organisation


@transaction.atomic
def create_verified_user(  # noqa: PLR0913  a person has these facts
    *,
    email: str,
    password: str | None,
    name: str,
    language: str,
    now: datetime,
    is_staff: bool = False,
    accepts_terms: bool = False,
) -> User:
    """Create a person whose address counts as checked, with a personal organisation.

    Without a password they cannot sign in until they set one by mail. Who has not accepted the
    terms, as people of the demo have, is asked before their first order.
    Staff made this way may do everything in the administration, once they have a second factor.
    """
    user = User.objects.create_user(
        email=email,
        password=password,
        name=name,
        language=language,
        is_staff=is_staff,
        is_superuser=is_staff,
    )
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    create_personal_organisation(user=user, now=now)
    if accepts_terms:
        accept_terms(user_id=user.pk, shown=None, language=language, now=now)
    return user


@transaction.atomic
def update_profile(*, user: User, name: str, language: str, time_zone: str, now: datetime) -> None:
    """Change what a person says about themselves; the personal organisation follows the name."""
    user.name, user.language, user.time_zone = name, language, time_zone
    user.save(update_fields=["name", "language", "time_zone"])
    Organisation.objects.filter(personal_of=user).update(name=user.display_name)


def enrol_totp(*, user: User, secret: str) -> None:
    """Give a person an authenticator app with this base-32 secret, in place of any other."""
    with transaction.atomic():
        Authenticator.objects.filter(user=user, type=Authenticator.Type.TOTP).delete()
        totp.TOTP.activate(user, secret)


def current_totp_code(user: User) -> str:
    """Return the code that a person's authenticator app shows now.

    For the demo's logins and tests: the secret is read from the database.

    Raises
    ------
    NoAuthenticatorApp
        The person has none.
    """
    assert settings.IS_DEMO, "codes are shown in demo and tests only"
    row = Authenticator.objects.filter(user=user, type=Authenticator.Type.TOTP).first()
    if row is None:
        raise NoAuthenticatorApp
    secret = decrypt(row.data["secret"])
    counters = list(totp.yield_hotp_counters_from_time())
    return str(totp.format_hotp_value(totp.hotp_value(secret, counters[len(counters) // 2])))
