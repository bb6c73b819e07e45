"""Make the project's Python environment: ``python3 -I config/stack/bootstrap.py run|test``.

Runs before anything is installed, with whatever Python the machine has: standard library only,
no import of the project. It does nothing when the environment already holds the locked packages.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
ENVIRONMENT = CHECKOUT / ".venv"
STAMP = ENVIRONMENT / ".installed"
LOCKS = {"run": "requirements.lock", "test": "requirements-test.lock"}
PYTHON = str(ENVIRONMENT / "bin" / "python")
PIP_INSTALL = [PYTHON, "-m", "pip", "install", "--quiet"]
OLDEST_PYTHON = (3, 11)


def main(group: str) -> int:
    """Bring ``.venv`` to the state that ``group`` needs; return an exit code."""
    if sys.version_info < OLDEST_PYTHON:
        found = ".".join(str(part) for part in sys.version_info[:2])
        tell(
            f"Python 3.11 or newer is needed; {sys.executable} is {found}. Try: make PYTHON=python3.12"
        )
        return 1
    if python_works() and satisfied(group, installed=read_stamp()):
        return 0
    # What the tests need contains what the site needs: never take it away again.
    wanted = "test" if read_stamp().keys() & {"test"} else group
    if not (python_works() or make_environment()):
        return 1
    tell(f"installing the packages of {LOCKS[wanted]}")
    if not install(LOCKS[wanted]):
        return 1
    STAMP.write_text(f"{wanted} {digest(LOCKS[wanted])}\n", encoding="utf-8")
    return 0


def satisfied(group: str, *, installed: dict[str, str]) -> bool:
    """Tell whether what was installed, by group and digest, is what ``group`` needs now."""
    if "test" in installed:
        return installed["test"] == digest(LOCKS["test"])
    return group in installed and installed[group] == digest(LOCKS[group])


def python_works() -> bool:
    """Tell whether the environment's Python is there; it is a link, and its target may be gone."""
    return Path(PYTHON).exists()


def read_stamp() -> dict[str, str]:
    if not STAMP.exists():
        return {}
    words = STAMP.read_text(encoding="utf-8").split()
    return dict(zip(words[::2], words[1::2], strict=False))


def digest(lock: str) -> str:
    return hashlib.sha256((CHECKOUT / lock).read_bytes()).hexdigest()


def make_environment() -> bool:
    tell("making .venv")
    if succeeds([sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT)]):
        return True
    shutil.rmtree(ENVIRONMENT, ignore_errors=True)
    tell("`python3 -m venv` failed; on Debian and Ubuntu: apt-get install python3-venv")
    return False


def install(lock: str) -> bool:
    """Install exactly what ``lock`` names: by uv, in seconds, else by pip, in a minute."""
    if install_with_uv(lock):
        return True
    tell("uv did not succeed; trying pip, which takes longer")
    if succeeds([*PIP_INSTALL, "--require-hashes", "--requirement", lock]):
        return True
    tell(f"the packages of {lock} could not be installed; see the lines above")
    return False


def install_with_uv(lock: str) -> bool:
    uv = ENVIRONMENT / "bin" / "uv"
    if not (uv.exists() or succeeds([*PIP_INSTALL, "uv"])):
        return False
    sync = [str(uv), "pip", "sync", "--quiet", "--require-hashes", "--python", PYTHON, lock]
    # The second try is for machines behind a proxy, whose certificates only the system knows.
    return succeeds(sync, quietly=True) or succeeds(sync, system_certificates=True)


def succeeds(
    command: list[str], *, quietly: bool = False, system_certificates: bool = False
) -> bool:
    environment = dict(os.environ)
    if system_certificates:
        environment.update({"UV_SYSTEM_CERTS": "1", "UV_NATIVE_TLS": "1"})
    output = subprocess.DEVNULL if quietly else None
    done = subprocess.run(command, cwd=CHECKOUT, env=environment, stderr=output, check=False)
    return done.returncode == 0


def tell(line: str) -> None:
    sys.stderr.write(f"setup: {line}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
