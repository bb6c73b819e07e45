"""What an order would do and cost, from the stored rows. Nothing is placed or held."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.utils.translation import gettext_lazy as _

from billing.money import hold_minor, net_minor
from billing.operations.taxes import BillingProfileMissing, tax_for
from billing.tax import TaxDecision
from catalog.models import GpuModel
from marketplace.accounts.operations.organisations import related_group_id
from marketplace.book.matching import Book
from marketplace.book.outcomes import BestPrice, BidAnswer, Filled
from marketplace.book.types import Bid as BookBid
from marketplace.models import MAIN_SHARD, Bid, Offer, Shard
from marketplace.operations.bid_checks import BidOrder, OrderRefused, check_starts, check_terms
from marketplace.operations.book_rows import book_bid, restore_book
from marketplace.operations.slots import time_of
from marketplace.queries.exchange import free_minor

# A draft has no place in the log; the book takes it as the next order.
NO_SEQUENCE = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BidPreview:
    """What the exchange would answer now, and the money.

    ``price_micro`` is what the customer would pay: the offer's price when it fills at once, else
    the limit. Net, VAT and hold are at the limit, as the real hold is. ``reason`` is a code of the
    book's reasons. Without a billing profile ``tax`` is None: the VAT is unknown and shown as 0.
    """

    limit_price_micro: int
    price_micro: int
    earliest_start: datetime
    latest_start: datetime
    starts_at: datetime | None
    ends_at: datetime | None
    would_fill: bool
    reason: str
    offer: Offer | None
    cheapest_fit: Offer | None
    net_minor: int
    vat_minor: int
    free_minor: int
    missing_minor: int
    tax: TaxDecision | None

    @property
    def hold_minor(self) -> int:
        return self.net_minor + self.vat_minor


def preview_bid(*, order: BidOrder, now: datetime) -> BidPreview:
    """Say what placing this order now would do.

    Raises
    ------
    OrderRefused
        As placing would, save for the SSH key, the market's state and the count of open orders.
    """
    gpu_model = check_terms(order)
    book = _book_of(gpu_model, now=now)
    bid = draft_bid(order, gpu_model=gpu_model, book=book, now=now)
    return _preview(bid, answer=book.preview(book_bid(bid, sequence=NO_SEQUENCE)), now=now)


def draft_bid(
    order: BidOrder, *, gpu_model: GpuModel, now: datetime, book: Book | None = None
) -> Bid:
    """Return the order as an unsaved bid whose open points are settled: price and starts.

    Raises
    ------
    OrderRefused
        A start that cannot be met, or a buy-now that nothing serves.
    """
    if order.kind == Bid.Kind.BUY_NOW and None in (order.earliest_start, order.limit_price_micro):
        order = _at_best_offer(order, gpu_model=gpu_model, book=book, now=now)
    assert order.limit_price_micro is not None
    earliest_start, latest_start = check_starts(order, now=now)
    return Bid(
        organisation_id=order.organisation_id,
        gpu_model=gpu_model,
        group_id=related_group_id(organisation_id=order.organisation_id),
        kind=order.kind,
        gpus=order.gpus,
        hours=order.hours,
        currency=str(order.currency),
        limit_price_micro=order.limit_price_micro,
        earliest_start=earliest_start,
        latest_start=latest_start,
        regions=sorted(set(order.regions)),
        tiers=sorted(set(order.tiers)),
        label=order.label.strip(),
        placed_at=now,
    )


def _book_of(gpu_model: GpuModel, *, now: datetime) -> Book:
    shard = Shard.objects.get(pk=MAIN_SHARD)
    return restore_book(shard=shard, gpu_model_id=gpu_model.pk, now=now)


def _at_best_offer(
    order: BidOrder, *, gpu_model: GpuModel, book: Book | None, now: datetime
) -> BidOrder:
    """Settle a buy-now's price, when it has none, and its start by the offer it would take."""
    best = _quote(order, gpu_model=gpu_model, book=book or _book_of(gpu_model, now=now), now=now)
    limit_micro = order.limit_price_micro or best.ask_micro
    if best.ask_micro > limit_micro:
        raise OrderRefused(
            "limit_price", _("The best offer costs more now: accept its price or leave a bid.")
        )
    earliest_start = order.earliest_start or time_of(best.start_slot)
    return replace(order, limit_price_micro=limit_micro, earliest_start=earliest_start)


def _quote(order: BidOrder, *, gpu_model: GpuModel, book: Book, now: datetime) -> BestPrice:
    best = book.quote(
        BookBid(
            id=0,
            sequence=NO_SEQUENCE,
            buyer_group=related_group_id(organisation_id=order.organisation_id),
            gpu_model=gpu_model.slug,
            gpus=order.gpus,
            hours=order.hours,
            limit_micro=1,
            currency=str(order.currency),
            earliest_start=0,
            latest_start=0,
            is_buy_now=True,
            placed_at=0,
            regions=frozenset(order.regions),
            tiers=frozenset(order.tiers),
        )
    )
    if best is None:
        raise OrderRefused(
            "gpu_model",
            _("No offer serves this order now: change it, or leave a bid at your price."),
        )
    return best


def _preview(bid: Bid, *, answer: BidAnswer, now: datetime) -> BidPreview:
    fill = answer.fill if isinstance(answer, Filled) else None
    starts_at = time_of(fill.start_slot) if fill else None
    tax = _known_tax(organisation_id=bid.organisation_id, now=now)
    net = net_minor(price_micro=bid.limit_price_micro, gpus=bid.gpus, hours=bid.hours)
    held = hold_minor(
        price_micro=bid.limit_price_micro,
        gpus=bid.gpus,
        hours=bid.hours,
        vat_bps=tax.rate_bps if tax else 0,
    )
    free = free_minor(organisation_id=bid.organisation_id, currency=bid.currency)
    return BidPreview(
        limit_price_micro=bid.limit_price_micro,
        price_micro=fill.customer_price_micro if fill else bid.limit_price_micro,
        earliest_start=bid.earliest_start,
        latest_start=bid.latest_start,
        starts_at=starts_at,
        ends_at=starts_at + timedelta(hours=bid.hours) if starts_at else None,
        would_fill=fill is not None,
        reason=answer.decision.reason.value,
        offer=_offer(answer.decision.chosen),
        cheapest_fit=_offer(answer.decision.cheapest_fit),
        net_minor=net,
        vat_minor=held - net,
        free_minor=free,
        missing_minor=max(held - free, 0),
        tax=tax,
    )


def _offer(offer_id: int | None) -> Offer | None:
    if offer_id is None:
        return None
    return Offer.objects.select_related("server").get(pk=offer_id)


def _known_tax(*, organisation_id: int, now: datetime) -> TaxDecision | None:
    try:
        return tax_for(organisation_id=organisation_id, on=now.date())
    except BillingProfileMissing:
        return None
