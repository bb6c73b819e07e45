"""What an order may ask for. Each refusal names the field and the way out."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from billing.money import PRICE_MAX_MICRO, PRICE_MIN_MICRO, TICK_MICRO, Currency
from catalog.models import GpuModel
from marketplace.accounts.models import Organisation
from marketplace.accounts.operations.keys import NotAPublicKey, read_public_key
from marketplace.book.calendar import earliest_paid_start
from marketplace.book.types import HORIZON_DAYS, MAX_HOURS
from marketplace.models import Bid, MarketState, Server
from marketplace.operations.refusals import Refusal
from marketplace.operations.slots import is_on_grid, seconds_at, slot_at, time_of
from marketplace.queries.exchange import (
    has_topped_up,
    largest_server_gpus,
    market_state,
    open_bids_count,
)

# An organisation's waiting orders: enough for a team, few enough to look through on one page.
MAX_OPEN_BIDS = 50
MAX_OPEN_BIDS_BEFORE_TOP_UP = 5
MAX_LABEL_LENGTH = 60
WAITS_BY_DEFAULT = timedelta(hours=24)


class OrderRefused(Refusal):
    """The order cannot be placed or cancelled so; nothing has changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BidOrder:
    """What a customer asks for.

    The limit is in micro-units of the currency per GPU-hour; a preview of a buy-now may leave it
    out. Without ``earliest_start`` a bid waits from the next reachable slot and a buy-now takes the
    best offer's own next start; without ``latest_start`` a bid waits 24 hours. A buy-now's latest
    start is always one slot after its earliest.
    """

    organisation_id: int
    gpu_model_slug: str
    kind: Bid.Kind
    gpus: int
    hours: int
    currency: Currency
    limit_price_micro: int | None
    ssh_public_key: str
    earliest_start: datetime | None = None
    latest_start: datetime | None = None
    regions: tuple[str, ...] = ()
    tiers: tuple[str, ...] = ()
    label: str = ""


def check_terms(order: BidOrder) -> GpuModel:
    """Refuse what no server could ever serve, and prices off the grid; return the GPU model."""
    gpu_model = GpuModel.objects.filter(slug=order.gpu_model_slug, is_listed=True).first()
    if gpu_model is None:
        raise OrderRefused("gpu_model", _("Choose a GPU model of the catalogue."))
    if order.kind not in Bid.Kind.values:
        raise OrderRefused("kind", _("Choose to buy now or to leave a bid."))
    _check_sizes(order, gpu_model_id=gpu_model.pk)
    _check_price(order)
    if not set(order.regions) <= set(Server.Region.values):
        raise OrderRefused("regions", _("Choose regions of the list."))
    if not set(order.tiers) <= set(Server.Tier.values):
        raise OrderRefused("tiers", _("Choose tiers of the list."))
    if len(order.label) > MAX_LABEL_LENGTH:
        raise OrderRefused("label", _("Shorten the label to 60 characters."))
    return gpu_model


def check_placing(*, organisation: Organisation, gpu_model_id: int) -> None:
    """Refuse an order that the market or the organisation cannot take at this time."""
    match market_state(gpu_model_id=gpu_model_id):
        case MarketState.State.PRELAUNCH:
            raise OrderRefused("market", _("The market is not open yet: come back at its launch."))
        case MarketState.State.HALTED:
            raise OrderRefused(
                "market", _("Trading is halted: your bids stay, new orders must wait.")
            )
        case MarketState.State.REOPENING:
            raise OrderRefused(
                "market", _("Trading opens again soon: until then you can only cancel.")
            )
        case MarketState.State.OPEN:
            pass
    if organisation.is_frozen:
        raise OrderRefused(
            "organisation", _("This organisation is frozen after a dispute: please write to us.")
        )
    _check_open_bids(organisation_id=organisation.pk)


def check_ssh_key(order: BidOrder) -> str:
    """Return the public key as one clean line."""
    try:
        line, _fingerprint = read_public_key(order.ssh_public_key)
    except NotAPublicKey as error:
        raise OrderRefused("ssh_public_key", error.message) from error
    return line


def check_starts(order: BidOrder, *, now: datetime) -> tuple[datetime, datetime]:
    """Return the earliest and latest start of paid time that an order with known times means."""
    first_reachable = time_of(earliest_paid_start(now_seconds=seconds_at(now), setup_slots=0))
    earliest = order.earliest_start or first_reachable
    _check_time("earliest_start", earliest, now=now)
    if order.kind == Bid.Kind.BUY_NOW:
        latest = time_of(slot_at(earliest) + 1)
    else:
        latest = order.latest_start or max(earliest, first_reachable) + WAITS_BY_DEFAULT
        _check_time("latest_start", latest, now=now)
    if latest < earliest:
        raise OrderRefused(
            "latest_start", _("The latest start must not come before the earliest start.")
        )
    if latest < first_reachable:
        field = "earliest_start" if order.kind == Bid.Kind.BUY_NOW else "latest_start"
        raise OrderRefused(field, _("This start cannot be met any more: choose a later one."))
    return earliest, latest


def _check_sizes(order: BidOrder, *, gpu_model_id: int) -> None:
    if order.gpus < 1:
        raise OrderRefused("gpus", _("Choose at least 1 GPU."))
    largest = largest_server_gpus(gpu_model_id=gpu_model_id)
    if order.gpus > largest:
        message = ngettext_lazy(
            "The largest server of this model has %(count)s GPU.",
            "The largest server of this model has %(count)s GPUs: choose fewer.",
            largest,
        )
        raise OrderRefused("gpus", message % {"count": largest})
    if not 1 <= order.hours <= MAX_HOURS:
        raise OrderRefused("hours", _("Choose from 1 to 168 hours."))
    if order.currency not in set(Currency):
        raise OrderRefused("currency", _("Choose EUR, USD or GBP."))


def _check_price(order: BidOrder) -> None:
    price_micro = order.limit_price_micro
    if price_micro is None:
        if order.kind != Bid.Kind.BUY_NOW:
            raise OrderRefused("limit_price", _("Give the most you would pay per GPU and hour."))
        return
    if not PRICE_MIN_MICRO <= price_micro <= PRICE_MAX_MICRO:
        raise OrderRefused("limit_price", _("Give a price between 0.01 and 100 per GPU and hour."))
    if price_micro % TICK_MICRO:
        raise OrderRefused("limit_price", _("Use at most three decimals in the price."))


def _check_time(field: str, moment: datetime, *, now: datetime) -> None:
    if not is_on_grid(moment):
        raise OrderRefused(field, _("Choose a time on a quarter of an hour."))
    if slot_at(moment) < slot_at(now):
        raise OrderRefused(field, _("Choose a time that is not in the past."))
    if moment > now + timedelta(days=HORIZON_DAYS):
        raise OrderRefused(field, _("Choose a time within the next 28 days."))


def _check_open_bids(*, organisation_id: int) -> None:
    count = open_bids_count(organisation_id=organisation_id)
    if count >= MAX_OPEN_BIDS:
        raise OrderRefused(
            "organisation", _("You have 50 open orders: cancel one before the next.")
        )
    if count >= MAX_OPEN_BIDS_BEFORE_TOP_UP and not has_topped_up(organisation_id=organisation_id):
        raise OrderRefused(
            "organisation",
            _("You may have 5 open orders before your first top-up: top up or cancel one."),
        )
