"""Give a person a copy of their own data."""

import json
from datetime import datetime
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

from allauth.usersessions.models import UserSession
from django.core.serializers.json import DjangoJSONEncoder
from django.utils.translation import gettext as _

from marketplace.accounts.models import ContactMessage, Mail, User
from marketplace.accounts.operations.audit import record_act
from marketplace.accounts.registry import Rows, exported, rows_of


def export_data(*, user: User, now: datetime) -> bytes:
    """Return a ZIP with one JSON file for each kind of data. No secret is in it: no hash, no code."""
    files = _own(user) | exported(user_id=user.pk)
    record_act(
        actor_id=user.pk,
        organisation_id=None,
        action="data.exported",
        object_type="user",
        object_id=user.pk,
        now=now,
        details={name: len(rows) for name, rows in files.items()},
    )
    return _packed(files, now=now)


def _packed(files: dict[str, Rows], *, now: datetime) -> bytes:
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        archive.writestr("README.txt", _explanation(now))
        archive.writestr("counts.json", _json({name: len(rows) for name, rows in files.items()}))
        for name, rows in files.items():
            archive.writestr(f"{name}.json", _json(rows))
    return buffer.getvalue()


def _explanation(now: datetime) -> str:
    return _(
        "Your data, as of %(moment)s.\n"
        "One file for each kind of data. Times are UTC.\n"
        "Amounts that end in _minor are hundredths of the currency,"
        " prices that end in _micro are millionths of it.\n"
        "Passwords, tokens and codes are not in it: we keep only fingerprints of them.\n"
    ) % {"moment": now.isoformat(timespec="seconds")}


def _json(value: object) -> str:
    return json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False, indent=1)


def _own(user: User) -> dict[str, Rows]:
    sessions = UserSession.objects.filter(user_id=user.pk)
    return {
        "profile": [
            {
                "email": user.email,
                "name": user.name,
                "language": user.language,
                "time_zone": user.time_zone,
                "joined_at": user.joined_at,
                "last_login": user.last_login,
            }
        ],
        "organisations": rows_of(
            user.memberships.all(), "organisation__id", "organisation__name", "role", "created_at"
        ),
        "ssh_keys": rows_of(user.ssh_keys.all(), "name", "public_key", "fingerprint", "created_at"),
        "api_tokens": rows_of(
            user.api_tokens.all(),
            "name",
            "organisation__name",
            "scopes",
            "created",
            "expiry",
            "last_used_at",
        ),
        "devices": rows_of(sessions, "user_agent", "ip", "created_at", "last_seen_at"),
        "accepted_terms": rows_of(
            user.acceptances.all(), "key", "version", "language", "accepted_at"
        ),
        "mails_we_sent": rows_of(
            Mail.objects.filter(to_address__iexact=user.email), "subject", "created_at", "sent_at"
        ),
        "messages_you_sent": rows_of(
            ContactMessage.objects.filter(user=user),
            "topic",
            "message",
            "abuse_address",
            "evidence",
            "created_at",
        ),
    }
