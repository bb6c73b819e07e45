"""Write a batch: one statement per table, whatever the number of orders.

The server days are changed by differences, so that the database adds up for itself what is sold
and refuses a slot sold twice, whatever the matcher's memory says.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from django.conf import settings
from django.db import connection

from billing.money import hold_minor
from billing.operations.holds import change_holds
from marketplace.accounts.models import AuditEntry
from marketplace.book import outcomes as told
from marketplace.book.types import Fill as BookFill
from marketplace.models import SLOTS_PER_DAY, Bid, Command, Decision, Fill, Offer, Rental
from marketplace.models.demand import hold_purpose
from marketplace.operations.batches import Batch
from marketplace.operations.slots import time_of

CLOSED_WITHOUT_FILL = (Bid.Status.REFUSED, Bid.Status.CANCELLED, Bid.Status.EXPIRED)

NUMBER_COMMANDS = """
UPDATE marketplace_command AS command
SET sequence = numbered.sequence, outcome = numbered.outcome, numbered_at = %s
FROM unnest(%s::bigint[], %s::bigint[], %s::text[]) AS numbered (id, sequence, outcome)
WHERE command.id = numbered.id
"""
CHANGE_BIDS = """
UPDATE marketplace_bid AS bid
SET status = changed.status, refusal = changed.refusal,
    sequence = coalesce(changed.sequence, bid.sequence),
    closed_at = CASE WHEN changed.status = 'resting' THEN NULL ELSE %s::timestamptz END
FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::bigint[])
    AS changed (id, status, refusal, sequence)
WHERE bid.id = changed.id
"""
CHANGE_OFFERS = """
UPDATE marketplace_offer AS offer
SET status = changed.status, sequence = coalesce(changed.sequence, offer.sequence),
    closed_at = CASE WHEN changed.status = 'open' THEN NULL ELSE %s::timestamptz END
FROM unnest(%s::bigint[], %s::text[], %s::bigint[]) AS changed (id, status, sequence)
WHERE offer.id = changed.id
"""
ADD_DAYS = """
INSERT INTO marketplace_serverday (server_id, day, capacity, used)
SELECT added.server_id, added.day, server.gpu_count, array_fill(0::smallint, ARRAY[%s::int])
FROM unnest(%s::bigint[], %s::date[]) AS added (server_id, day)
JOIN marketplace_server AS server ON server.id = added.server_id
ON CONFLICT (server_id, day) DO NOTHING
"""
USE_SLOTS = """
UPDATE marketplace_serverday AS day
SET capacity = server.gpu_count,
    used = (
        SELECT array_agg((slot.used + slot.change)::smallint ORDER BY slot.place)
        FROM unnest(day.used, added.changes::smallint[]) WITH ORDINALITY
            AS slot (used, change, place)
    )
