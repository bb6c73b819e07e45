"""All objects of one double, in memory under one lock, with an optional journal on disk.

The journal is a file of JSON lines, one per change, replayed and rewritten at start. Lines are
appended inside the lock, so a restart finds everything a caller was told about.
"""

import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

Document = dict[str, Any]

COLLECTIONS = {
    "cs": "checkout_sessions",
    "pi": "payment_intents",
    "ch": "charges",
    "txn": "balance_transactions",
    "re": "refunds",
    "cus": "customers",
    "evt": "events",
}

IDEMPOTENCY_KEYS = "idempotency_keys"

# As long as Stripe's own identifiers, so that a too short database column shows here first.
ID_BYTES = 12
SESSION_ID_BYTES = 29


def new_id(prefix: str) -> str:
    """Return an identifier like Stripe's; sessions carry ``cs_test_`` as in test mode."""
    if prefix == "cs":
        return f"cs_test_{secrets.token_hex(SESSION_ID_BYTES)}"
    return f"{prefix}_{secrets.token_hex(ID_BYTES)}"


class Store:
    """Objects by collection and id. Every read and write happens inside ``changing()``."""

    def __init__(self, *, state_file: Path | None = None) -> None:
        self._lock = threading.RLock()
        self._objects: dict[str, dict[str, Document]] = {}
        self._touched: dict[tuple[str, str], Document] = {}
        self._new_events: list[Document] = []
        self._state_file = state_file
        self._journal: TextIO | None = None
        if state_file is not None:
            self._replay(state_file)
            self._compact(state_file)

    @contextmanager
    def changing(self) -> Iterator[list[Document]]:
        """Hold the lock for one act; yield the list that its events are collected in."""
        with self._lock:
            events = self._new_events = []
            try:
                yield events
            finally:
                self._write_journal()

    def save(self, collection: str, document: Document) -> Document:
        """Keep a new or changed object."""
        self._objects.setdefault(collection, {})[document["id"]] = document
        self._touched[collection, document["id"]] = document
        return document

    def find(self, collection: str, object_id: str) -> Document | None:
        """Return one object, or None."""
        return self._objects.get(collection, {}).get(object_id)

    def newest_first(self, collection: str) -> list[Document]:
        """Return a collection in Stripe's order: the last created comes first."""
        return list(reversed(self._objects.get(collection, {}).values()))

    def announce(self, event: Document) -> None:
        """Keep an event and hand it to whoever holds the act."""
        self.save("events", event)
        self._new_events.append(event)

    def forget_everything(self) -> None:
        """Empty the double, journal included."""
        with self._lock:
            self._objects.clear()
            self._touched.clear()
            if self._state_file is not None:
                self._compact(self._state_file)

    def close(self) -> None:
        """Close the journal."""
        with self._lock:
            if self._journal is not None:
                self._journal.close()
                self._journal = None

    def _write_journal(self) -> None:
        touched, self._touched = self._touched, {}
        if self._journal is None or not touched:
            return
        for (collection, _object_id), document in touched.items():
            self._journal.write(_line(collection, document))
        self._journal.flush()

    def _replay(self, path: Path) -> None:
        if not path.exists():
            return
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                # The last line of a process that was killed while writing it.
                continue
            self._objects.setdefault(entry["collection"], {})[entry["object"]["id"]] = entry[
                "object"
            ]

    def _compact(self, path: Path) -> None:
        if self._journal is not None:
            self._journal.close()
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(path.suffix + ".new")
        with fresh.open("w", encoding="utf-8") as file:
            for collection, objects in self._objects.items():
                file.writelines(_line(collection, document) for document in objects.values())
        fresh.replace(path)
        self._journal = path.open("a", encoding="utf-8")


def _line(collection: str, document: Document) -> str:
    return json.dumps({"collection": collection, "object": document}) + "\n"
