"""The two servers together: started unless the environment already names others."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from config.stack.accounts import server_account
from config.stack.children import Child, stop_child
from config.stack.errors import StackError
from config.stack.postgres import APP_ROLE, OWNER_ROLE, Cluster, start_cluster
from config.stack.valkey import Broker, start_broker

Started = tuple[list[Child], dict[str, str]]


@contextmanager
def running_servers(
    *,
    folder: Path,
    environment: Mapping[str, str],
    keeps_data: bool,
    kept_descriptors: tuple[int, ...] = (),
    pause: Callable[[float], None] = time.sleep,
) -> Iterator[Started]:
    """Start what ``environment`` does not name; stop it at the end, the last started first.

    Yields the children, and the addresses to add to the environment.
    """
    account = server_account()
    children: list[Child] = []
    addresses: dict[str, str] = {}
    with ExitStack() as stack:
        if needs_database(environment):
            cluster = Cluster(folder=folder, keeps_data=keeps_data, account=account)
            postgres = start_cluster(cluster, kept_descriptors=kept_descriptors, pause=pause)
            stack.callback(stop_child, postgres)
            children.append(postgres)
            addresses["DATABASE_URL"] = cluster.url(role=APP_ROLE)
            addresses["MIGRATE_DATABASE_URL"] = cluster.url(role=OWNER_ROLE)
        if not environment.get("REDIS_URL"):
            broker = Broker(folder=folder, keeps_data=keeps_data, account=account)
            valkey = start_broker(broker, kept_descriptors=kept_descriptors, pause=pause)
            stack.callback(stop_child, valkey)
            children.append(valkey)
            addresses["REDIS_URL"] = broker.url()
        yield children, addresses


def needs_database(environment: Mapping[str, str]) -> bool:
    """Tell whether a database must be started; one address without the other is a mistake."""
    app = bool(environment.get("DATABASE_URL"))
    owner = bool(environment.get("MIGRATE_DATABASE_URL"))
    if app != owner:
        missing = "MIGRATE_DATABASE_URL" if app else "DATABASE_URL"
        raise StackError(f"{missing} is not set. Set both database addresses, or neither.")
    return not app
