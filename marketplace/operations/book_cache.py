"""Books that this process keeps between batches, one per shard.

A kept book counts only while the shard's ``version`` is the one it was kept under. A version is
drawn at random for each batch and never comes back, not even after a rollback or a restore of the
database, so a book that has seen other events is never taken for the right one.
"""

from secrets import randbits

from marketplace.book.matching import Book

VERSION_BITS = 62

_kept: dict[int, tuple[int, Book]] = {}


def take_book(*, shard_id: int, version: int) -> Book | None:
    """Take the kept book away if it is the one of this version, so that nobody else changes it."""
    kept = _kept.pop(shard_id, None)
    return kept[1] if kept is not None and kept[0] == version else None


def keep_book(book: Book, *, shard_id: int, version: int) -> None:
    """Keep a book whose events are all committed."""
    _kept[shard_id] = (version, book)


def next_version() -> int:
    """Return a version that no batch has had."""
    return randbits(VERSION_BITS)
