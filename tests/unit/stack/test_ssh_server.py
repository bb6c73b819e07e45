"""The demo's SSH server, reached by a real client."""

from pathlib import Path

import asyncssh
import pytest

from config.stack.ssh_keys import ensure_host_key
from config.stack.ssh_server import Guest, answer, serve
from tests.loops import run_apart

CARD = Guest(card="RTX 4090", gpus=2, memory_gb=24)


class TestAnswer:
    def test_prints_a_row_for_each_rented_card(self):
        text, code = answer("nvidia-smi", guest=CARD)

        assert code == 0
        assert text.count("RTX 4090") == 2
        assert "0 MiB / 22888 MiB" in text

    @pytest.mark.parametrize("line", ["rm -rf /", "nvidia-smi2", "$(whoami)"])
    def test_runs_nothing_that_it_does_not_know(self, line: str):
        assert answer(line, guest=CARD) == (
            f"{line.split(maxsplit=1)[0]}: command not found\n",
            127,
        )


class TestHostKey:
    def test_keeps_its_fingerprint(self, tmp_path: Path):
        first = ensure_host_key(tmp_path / "key")

        assert ensure_host_key(tmp_path / "key") == first
        assert first.startswith("SHA256:")
        assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600


class TestDoor:
    def test_lets_in_the_key_of_an_open_rental_and_no_other(self, tmp_path: Path):
        customer = asyncssh.generate_private_key("ssh-ed25519")
        stranger = asyncssh.generate_private_key("ssh-ed25519")

        async def find(fingerprint: str) -> Guest | None:
            return CARD if fingerprint == customer.get_fingerprint() else None

        async def visit() -> tuple[str, str, bool]:
            fingerprint = ensure_host_key(tmp_path / "key")
            acceptor = await serve(port=0, host_key=tmp_path / "key", find_guest=find)
            port = acceptor.get_port()
            seen: list[str] = []

            async def connect(key: asyncssh.SSHKey) -> asyncssh.SSHClientConnection:
                connection = await asyncssh.connect(
                    "127.0.0.1", port, username="guest", client_keys=[key], known_hosts=None
                )
                shown = connection.get_server_host_key()
                assert shown is not None
                seen.append(shown.get_fingerprint())
                return connection

            async with await connect(customer) as connection:
                one = await connection.run("nvidia-smi")
                talk = await connection.run(input="whoami\nexit\n")
            try:
                await connect(stranger)
            except asyncssh.PermissionDenied:
                refused = True
            else:
                refused = False
            acceptor.close()
            assert seen == [fingerprint]
            return str(one.stdout), str(talk.stdout), refused

        one, talk, refused = run_apart(visit())

        assert one.count("RTX 4090") == 2
        assert talk.startswith("Demo machine with 2 RTX 4090 cards.")
        assert "$ guest\n$ " in talk
        assert refused is True
