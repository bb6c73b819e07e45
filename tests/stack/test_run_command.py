"""``run -- COMMAND``: throw-away servers around a command."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
RUN = (sys.executable, "-m", "config.stack", "run", "--")
ADDRESSES = ("DATABASE_URL", "MIGRATE_DATABASE_URL", "REDIS_URL")
pytestmark = pytest.mark.xdist_group("stack")

ASK_BOTH = """
import os, psycopg, redis
for name in ("DATABASE_URL", "MIGRATE_DATABASE_URL"):
    with psycopg.connect(os.environ[name]) as connection:
        print(*connection.execute(
            "SELECT current_user, rolsuper, rolcreatedb FROM pg_roles WHERE rolname = current_user"
        ).fetchone())
        print(*connection.execute("SHOW server_encoding").fetchone())
print(redis.Redis.from_url(os.environ["REDIS_URL"].replace("redis+socket", "unix")).ping())
"""


def run(*command: str, **extra: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in ADDRESSES}
    return subprocess.run(
        [*RUN, *command],
        env={**environment, **extra},
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


class TestRunCommand:
    def test_gives_the_command_both_roles_and_a_broker(self):
        done = run(sys.executable, "-c", ASK_BOTH)

        assert done.stdout.splitlines() == [
            "market_app False False",
            "UTF8",
            "market_owner True True",
            "UTF8",
            "True",
        ]

    def test_returns_the_exit_code_and_removes_its_folder(self):
        done = run("bash", "-c", "echo $DATABASE_URL; exit 7")

        assert done.returncode == 7
        folder = re.search(r"host=(\S+)/pg", done.stdout)
        assert folder is not None
        assert not Path(folder[1]).exists()

    def test_starts_nothing_that_the_environment_names(self):
        done = run(
            "bash",
            "-c",
            "echo $DATABASE_URL $REDIS_URL",
            DATABASE_URL="postgresql://app@/theirs",
            MIGRATE_DATABASE_URL="postgresql://owner@/theirs",
            REDIS_URL="redis://theirs/0",
        )

        assert done.stdout.strip() == "postgresql://app@/theirs redis://theirs/0"

    def test_refuses_one_database_address_without_the_other(self):
        done = run("true", DATABASE_URL="postgresql://app@/theirs")

        assert done.returncode == 1
        assert "MIGRATE_DATABASE_URL is not set" in done.stdout

    def test_says_that_a_program_is_missing(self):
        done = run("no-such-program-here")

        assert done.returncode == 127
        assert "cannot run no-such-program-here" in done.stdout

    def test_passes_a_termination_on_and_leaves_nothing(self, tmp_path: Path):
        output = tmp_path / "output.txt"
        environment = {name: value for name, value in os.environ.items() if name not in ADDRESSES}
        with output.open("wb") as stream:
            process = subprocess.Popen(
                [*RUN, "bash", "-c", "echo $DATABASE_URL; exec sleep 600"],
                env=environment,
                cwd=CHECKOUT,
                stdout=stream,
            )
        deadline = time.monotonic() + 60
        while "host=" not in output.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.1)

        process.send_signal(signal.SIGTERM)

        assert process.wait(timeout=30) == 128 + signal.SIGTERM
        folder = re.search(r"host=(\S+)/pg", output.read_text())
        assert folder is not None
        assert not Path(folder[1]).exists()
