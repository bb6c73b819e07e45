"""The stack's small parts, without a server."""

import fcntl
import json
import os
import socket
import time
from pathlib import Path

import pytest

from config.stack import bootstrap
from config.stack.demo import base_environment
from config.stack.demo_parts import PREPARATIONS, QUEUES, Addresses, members
from config.stack.errors import StackError
from config.stack.folders import check_socket_path, state_folder, state_folder_path
from config.stack.ports import bind_web_port, remembered_port
from config.stack.prepare import split_commands
from config.stack.servers import needs_database
from config.stack.single_copy import current_holder, only_copy
from config.stack.throwaway import LOCK_FILE, remove_abandoned


def addresses(*, double_port: int | None) -> Addresses:
    return Addresses(
        web_port=8000,
        web_descriptors=(7, 8),
        ssh_port=2222,
        double_port=double_port,
        broker_url="redis+socket:///s",
        state_folder="/state",
    )


class TestFolders:
    def test_gives_each_checkout_a_short_folder_of_its_own(self, monkeypatch):
        monkeypatch.delenv("STACK_STATE_DIR", raising=False)

        path = state_folder_path()

        assert path.parent == Path("/var/tmp")
        assert path.name.endswith(f"-{os.geteuid()}")

    def test_refuses_a_socket_path_that_the_kernel_would_cut(self):
        longest = Path("/" + "x" * 106)

        assert check_socket_path(longest) == longest
        with pytest.raises(StackError, match="too long for a socket"):
            check_socket_path(Path("/" + "x" * 107))

    def test_lets_the_servers_account_walk_through_but_not_list(self, tmp_path, monkeypatch):
        for parent in [tmp_path, *tmp_path.parents][:-2]:
            parent.chmod(0o711)
        monkeypatch.setenv("STACK_STATE_DIR", str(tmp_path / "s"))

        assert state_folder().stat().st_mode & 0o777 == 0o711

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root's servers change account")
    def test_refuses_a_folder_that_the_servers_account_cannot_enter(self, tmp_path, monkeypatch):
        tmp_path.chmod(0o700)
        monkeypatch.setenv("STACK_STATE_DIR", str(tmp_path / "s"))

        with pytest.raises(StackError, match="cannot enter"):
            state_folder()


class TestThrowaway:
    def test_removes_only_old_folders_that_nobody_holds(self, tmp_path):
        old, held, young, foreign = (
            tmp_path / name for name in ("gpubourse-a", "gpubourse-b", "gpubourse-c", "other-d")
        )
        for folder in (old, held, young, foreign):
            folder.mkdir()
            (folder / LOCK_FILE).touch()
        long_ago = time.time() - 3600
        for folder in (old, held, foreign):
            os.utime(folder, (long_ago, long_ago))
        with (held / LOCK_FILE).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)

            remove_abandoned(tmp_path)

        assert sorted(path.name for path in tmp_path.iterdir()) == [
            "gpubourse-b",
            "gpubourse-c",
            "other-d",
        ]


class TestPorts:
    def test_takes_the_next_port_when_the_first_is_taken(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            listeners = bind_web_port(first=port, last=port + 20)

        try:
            assert port < listeners[0].getsockname()[1] <= port + 20
        finally:
            for listener in listeners:
                listener.close()

    def test_says_when_no_port_is_free(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]

            with pytest.raises(StackError, match=f"No free port from {port} to {port}"):
                bind_web_port(first=port, last=port)

    def test_remembers_a_port_while_it_is_free(self, tmp_path):
        file = tmp_path / "ports.json"
        port = remembered_port(name="ssh", file=file)

        again = remembered_port(name="ssh", file=file)
        with socket.create_server(("127.0.0.1", port)):
            moved = remembered_port(name="ssh", file=file)

        assert again == port
        assert moved != port
        assert json.loads(file.read_text()) == {"ssh": moved}


class TestSingleCopy:
    def test_names_the_holder_only_while_the_lock_is_held(self, tmp_path):
        file = tmp_path / "lock"

        with only_copy(file):
            holder = current_holder(file)

        assert holder is not None
        assert holder.pid == os.getpid()
        assert current_holder(file) is None


class TestServers:
    def test_wants_both_database_addresses_or_neither(self):
        both = {"DATABASE_URL": "postgresql://a@/b", "MIGRATE_DATABASE_URL": "postgresql://o@/b"}

        assert needs_database({}) is True
        assert needs_database(both) is False
        with pytest.raises(StackError, match="MIGRATE_DATABASE_URL is not set"):
            needs_database({"DATABASE_URL": "postgresql://a@/b"})


class TestDemoParts:
    def test_loads_the_data_when_payments_and_machines_answer_and_before_the_site_runs(self):
        names = [part.name for part in members(addresses(double_port=4242))]

        assert names == ["stripe", "ssh", "data", "web", "worker", "beat", "seller"]

    def test_leaves_the_payment_double_out_when_real_keys_are_given(self):
        names = [part.name for part in members(addresses(double_port=None))]

        assert names == ["ssh", "data", "web", "worker", "beat", "seller"]

    def test_lets_the_worker_serve_every_queue(self):
        assert QUEUES == "matching,billing,delivery,mail"

    def test_changes_tables_and_grants_as_their_owner_and_nothing_else(self):
        by_owner = [name for part in PREPARATIONS if part.as_owner for name, *_ in part.commands]

        assert by_owner == ["migrate", "ensure_reference_rows", "grant_app_role"]

    def test_runs_the_commands_of_a_preparation_in_one_process(self):
        tables = PREPARATIONS[0].line()

        assert tables[1:3] == ["-m", "config.stack.prepare"]
        assert list(split_commands(tables[3:])) == [
            ["migrate", "--noinput", "--verbosity=0"],
            ["ensure_reference_rows"],
            ["grant_app_role"],
        ]

    def test_keeps_one_secret_key_between_runs(self, tmp_path, monkeypatch):
        monkeypatch.delenv("SECRET_KEY", raising=False)

        first = base_environment(tmp_path)["SECRET_KEY"]

        assert base_environment(tmp_path)["SECRET_KEY"] == first
        assert len(first) >= 50
        assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600


class TestBootstrap:
    def test_counts_the_tests_packages_as_the_sites_too(self, monkeypatch):
        monkeypatch.setattr(bootstrap, "digest", lambda lock: f"digest of {lock}")
        run, test = "digest of requirements.lock", "digest of requirements-test.lock"

        assert bootstrap.satisfied("run", installed={"run": run}) is True
        assert bootstrap.satisfied("run", installed={"test": test}) is True
        assert bootstrap.satisfied("test", installed={"run": run}) is False
        assert bootstrap.satisfied("run", installed={"run": "older"}) is False
        assert bootstrap.satisfied("test", installed={"test": "older"}) is False
