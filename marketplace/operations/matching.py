"""The single writer of a shard: number commands, let the book answer, write what it said.

One batch is one transaction under the shard's row lock. A batch that fails or whose process dies
leaves nothing; the next one starts from the rows. A repeated or lost message changes nothing,
because the unnumbered rows are the work.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db import transaction
from django.db.models import Q

from marketplace.book.calendar import earliest_paid_start
from marketplace.book.matching import Book
from marketplace.book.types import slot_of
from marketplace.locks import lock_shard
from marketplace.models import MAIN_SHARD, Command, Shard
from marketplace.operations.batch_rows import number_commands, write_batch
from marketplace.operations.batches import Batch
from marketplace.operations.book_cache import keep_book, next_version, take_book
from marketplace.operations.book_rows import apply_command, restore_book, with_order_facts
from marketplace.operations.market_state import finish_reopening
from marketplace.operations.quotes import publish
from marketplace.operations.slots import seconds_at

# Measured: larger batches gain little and make a buy-now wait longer for its answer.
BATCH_COMMANDS = 500

NEVER = datetime.fromtimestamp(0, tz=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchReport:
    """What one batch did: rows numbered (the clock's included), fills, whether more is waiting."""

    numbered: int = 0
    fills: int = 0
    has_more: bool = False


def match_shard(
    *, now: Callable[[], datetime] | datetime, shard_id: int = MAIN_SHARD
) -> MatchReport:
    """Give the waiting commands of a shard their numbers, up to a batch, and write what they did.

    Safe to call at any time, from any number of processes: they take turns. A callable ``now`` is
    asked under the lock, so that time waited for the lock counts.
    """
    with transaction.atomic():
        shard = lock_shard(shard_id=shard_id)
        moment = now() if callable(now) else now
        return _match(shard, clock_at=_clock_at(shard, moment))


def _match(shard: Shard, *, clock_at: datetime) -> MatchReport:
    waiting = _waiting_commands(shard, clock_at=clock_at)
    has_moved = _position(clock_at) != _position(shard.last_clock_at or NEVER)
    if not waiting and not has_moved:
        return MatchReport()
    commands = waiting[:BATCH_COMMANDS]
    log = [*_clock_command(shard, clock_at=clock_at), *commands]
    book = take_book(shard_id=shard.pk, version=shard.version) or restore_book(shard=shard)
    batch = Batch()
    for sequence, command in enumerate(log, start=shard.last_sequence + 1):
        outcomes = apply_command(book, command, sequence=sequence)
        batch.add(command, sequence=sequence, outcomes=outcomes)
    _write(shard, log=log, batch=batch, clock_at=clock_at)
    touched = None if has_moved else _touched_models(commands)
    publish(book=book, as_of=clock_at, gpu_model_ids=touched, has_fills=bool(batch.fills))
    _keep_after_commit(book, shard=shard)
    has_more = len(waiting) > BATCH_COMMANDS
    return MatchReport(numbered=len(log), fills=len(batch.fills), has_more=has_more)


def _clock_at(shard: Shard, moment: datetime) -> datetime:
    """Return the batch's time: whole seconds, never before the last clock."""
    return max(datetime.fromtimestamp(seconds_at(moment), tz=UTC), shard.last_clock_at or NEVER)


def _position(moment: datetime) -> tuple[int, int]:
    """Return what the grid makes of a time: orders expire and prices move only when it changes."""
    seconds = seconds_at(moment)
    return slot_of(seconds), earliest_paid_start(now_seconds=seconds, setup_slots=0)


def _waiting_commands(shard: Shard, *, clock_at: datetime) -> list[Command]:
    is_due = Q(not_before__isnull=True) | Q(not_before__lte=clock_at)
    waiting = Command.objects.filter(is_due, shard=shard, sequence__isnull=True).order_by("id")
    return list(with_order_facts(waiting)[: BATCH_COMMANDS + 1])


def _clock_command(shard: Shard, *, clock_at: datetime) -> list[Command]:
    """Return the batch's clock row, none when the second has not changed."""
    if shard.last_clock_at == clock_at:
        return []
    command = Command.objects.create(
        shard=shard,
        kind=Command.Kind.CLOCK,
        payload={"now_seconds": seconds_at(clock_at)},
        placed_at=clock_at,
    )
    return [command]


def _touched_models(commands: Sequence[Command]) -> set[int] | None:
    """Return the models whose prices these commands may change; None says all."""
    if any(command.kind == Command.Kind.SET_MARKET_STATE for command in commands):
        return None
    orders = [command.bid or command.offer or command.server for command in commands]
    return {order.gpu_model_id for order in orders if order is not None}


def _write(shard: Shard, *, log: list[Command], batch: Batch, clock_at: datetime) -> None:
    number_commands(
        log=log, first_sequence=shard.last_sequence + 1, answers=batch.answers, now=clock_at
    )
    write_batch(batch, now=clock_at)
    finish_reopening(log, now=clock_at)
    shard.last_sequence += len(log)
    shard.version = next_version()
    shard.last_clock_at = clock_at
    shard.save(update_fields=["last_sequence", "version", "last_clock_at"])


def _keep_after_commit(book: Book, *, shard: Shard) -> None:
    shard_id, version = shard.pk, shard.version
    transaction.on_commit(lambda: keep_book(book, shard_id=shard_id, version=version))
