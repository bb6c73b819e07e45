"""What the demo's logins know, derived from the installation's secret key: the same at each start."""

import base64
import hashlib
import hmac

import asyncssh
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from django.conf import settings

# Printed by the demo itself: it protects nothing but invented data on one machine.
PASSWORD = "an-hour-of-gpu"  # noqa: S105  see above
TOTP_BYTES = 20


def totp_secret() -> str:
    """Return the base-32 secret of the administrator's authenticator app."""
    return base64.b32encode(_derived("totp")[:TOTP_BYTES]).decode()


def ssh_key_of(name: str) -> asyncssh.SSHKey:
    """Return the private SSH key of one of the demo's customers."""
    key = Ed25519PrivateKey.from_private_bytes(_derived(f"ssh:{name}"))
    text = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    return asyncssh.import_private_key(text)


def public_line_of(name: str) -> str:
    """Return the public half as one line, as a customer pastes it."""
    line: str = ssh_key_of(name).export_public_key().decode().strip()
    return f"{line} {name}"


def _derived(purpose: str) -> bytes:
    return hmac.digest(settings.SECRET_KEY.encode(), f"demo:{purpose}".encode(), hashlib.sha256)
