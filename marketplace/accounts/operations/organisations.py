"""Create organisations and change who belongs to them."""

from datetime import datetime

from django.conf import settings
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils.translation import override

from marketplace.accounts.locks import lock_organisation
from marketplace.accounts.mail import write_mail
from marketplace.accounts.models import Invitation, Membership, Organisation, User
from marketplace.accounts.operations.audit import record_act
from marketplace.accounts.queries import related_group_id

__all__ = [
    "AlreadyMember",
    "LastOwner",
    "TooManyInvitations",
    "accept_invitation",
    "create_organisation",
    "decline_invitation",
    "invite_member",
    "related_group_id",
    "remove_member",
    "withdraw_invitation",
]

# Open invitations of one organisation: more would make it a machine for sending mails.
INVITATIONS_MAX = 20


class AlreadyMember(Exception):
    """The address belongs to a member, or has an open invitation."""


class LastOwner(Exception):
    """The last owner cannot leave: nobody could change the organisation any more."""


class TooManyInvitations(Exception):
    """The organisation has the largest number of open invitations."""


@transaction.atomic
def create_organisation(*, owner_id: int, name: str, kind: str, now: datetime) -> Organisation:
    """Create an organisation with its first owner."""
    organisation = Organisation.objects.create(name=name, kind=kind, created_at=now)
    membership = Membership.objects.create(
        organisation=organisation, user_id=owner_id, role=Membership.Role.OWNER, created_at=now
    )
    _record(membership, action="organisation.created", actor_id=owner_id, now=now)
    return organisation


def invite_member(
    *, organisation_id: int, email: str, role: str, actor_id: int, now: datetime
) -> Invitation:
    """Ask the holder of an address, who may have no account yet, to become a member.

    Raises
    ------
    AlreadyMember
        They are a member, or are invited already.
    TooManyInvitations
        The organisation has ``INVITATIONS_MAX`` open invitations.
    """
    try:
        with transaction.atomic():
            organisation = lock_organisation(organisation_id=organisation_id)
            if organisation.memberships.filter(user__email__iexact=email).exists():
                raise AlreadyMember
            if organisation.invitations.count() >= INVITATIONS_MAX:
                raise TooManyInvitations
            invitation = Invitation.objects.create(
                organisation=organisation,
                email=email,
                role=role,
                invited_by_id=actor_id,
                created_at=now,
            )
            _record(invitation, action="member.invited", actor_id=actor_id, now=now)
            _write_to_invited(invitation)
    except IntegrityError as error:
        raise AlreadyMember from error
    return invitation


@transaction.atomic
def accept_invitation(*, invitation_id: int, user: User, now: datetime) -> Membership:
    """Make a person a member, as the invitation to their address says.

    Raises
    ------
    Invitation.DoesNotExist
        It is not theirs, or was withdrawn.
    """
    invitation = Invitation.objects.get(pk=invitation_id, email__iexact=user.email)
    lock_organisation(organisation_id=invitation.organisation_id)
    membership, _created = Membership.objects.get_or_create(
        organisation_id=invitation.organisation_id,
        user=user,
        defaults={"role": invitation.role, "created_at": now},
    )
    invitation.delete()
    _record(membership, action="member.joined", actor_id=user.pk, now=now)
    return membership


@transaction.atomic
def decline_invitation(*, invitation_id: int, user: User, now: datetime) -> None:
    """Refuse an invitation to a person's address.

    Raises
    ------
    Invitation.DoesNotExist
        It is not theirs, or was withdrawn.
    """
    invitation = Invitation.objects.get(pk=invitation_id, email__iexact=user.email)
    _record(invitation, action="invitation.declined", actor_id=user.pk, now=now)
    invitation.delete()


@transaction.atomic
def withdraw_invitation(
    *, invitation_id: int, organisation_id: int, actor_id: int, now: datetime
) -> None:
    """Take an invitation back.

    Raises
    ------
    Invitation.DoesNotExist
        It is another organisation's, or was answered.
    """
    invitation = Invitation.objects.get(pk=invitation_id, organisation_id=organisation_id)
    _record(invitation, action="invitation.withdrawn", actor_id=actor_id, now=now)
    invitation.delete()


@transaction.atomic
def remove_member(
    *, membership_id: int, organisation_id: int, actor_id: int, now: datetime
) -> None:
    """End a membership.

    Raises
    ------
    Membership.DoesNotExist
        It is another organisation's, or has ended.
    LastOwner
        No owner would be left.
    """
    lock_organisation(organisation_id=organisation_id)
    members = Membership.objects.filter(organisation_id=organisation_id)
    membership = members.get(pk=membership_id)
    others = members.exclude(pk=membership_id)
    if not others.filter(role=Membership.Role.OWNER).exists():
        raise LastOwner
    _record(membership, action="member.removed", actor_id=actor_id, now=now)
    membership.delete()


def _write_to_invited(invitation: Invitation) -> None:
    """Tell the invited person, in their language when they have an account."""
    reader = User.objects.filter(email__iexact=invitation.email).first()
    language = (reader or invitation.invited_by).language
    with override(language):
        address = settings.PUBLIC_URL.rstrip("/") + reverse("accounts:organisations")
    write_mail(
        to=invitation.email,
        language=language,
        template="invitation",
        context={
            "organisation": invitation.organisation.name,
            "inviter": invitation.invited_by.display_name,
            "role": Membership.Role(invitation.role).label,
            "address": address,
        },
    )


def _record(row: Membership | Invitation, *, action: str, actor_id: int, now: datetime) -> None:
    record_act(
        actor_id=actor_id,
        organisation_id=row.organisation_id,
        action=action,
        object_type=type(row).__name__.lower(),
        object_id=row.pk,
        now=now,
        details={"role": row.role} | ({"user": row.user_id} if isinstance(row, Membership) else {}),
    )
