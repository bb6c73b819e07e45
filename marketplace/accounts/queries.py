"""Reads across people and organisations."""

from datetime import date

from django.db import connection
from django.db.models import F, OuterRef, Q, Subquery

from marketplace.accounts.models import (
    ACCEPTED_BY_CUSTOMERS,
    ApiToken,
    Invitation,
    LegalText,
    Mail,
    Membership,
    SshKey,
    TermsAcceptance,
    User,
)

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


def legal_versions(*, key: str, language: str) -> list[LegalText]:
    """Return the published versions of a text in a language, the one in force first."""
    published = LegalText.objects.filter(key=key, state=LegalText.State.PUBLISHED)
    return list(published.filter(language=language).order_by("-version", "-id"))


def terms_to_accept(*, user_id: int) -> dict[str, date]:
    """Return the texts for customers that a person has not accepted in their version in force."""
    accepted = TermsAcceptance.objects.filter(user_id=user_id, key=OuterRef("key"))
    latest = Subquery(accepted.order_by("-version").values("version")[:1])
    texts = (
        LegalText.objects.filter(state=LegalText.State.PUBLISHED, key__in=ACCEPTED_BY_CUSTOMERS)
        .annotate(accepted_version=latest)
        .filter(Q(accepted_version__isnull=True) | Q(version__gt=F("accepted_version")))
        .order_by("key", "version")
        .values_list("key", "version")
    )
    # The latest version of each key comes last and stays.
    return dict(texts)


def acceptances_of(*, user_id: int) -> list[TermsAcceptance]:
    """Return what a person has accepted, the latest first."""
    return list(TermsAcceptance.objects.filter(user_id=user_id).order_by("-accepted_at", "key"))


def latest_mails(*, to: str, limit: int) -> list[Mail]:
    """Return the newest mails, those to addresses that contain ``to`` when it is given."""
    mails = Mail.objects.order_by("-id")
    if to:
        mails = mails.filter(to_address__icontains=to)
    return list(mails[:limit])
