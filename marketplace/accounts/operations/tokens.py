"""Make and revoke the tokens with which programs act for an organisation."""

from collections.abc import Collection
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from knox.models import get_digest_token
from knox.settings import CONSTANTS

from marketplace.accounts.locks import lock_user
from marketplace.accounts.models import ApiToken, Membership, Scope
from marketplace.accounts.operations.audit import record_act

# What a token begins with, so that a scanner of leaked secrets can tell it.
PREFIX = "gpb_"
# A person has a handful of programs; a bound keeps the list and the page small.
TOKENS_MAX = 20
# Use is noted this often at most: a program that asks every second does not write every second.
NOTED_EVERY = timedelta(minutes=1)


class TooManyTokens(Exception):
    """The person has the largest number of tokens."""


class ScopeRefused(Exception):
    """The person may not do themselves what the token would do."""


@transaction.atomic
def create_token(
    *,
    membership: Membership,
    name: str,
    scopes: Collection[str],
    lifetime: timedelta | None,
    now: datetime,
) -> tuple[ApiToken, str]:
    """Make a token for the organisation of a membership; return it and its text, shown this once.

    Raises
    ------
    ScopeRefused
        The member may not trade, and asks for more than reading.
    TooManyTokens
        The person has ``TOKENS_MAX`` tokens.
    """
    wanted = sorted(Scope(scope).value for scope in scopes)
    if not membership.may_trade and wanted != [Scope.READ.value]:
        raise ScopeRefused
    lock_user(user_id=membership.user_id)
    if ApiToken.objects.filter(user_id=membership.user_id).count() >= TOKENS_MAX:
        raise TooManyTokens
    digest, text = get_digest_token(PREFIX)  # type: ignore[no-untyped-call]  # Knox has no types
    # Not by Knox's manager, which asks the machine's clock.
    token = ApiToken(
        user_id=membership.user_id,
        organisation_id=membership.organisation_id,
        name=name,
        scopes=wanted,
        digest=digest,
        token_key=text[: CONSTANTS.TOKEN_KEY_LENGTH],
        created=now,
        expiry=now + lifetime if lifetime else None,
    )
    token.save(force_insert=True)
    _record(token, action="token.created", now=now)
    return token, str(text)


@transaction.atomic
def revoke_token(*, token_id: int, user_id: int, now: datetime) -> None:
    """Remove a person's token: from now on it opens nothing.

    Raises
    ------
    ApiToken.DoesNotExist
        The person has no such token.
    """
    token = ApiToken.objects.get(pk=token_id, user_id=user_id)
    _record(token, action="token.revoked", now=now)
    token.delete()


def note_use(*, token: ApiToken, now: datetime) -> None:
    """Remember when a token was used last, to the minute."""
    is_due = Q(last_used_at__isnull=True) | Q(last_used_at__lt=now - NOTED_EVERY)
    if token.last_used_at is None or now - token.last_used_at > NOTED_EVERY:
        ApiToken.objects.filter(is_due, pk=token.pk).update(last_used_at=now)


def _record(token: ApiToken, *, action: str, now: datetime) -> None:
    record_act(
        actor_id=token.user_id,
        organisation_id=token.organisation_id,
        action=action,
        object_type="api_token",
        object_id=token.pk,
        now=now,
        details={"scopes": token.scopes},
    )
