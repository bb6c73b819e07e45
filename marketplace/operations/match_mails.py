"""Tell people what the exchange did: an order filled, hours sold, a bid expired.

The fill or the bid is the job: it stays untold until its mails are written, in one transaction
with the mark that they are. The matcher itself writes no mail, it would keep the shard waiting.
"""

from collections.abc import Collection
from datetime import datetime

from django.db import transaction

from billing.money import hold_minor
from marketplace.accounts.models import MailKind, User
from marketplace.locks import claim_untold_bids, claim_untold_fills
from marketplace.models import Bid, Fill
from marketplace.operations.charging import in_batches
from marketplace.operations.letters import Letter, traders_of, write_letters
from marketplace.rental_time import READY_WITHIN

# What one sweep takes on; the next one, seconds later, takes the rest.
SWEEP_MATCHES = 2_000


def tell_of_matches(*, now: datetime) -> int:
    """Write the mails about fills and expired bids that nobody was told of; return of how many.

    Safe to repeat and to run twice at once: each is told once.
    """
    fills = Fill.objects.filter(told_at__isnull=True)
    bids = Bid.objects.filter(status=Bid.Status.EXPIRED, expiry_told_at__isnull=True)
    failure = "People could not be told of a match."
    return in_batches(
        ids=list(fills.order_by("pk").values_list("pk", flat=True)[:SWEEP_MATCHES]),
        act=lambda ids: _tell_of_fills(ids, now=now),
        failure=failure,
    ) + in_batches(
        ids=list(bids.order_by("pk").values_list("pk", flat=True)[:SWEEP_MATCHES]),
        act=lambda ids: _tell_of_expiries(ids, now=now),
        failure=failure,
    )


@transaction.atomic
def _tell_of_fills(ids: Collection[int], *, now: datetime) -> int:
    fills = claim_untold_fills(ids=ids)
    sellers = traders_of(organisation_ids={fill.seller_id for fill in fills})
    write_letters(
        letter
        for fill in fills
        for letter in (
            _to_customer(fill),
            *(_to_seller(fill, reader=reader) for reader in sellers[fill.seller_id]),
        )
    )
    return Fill.objects.filter(pk__in=[fill.pk for fill in fills]).update(told_at=now)


@transaction.atomic
def _tell_of_expiries(ids: Collection[int], *, now: datetime) -> int:
    bids = claim_untold_bids(ids=ids)
    write_letters(_of_expiry(bid) for bid in bids)
    return Bid.objects.filter(pk__in=[bid.pk for bid in bids]).update(expiry_told_at=now)


def _to_customer(fill: Fill) -> Letter:
    return Letter(
        reader=fill.bid.placed_by,
        kind=MailKind.ORDER_FILLED,
        template="order_filled",
        page="marketplace:rental",
        page_id=fill.rental.pk,
        context={
            "fill": fill,
            "rental": fill.rental,
            "gpu_model": fill.bid.gpu_model.name,
            "held_minor": hold_minor(
                price_micro=fill.customer_price_micro,
                gpus=fill.gpus,
                hours=fill.hours,
                vat_bps=fill.bid.vat_bps,
            ),
        },
    )


def _to_seller(fill: Fill, *, reader: User) -> Letter:
    return Letter(
        reader=reader,
        kind=MailKind.HOURS_SOLD,
        template="hours_sold",
        page="marketplace:sale",
        page_id=fill.rental.pk,
        context={
            "fill": fill,
            "rental": fill.rental,
            "gpu_model": fill.bid.gpu_model.name,
            "deadline": fill.starts_at + READY_WITHIN,
        },
    )


def _of_expiry(bid: Bid) -> Letter:
    return Letter(
        reader=bid.placed_by,
        kind=MailKind.BID_EXPIRED,
        template="bid_expired",
        page="marketplace:order",
        page_id=bid.pk,
        context={"bid": bid, "gpu_model": bid.gpu_model.name},
    )
