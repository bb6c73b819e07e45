"""Replay the log: the same numbered commands through an empty book give the same fills.

Only the commands and the orders' own terms are read, never their state, calendar or fills.
"""

from collections.abc import Iterator

from marketplace.book.outcomes import Filled
from marketplace.book.types import Fill
from marketplace.models import MAIN_SHARD, Command
from marketplace.operations.book_rows import apply_command, empty_book, with_order_facts

# Rows read at a time: the log of a year does not fit in memory.
CHUNK_ROWS = 2_000


def replay_fills(*, shard_id: int = MAIN_SHARD) -> Iterator[Fill]:
    """Yield the fills of a shard's whole log, in order."""
    book = empty_book()
    for command in _log(shard_id=shard_id):
        assert command.sequence is not None
        outcomes = apply_command(book, command, sequence=command.sequence)
        yield from (outcome.fill for outcome in outcomes or () if isinstance(outcome, Filled))


def _log(*, shard_id: int) -> Iterator[Command]:
    log = Command.objects.filter(shard_id=shard_id, sequence__isnull=False).order_by("sequence")
    return with_order_facts(log).iterator(chunk_size=CHUNK_ROWS)
