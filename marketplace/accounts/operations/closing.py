"""Close an account: money first, then the person becomes a number."""

from datetime import datetime

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from marketplace.accounts.locks import lock_organisation, lock_user
from marketplace.accounts.mail import write_mail
from marketplace.accounts.models import (
    ContactMessage,
    Invitation,
    Mail,
    Membership,
    NotificationSettings,
    Organisation,
    User,
)
from marketplace.accounts.operations.audit import record_act
from marketplace.accounts.operations.devices import end_all_devices
from marketplace.accounts.registry import Obstacle, obstacles

# No mail can ever reach an address under this name.
NOWHERE = "closed.invalid"


class CannotClose(Exception):
    """Something stands against closing the account; nothing was changed."""

    def __init__(self, found: list[Obstacle]) -> None:
        super().__init__(len(found))
        self.obstacles = found


def obstacles_of(*, user_id: int) -> list[Obstacle]:
    """Return what stands against closing a person's account, in words of the language in use."""
    user = User.objects.get(pk=user_id)
    owned = _owned_alone(user_id)
    found = [_staff_obstacle(user)] if user.is_staff else []
    found += [_members_obstacle(row) for row in owned if row.memberships.count() > 1]
    return found + obstacles(organisation_ids=[row.pk for row in owned])


@transaction.atomic
def close_account(*, user_id: int, now: datetime) -> None:
    """Switch a person off and remove what names them. Orders and the ledger stay.

    Their organisations are frozen first, under a lock that every order takes too: nothing can be
    placed between the check and the end.

    Raises
    ------
    CannotClose
        With the reasons; nothing is changed.
    """
    user = lock_user(user_id=user_id)
    owned = [lock_organisation(organisation_id=row.pk) for row in _owned_alone(user_id)]
    found = obstacles_of(user_id=user_id)
    if found:
        raise CannotClose(found)
    address, language = user.email, user.language
    for organisation in owned:
        _close_organisation(organisation)
    _remove_what_names(user, now=now)
    record_act(
        actor_id=user_id,
        organisation_id=None,
        action="account.closed",
        object_type="user",
        object_id=user_id,
        now=now,
        details={"organisations": [row.pk for row in owned]},
    )
    write_mail(to=address, language=language, template="account_closed", context={})


def _owned_alone(user_id: int) -> list[Organisation]:
    """Return the organisations without an owner but this person, by their numbers."""
    owners = Membership.objects.filter(role=Membership.Role.OWNER)
    mine = owners.filter(user_id=user_id).values("organisation_id")
    shared = owners.exclude(user_id=user_id).values("organisation_id")
    rows = Organisation.objects.filter(pk__in=mine).exclude(pk__in=shared)
    return list(rows.order_by("pk"))


def _close_organisation(organisation: Organisation) -> None:
    organisation.is_frozen = True
    if organisation.personal_of_id is not None:
        organisation.name = f"Closed account {organisation.personal_of_id}"
    organisation.save(update_fields=["is_frozen", "name"])
    organisation.invitations.all().delete()


def _remove_what_names(user: User, *, now: datetime) -> None:
    end_all_devices(user_id=user.pk, now=now)
    for rows in (user.api_tokens, user.ssh_keys, user.memberships):
        rows.all().delete()
    for model in (EmailAddress, Authenticator, NotificationSettings):
        model.objects.filter(user_id=user.pk).delete()
    Invitation.objects.filter(email__iexact=user.email).delete()
    Mail.objects.filter(to_address__iexact=user.email).delete()
    number = f"closed-{user.pk}@{NOWHERE}"
    ContactMessage.objects.filter(user=user).update(name="", email=number)
    user.email, user.name = number, ""
    user.is_active = False
    user.set_unusable_password()
    user.save(update_fields=["email", "name", "is_active", "password"])


def _staff_obstacle(user: User) -> Obstacle:
    return Obstacle(
        organisation="",
        reason=_("You are a member of the staff: an administrator has to end that first."),
        address=reverse("accounts:contact"),
        action=_("Write to us"),
    )


def _members_obstacle(organisation: Organisation) -> Obstacle:
    return Obstacle(
        organisation=organisation.name,
        reason=_("It has other members, and you are its only owner: make one of them an owner."),
        address=reverse("accounts:organisations"),
        action=_("Organisations"),
    )
