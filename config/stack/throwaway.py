"""Temporary folders that are removed even when their owner was killed: by the next owner."""

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from config.stack.folders import THROWAWAY_PARENT

PREFIX = "gpubourse-"
LOCK_FILE = "lock"
# A folder younger than this may not have its lock yet.
YOUNG_SECONDS = 60


@contextlib.contextmanager
def throwaway_folder() -> Iterator[tuple[Path, int]]:
    """Yield a new folder and its lock's descriptor, for children to inherit; remove it after."""
    parent = Path(THROWAWAY_PARENT if Path(THROWAWAY_PARENT).is_dir() else tempfile.gettempdir())
    remove_abandoned(parent)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    # The servers' own account must walk through it.
    folder.chmod(0o711)
    lock = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder, lock
    finally:
        os.close(lock)
        shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned(parent: Path) -> None:
    """Remove our folders in ``parent`` whose owner, and every server in them, is gone."""
    for folder in parent.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            if _is_old_and_ours(folder) and _is_unlocked(folder / LOCK_FILE):
                shutil.rmtree(folder, ignore_errors=True)


def _is_old_and_ours(folder: Path) -> bool:
    status = folder.lstat()
    return status.st_uid == os.geteuid() and time.time() - status.st_mtime > YOUNG_SECONDS


def _is_unlocked(file: Path) -> bool:
    if not file.is_file():
        return False
    descriptor = os.open(file, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    else:
        return True
    finally:
        os.close(descriptor)
