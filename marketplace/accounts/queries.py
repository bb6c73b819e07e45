"""Reads across people and organisations."""

from django.db import connection

from marketplace.accounts.models import ApiToken, Invitation, Mail, Membership, SshKey, User

# Both ends of a step are members who can act: a viewer relates nobody.
RELATED = """
WITH RECURSIVE related (id) AS (
    SELECT %s::bigint
    UNION
    SELECT theirs.organisation_id
    FROM related
    JOIN accounts_membership AS ours
      ON ours.organisation_id = related.id AND ours.role <> 'viewer'
    JOIN accounts_membership AS theirs
      ON theirs.user_id = ours.user_id AND theirs.role <> 'viewer'
)
SELECT min(id) FROM related
"""


def related_group_id(*, organisation_id: int) -> int:
    """Return the number of an organisation's related group.

    It is the smallest number among the organisations connected to this one by a shared owner,
    trader or billing member, near or far. Orders of one group never trade with each other.
    """
    with connection.cursor() as cursor:
        cursor.execute(RELATED, [organisation_id])
        (group_id,) = cursor.fetchone()
    assert isinstance(group_id, int)
    return group_id


def membership_for(*, user_id: int, organisation_id: int | None) -> Membership | None:
    """Return the membership a person acts under: the asked one, else the personal, else the first."""
    memberships = list(
        Membership.objects.filter(user_id=user_id).select_related("organisation").order_by("id")
    )
    for membership in memberships:
        if membership.organisation_id == organisation_id:
            return membership
    for membership in memberships:
        if membership.organisation.personal_of_id == user_id:
            return membership
    return memberships[0] if memberships else None


def membership_in(*, user_id: int, organisation_id: int) -> Membership | None:
    """Return a person's membership in one organisation."""
    return Membership.objects.filter(user_id=user_id, organisation_id=organisation_id).first()


def memberships_of(*, user_id: int) -> list[Membership]:
    """Return a person's memberships with their organisations, the oldest first."""
    return list(
        Membership.objects.filter(user_id=user_id).select_related("organisation").order_by("id")
    )


def members_of(*, organisation_id: int) -> list[Membership]:
    """Return the members of an organisation, the oldest first."""
    return list(
        Membership.objects.filter(organisation_id=organisation_id)
        .select_related("user")
        .order_by("id")
    )


def invitations_to(*, user: User) -> list[Invitation]:
    """Return the invitations sent to a person's address.

    The address of a signed-in person is verified: sign-in is refused before.
    """
    return list(
        Invitation.objects.filter(email__iexact=user.email)
        .select_related("organisation", "invited_by")
        .order_by("id")
    )


def invitations_of(*, organisation_id: int) -> list[Invitation]:
    """Return the open invitations of an organisation, the oldest first."""
    return list(Invitation.objects.filter(organisation_id=organisation_id).order_by("id"))


def keys_of(*, user_id: int) -> list[SshKey]:
    """Return a person's SSH keys, the oldest first."""
    return list(SshKey.objects.filter(user_id=user_id).order_by("id"))


def tokens_of(*, user_id: int) -> list[ApiToken]:
    """Return a person's API tokens with their organisations, the newest first."""
    return list(
        ApiToken.objects.filter(user_id=user_id).select_related("organisation").order_by("-id")
    )


def latest_mails(*, to: str, limit: int) -> list[Mail]:
    """Return the newest mails, those to addresses that contain ``to`` when it is given."""
    mails = Mail.objects.order_by("-id")
    if to:
        mails = mails.filter(to_address__icontains=to)
    return list(mails[:limit])
