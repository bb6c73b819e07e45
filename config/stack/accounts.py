"""Under which system account the database and the broker run.

PostgreSQL refuses to run as root and wants an account that exists in the password file. When the
supervisor is root, both servers run as ``nobody``; otherwise as whoever started the supervisor.
"""

import os
import pwd
from dataclasses import dataclass
from pathlib import Path

from config.stack.errors import StackError

SERVER_ACCOUNT = "nobody"


@dataclass(frozen=True, slots=True)
class Account:
    """A system account that a child process changes to."""

    name: str
    uid: int
    gid: int


def server_account() -> Account | None:
    """Return the account the servers change to, or None to stay who we are."""
    if os.geteuid() != 0:
        return None
    try:
        entry = pwd.getpwnam(SERVER_ACCOUNT)
    except KeyError as error:
        raise StackError(
            f"Running as root needs the system account '{SERVER_ACCOUNT}', and there is none. "
            "Create it, or run as an ordinary user."
        ) from error
    return Account(name=entry.pw_name, uid=entry.pw_uid, gid=entry.pw_gid)


def make_private_folder(path: Path, *, owner: Account | None) -> Path:
    """Create ``path`` for ``owner`` alone (mode 0700), whatever the umask says."""
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(0o700)
    if owner is not None:
        os.chown(path, owner.uid, owner.gid)
    return path
