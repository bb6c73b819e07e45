"""The demo SSH server's host key: made once, so that its fingerprint stays what was noted."""

import os
from pathlib import Path

import asyncssh


def ensure_host_key(file: Path) -> str:
    """Create the key when it is missing; return its fingerprint, ``SHA256:…``."""
    if not file.exists():
        _create(file)
    return asyncssh.read_private_key(file).get_fingerprint()


def _create(file: Path) -> None:
    key = asyncssh.generate_private_key("ssh-ed25519", comment="demo server")
    draft = file.with_suffix(".draft")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(key.export_private_key())
    draft.rename(file)
