"""Where the stack keeps its files.

The state of one checkout lives in ``/var/tmp/gpubourse-<hash>-<uid>``: outside the checkout,
because a Unix socket's path may have 107 bytes at most, and because servers started by root run
as another account, which may not be able to enter the checkout.
"""

import hashlib
import os
from pathlib import Path

from config.stack.errors import StackError

CHECKOUT = Path(__file__).resolve().parents[2]
# The kernel's sun_path has 108 bytes, one of them for the closing NUL.
SOCKET_PATH_BYTES = 107
STATE_PARENT = "/var/tmp"  # noqa: S108 -- durable and short; the folder below is checked to be ours
THROWAWAY_PARENT = "/tmp"  # noqa: S108 -- only a parent: mkdtemp makes the folder itself


def state_folder() -> Path:
    """Return this checkout's state folder, created when missing, refused when somebody else's."""
    path = state_folder_path()
    path.mkdir(parents=True, exist_ok=True)
    if path.stat().st_uid != os.geteuid():
        raise StackError(f"{path} belongs to another user. Remove it, or set STACK_STATE_DIR.")
    # Others may walk through (the servers' own account must), but not list.
    path.chmod(0o711)
    if os.geteuid() == 0:
        _check_open_path(path)
    return path


def _check_open_path(path: Path) -> None:
    for parent in path.parents:
        if not parent.stat().st_mode & 0o001:
            raise StackError(
                f"The servers' account cannot enter {parent}. Set STACK_STATE_DIR to a folder "
                "that others may walk through, or unset it."
            )


def state_folder_path() -> Path:
    chosen = os.environ.get("STACK_STATE_DIR")
    if chosen:
        return Path(chosen).resolve()
    digest = hashlib.sha256(str(CHECKOUT).encode()).hexdigest()[:10]
    return Path(STATE_PARENT) / f"gpubourse-{digest}-{os.geteuid()}"


def check_socket_path(path: Path) -> Path:
    """Return ``path`` when a Unix socket may have it; raise `StackError` when it is too long."""
    if len(os.fsencode(path)) > SOCKET_PATH_BYTES:
        raise StackError(
            f"{path} is too long for a socket ({SOCKET_PATH_BYTES} bytes at most). "
            "Set STACK_STATE_DIR to a shorter folder."
        )
    return path
