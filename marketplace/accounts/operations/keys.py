"""Add and remove the SSH keys of a person."""

import re
from datetime import datetime

import asyncssh
from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from marketplace.accounts.models import SshKey
from marketplace.accounts.operations.audit import record_act

# Key types that today's OpenSSH accepts at sign-in, hardware keys included.
KEY_TYPES = (
    "ssh-ed25519",
    "sk-ssh-ed25519@openssh.com",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ecdsa-sha2-nistp256@openssh.com",
    "ssh-rsa",
)
# What OpenSSH asks for at least; shorter RSA keys are refused by many machines.
RSA_BITS_MIN = 2048
# Far above a 16384-bit RSA key with its comment.
KEY_LENGTH_MAX = 8000
# How private keys begin: PEM and OpenSSH, PuTTY, and the body of either without its first line.
PRIVATE_MARKS = ("PRIVATE KEY", "PuTTY-User-Key-File", "Private-Lines:", "b3BlbnNzaC1rZXktdjE")
PRIVATE_BODY = re.compile(r"\s*MI[A-Z]")
# A person has a handful of machines; a bound keeps the list and the page small.
KEYS_MAX = 50


class NotAPublicKey(Exception):
    """The text is not one OpenSSH public key. ``message`` tells the reader what to paste."""

    def __init__(self, message: StrOrPromise) -> None:
        super().__init__(str(message))
        self.message = message


class PrivateKeyPasted(NotAPublicKey):
    """The text is a private key: it must not even be shown again."""

    MESSAGE = _(
        "This is a private key: never paste it anywhere. It was not stored."
        " Paste the public key, the line in the file that ends in .pub."
    )

    def __init__(self) -> None:
        super().__init__(self.MESSAGE)


class KeyAlreadyAdded(Exception):
    """The person has this key under some name already."""


class TooManyKeys(Exception):
    """The person has the largest number of keys."""


def add_ssh_key(*, user_id: int, name: str, public_key: str, now: datetime) -> SshKey:
    """Keep a public key under a name.

    Raises
    ------
    NotAPublicKey
        The text is a private key, several lines, a key with options, or no key at all.
    KeyAlreadyAdded
        The person has it already.
    TooManyKeys
        The person has ``KEYS_MAX`` keys.
    """
    line, fingerprint = read_public_key(public_key)
    if SshKey.objects.filter(user_id=user_id).count() >= KEYS_MAX:
        raise TooManyKeys
    try:
        with transaction.atomic():
            key = SshKey.objects.create(
                user_id=user_id,
                name=name,
                public_key=line,
                fingerprint=fingerprint,
                created_at=now,
            )
            _record(key, action="ssh_key.added", now=now)
    except IntegrityError as error:
        raise KeyAlreadyAdded from error
    return key


@transaction.atomic
def remove_ssh_key(*, key_id: int, user_id: int, now: datetime) -> None:
    """Remove a person's key. Orders and rentals keep the copy they were made with.

    Raises
    ------
    SshKey.DoesNotExist
        The person has no such key.
    """
    key = SshKey.objects.get(pk=key_id, user_id=user_id)
    _record(key, action="ssh_key.removed", now=now)
    key.delete()


def read_public_key(text: str) -> tuple[str, str]:
    """Return the key as one clean line, and its SHA-256 fingerprint.

    Raises
    ------
    NotAPublicKey
        With words that say what to paste instead.
    """
    line = text.strip()
    _refuse_what_is_no_key_line(line)
    kind, data, comment = [*line.split(None, 2), "", ""][:3]
    if kind not in KEY_TYPES:
        raise NotAPublicKey(_with_options_or_unknown(line))
    try:
        key = asyncssh.import_public_key(f"{kind} {data}")
    except asyncssh.KeyImportError as error:
        raise NotAPublicKey(
            _("This key is damaged: part of it is missing. Copy the whole line of the .pub file.")
        ) from error
    if kind == "ssh-rsa" and getattr(key.pyca_key, "key_size", 0) < RSA_BITS_MIN:
        raise NotAPublicKey(
            _("This RSA key is too short. Use a key of at least 2048 bits, or an Ed25519 key.")
        )
    return " ".join(part for part in (kind, data, comment) if part), key.get_fingerprint()


def is_private_key(text: str) -> bool:
    """Tell whether a text holds a private key or part of one, which must not be shown again."""
    return any(mark in text for mark in PRIVATE_MARKS) or PRIVATE_BODY.match(text) is not None


def _refuse_what_is_no_key_line(line: str) -> None:
    if is_private_key(line):
        raise PrivateKeyPasted
    if not line:
        raise NotAPublicKey(_("Paste a public key: one line that starts with ssh-ed25519."))
    if len(line) > KEY_LENGTH_MAX:
        raise NotAPublicKey(_("This is too long for a public key. Paste one line."))
    if not line.isprintable():
        raise NotAPublicKey(_("Paste one public key on one line; this text has several lines."))


def _with_options_or_unknown(line: str) -> StrOrPromise:
    if any(f"{kind} " in line for kind in KEY_TYPES):
        return _("Paste the key without options: the line starts with its type, like ssh-ed25519.")
    return _(
        "This is not an OpenSSH public key."
        " Paste one line that starts with ssh-ed25519, ecdsa-sha2-nistp256 or ssh-rsa."
    )


def _record(key: SshKey, *, action: str, now: datetime) -> None:
    record_act(
        actor_id=key.user_id,
        organisation_id=None,
        action=action,
        object_type="ssh_key",
        object_id=key.pk,
        now=now,
        details={"fingerprint": key.fingerprint},
    )
