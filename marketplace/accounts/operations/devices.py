"""The browsers that a person is signed in with: remember them, end them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.db import transaction

from marketplace.accounts.models import User
from marketplace.accounts.operations.audit import record_act


@dataclass(frozen=True, slots=True)
class Visit:
    """What a request tells of the browser it came from."""

    user_id: int
    session_key: str
    ip_address: str
    user_agent: str


def note_device(*, visit: Visit, now: datetime) -> None:
    """Remember that a person was seen with a browser."""
    longest = UserSession._meta.get_field("user_agent").max_length  # noqa: SLF001  public in Django
    agent = visit.user_agent[:longest]
    row, is_new = UserSession.objects.get_or_create(
        session_key=visit.session_key,
        defaults={
            "user_id": visit.user_id,
            "ip": visit.ip_address,
            "user_agent": agent,
            "created_at": now,
            "last_seen_at": now,
        },
    )
    if not is_new:
        seen = UserSession.objects.filter(pk=row.pk)
        seen.update(user_id=visit.user_id, ip=visit.ip_address, user_agent=agent, last_seen_at=now)


def devices_of(*, user: User, now: datetime) -> list[UserSession]:
    """Return the browsers a person is signed in with, the last seen first.

    A session that has expired, or that a change of password has made worthless, is none.
    """
    rows = list(UserSession.objects.filter(user_id=user.pk).order_by("-last_seen_at", "-id"))
    alive = _alive(rows, user=user, now=now)
    return [row for row in rows if row.session_key in alive]


@transaction.atomic
def end_device(*, device_id: int, user_id: int, now: datetime) -> str:
    """Sign a person's browser out; return the key of its session.

    Raises
    ------
    UserSession.DoesNotExist
        The person is not signed in with it.
    """
    row = UserSession.objects.get(pk=device_id, user_id=user_id)
    key = str(row.session_key)
    _end([row], user_id=user_id, now=now)
    return key


@transaction.atomic
def end_other_devices(*, user_id: int, session_key: str, now: datetime) -> int:
    """Sign a person out everywhere but in one browser; return from how many."""
    rows = list(UserSession.objects.filter(user_id=user_id).exclude(session_key=session_key))
    return _end(rows, user_id=user_id, now=now)


@transaction.atomic
def end_all_devices(*, user_id: int, now: datetime) -> int:
    """Sign a person out everywhere."""
    rows = list(UserSession.objects.filter(user_id=user_id))
    return _end(rows, user_id=user_id, now=now)


@transaction.atomic
def forget_old_devices(*, now: datetime) -> int:
    """Remove sessions that have expired and what was remembered of them; return how many."""
    removed, _by_model = Session.objects.filter(expire_date__lte=now).delete()
    alive = Session.objects.values("session_key")
    UserSession.objects.exclude(session_key__in=alive).delete()
    return removed


def _alive(rows: Iterable[UserSession], *, user: User, now: datetime) -> set[str]:
    keys = [row.session_key for row in rows]
    sessions = Session.objects.filter(session_key__in=keys, expire_date__gt=now)
    valid = user.get_session_auth_hash()
    return {
        session.session_key
        for session in sessions
        if session.get_decoded().get("_auth_user_hash") == valid
    }


def _end(rows: list[UserSession], *, user_id: int, now: datetime) -> int:
    Session.objects.filter(session_key__in=[row.session_key for row in rows]).delete()
    UserSession.objects.filter(pk__in=[row.pk for row in rows]).delete()
    for row in rows:
        record_act(
            actor_id=user_id,
            organisation_id=None,
            action="device.ended",
            object_type="session",
            object_id=row.pk,
            now=now,
        )
    return len(rows)