FROM unnest(%s::bigint[], %s::date[], %s::text[]) AS added (server_id, day, changes)
JOIN marketplace_server AS server ON server.id = added.server_id
WHERE day.server_id = added.server_id AND day.day = added.day
"""


def number_commands(
    *, log: Sequence[Command], first_sequence: int, answers: Mapping[int, str], now: datetime
) -> None:
    """Give the commands their numbers in order, and their outcomes."""
    ids = [command.pk for command in log]
    numbers = list(range(first_sequence, first_sequence + len(log)))
    _execute(NUMBER_COMMANDS, now, ids, numbers, [answers[pk] for pk in ids])


def write_batch(batch: Batch, *, now: datetime) -> None:
    """Write orders, fills, rentals, decisions and the calendar, and bring the holds along."""
    _write_orders(batch, now=now)
    bids = Bid.objects.in_bulk([fill.bid_id for fill in batch.fills])
    fills = _write_fills(batch.fills, bids=bids, now=now)
    _write_rentals(fills)
    _write_audit(fills, now=now)
    _write_decisions(batch.decisions, now=now)
    _write_days(batch.used)
    _settle_holds(batch, bids=bids, now=now)


def _write_orders(batch: Batch, *, now: datetime) -> None:
    bids = sorted(batch.bids.items())
    if bids:
        _execute(
            CHANGE_BIDS,
            now,
            [pk for pk, _ in bids],
            [change.status.value for _, change in bids],
            [change.refusal for _, change in bids],
            [change.sequence for _, change in bids],
        )
    offers = sorted(batch.offers.items())
    if offers:
        _execute(
            CHANGE_OFFERS,
            now,
            [pk for pk, _ in offers],
            [change.status.value for _, change in offers],
            [change.sequence for _, change in offers],
        )


def _write_fills(
    fills: Sequence[BookFill], *, bids: Mapping[int, Bid], now: datetime
) -> list[Fill]:
    offers = Offer.objects.in_bulk([fill.offer_id for fill in fills])
    return Fill.objects.bulk_create(
        _fill(fill, bid=bids[fill.bid_id], offer=offers[fill.offer_id], now=now) for fill in fills
    )


def _fill(fill: BookFill, *, bid: Bid, offer: Offer, now: datetime) -> Fill:
    return Fill(
        bid=bid,
        offer=offer,
        server_id=fill.server_id,
        seller_id=offer.organisation_id,
        sequence=fill.sequence,
        starts_at=time_of(fill.start_slot),
        hours=fill.hours,
        gpus=fill.gpus,
        setup_slots=fill.setup_slots,
        min_hours=offer.min_hours,
        customer_currency=bid.currency,
        customer_price_micro=fill.customer_price_micro,
        seller_currency=offer.currency,
        seller_price_micro=fill.seller_price_micro,
        fee_bps=settings.PLATFORM_FEE_BPS,
        occurred_at=now,
    )


def _write_rentals(fills: Sequence[Fill]) -> None:
    Rental.objects.bulk_create(_rental(fill) for fill in fills)


def _rental(fill: Fill) -> Rental:
    return Rental(
        fill=fill,
        organisation_id=fill.bid.organisation_id,
        server_id=fill.server_id,
        setup_starts_at=fill.setup_starts_at,
        starts_at=fill.starts_at,
        ends_at=fill.ends_at,
        ssh_public_key=fill.bid.ssh_public_key,
    )


def _write_audit(fills: Sequence[Fill], *, now: datetime) -> None:
    AuditEntry.objects.bulk_create(
        AuditEntry(
            organisation_id=fill.bid.organisation_id,
            action="exchange.fill",
            object_type="fill",
            object_id=str(fill.pk),
            details={"bid": fill.bid_id, "offer": fill.offer_id, "sequence": fill.sequence},
            occurred_at=now,
        )
        for fill in fills
    )


def _write_decisions(decisions: Sequence[told.Decision], *, now: datetime) -> None:
    Decision.objects.bulk_create(
        Decision(
            bid_id=decision.bid_id,
            sequence=decision.sequence,
            reason=decision.reason.value,
            chosen_offer_id=decision.chosen,
            cheapest_fit_id=decision.cheapest_fit,
            candidates=[
                {"offer": passed.offer_id, "rule": passed.rule.value}
                for passed in decision.excluded
            ],
            more_candidates=decision.unlisted,
            decided_at=now,
        )
        for decision in decisions
    )


def _write_days(used: Mapping[tuple[int, date], Sequence[int]]) -> None:
    if not used:
        return
    days = sorted(used)
    servers = [server_id for server_id, _ in days]
    dates = [day for _, day in days]
    changes = ["{" + ",".join(map(str, used[day])) + "}" for day in days]
    _execute(ADD_DAYS, SLOTS_PER_DAY, servers, dates)
    changed = _execute(USE_SLOTS, servers, dates, changes)
    assert changed == len(days)


def _settle_holds(batch: Batch, *, bids: Mapping[int, Bid], now: datetime) -> None:
    """Free what closed bids held, and what a fill below its limit needs no more."""
    amounts_minor = {
        bid.hold_purpose: hold_minor(
            price_micro=fill.customer_price_micro,
            gpus=fill.gpus,
            hours=fill.hours,
            vat_bps=bid.vat_bps,
        )
        for fill in batch.fills
        if fill.customer_price_micro < (bid := bids[fill.bid_id]).limit_price_micro
    }
    released = [hold_purpose(bid_id=pk) for pk in batch.bids_in(*CLOSED_WITHOUT_FILL)]
    change_holds(amounts_minor=amounts_minor, released=released, now=now)


def _execute(statement: str, *parameters: int | datetime | list[Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, list(parameters))
        count: int = cursor.rowcount
    return count
