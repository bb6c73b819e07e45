"""Offers: list a server's hours for sale, and withdraw what is not sold."""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from billing.money import PRICE_MAX_MICRO, PRICE_MIN_MICRO, TICK_MICRO, Currency
from marketplace.accounts.operations.audit import record_act
from marketplace.accounts.operations.organisations import related_group_id
from marketplace.book.calendar import merge_windows
from marketplace.book.types import HORIZON_DAYS, MAX_HOURS, SLOTS_PER_HOUR
from marketplace.locks import lock_server
from marketplace.models import Command, Offer, OfferWindow, Seller, Server
from marketplace.operations.commands import earlier_command, fingerprint_of, submit_command
from marketplace.operations.refusals import Refusal
from marketplace.operations.servers import tell_exchange
from marketplace.operations.slots import is_on_grid, slot_at, time_of

# A month of separate nights, and room for more; the book walks them one by one.
MAX_WINDOWS = 60

Window = tuple[datetime, datetime]


class OfferRefused(Refusal):
    """The offer cannot be listed or withdrawn so; nothing has changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferTerms:
    """What a seller asks. The price is in micro-units of the currency per GPU-hour."""

    ask_price_micro: int
    currency: Currency
    windows: tuple[Window, ...]
    min_gpus: int = 1
    gpu_step: int = 1
    min_hours: int = 1


@transaction.atomic
def list_offer(
    *,
    server_id: int,
    organisation_id: int,
    terms: OfferTerms,
    actor_id: int,
    now: datetime,
    key: str | None = None,
) -> Offer:
    """Offer a server's hours. The exchange lists it with its next batch.

    Safe to repeat with the same ``key``. A server of another organisation does not exist here.

    Raises
    ------
    OfferRefused
        Names the field and the way out; nothing is listed.
    KeyReused
        The key came with another body.
    """
    server = lock_server(server_id=server_id, organisation_id=organisation_id)
    fingerprint = fingerprint_of({"act": "list_offer", "server": server_id} | asdict(terms))
    if key is not None:
        earlier = earlier_command(organisation_id=organisation_id, key=key, fingerprint=fingerprint)
        if earlier is not None:
            assert earlier.offer is not None
            return earlier.offer
    _check_server(server)
    _check_terms(terms, server=server)
    _check_windows(terms, server=server, now=now)
    offer = _store(terms, server=server, now=now)
    tell_exchange(server=server, seller=server.organisation.seller, actor_id=actor_id, now=now)
    _submit(
        offer,
        kind=Command.Kind.PLACE_OFFER,
        actor_id=actor_id,
        now=now,
        key=key,
        fingerprint=fingerprint,
    )
    return offer


@transaction.atomic
def withdraw_offer(*, offer_id: int, organisation_id: int, actor_id: int, now: datetime) -> Offer:
    """Take an offer's unsold hours off the market; sold hours stay sold. Safe to repeat.

    Raises
    ------
    OfferRefused
        The offer is closed already.
    """
    offer = Offer.objects.get(pk=offer_id, organisation_id=organisation_id)
    lock_server(server_id=offer.server_id, organisation_id=organisation_id)
    offer.refresh_from_db()
    if offer.status not in {Offer.Status.PENDING, Offer.Status.OPEN}:
        raise OfferRefused("offer", _("This offer is closed already: list a new one."))
    waiting = Command.objects.filter(
        offer=offer, kind=Command.Kind.WITHDRAW_OFFER, sequence__isnull=True
    )
    if not waiting.exists():
        _submit(offer, kind=Command.Kind.WITHDRAW_OFFER, actor_id=actor_id, now=now)
    return offer


def _store(terms: OfferTerms, *, server: Server, now: datetime) -> Offer:
    offer = Offer.objects.create(
        server=server,
        organisation_id=server.organisation_id,
        gpu_model_id=server.gpu_model_id,
        group_id=related_group_id(organisation_id=server.organisation_id),
        ask_price_micro=terms.ask_price_micro,
        currency=str(terms.currency),
        min_gpus=terms.min_gpus,
        gpu_step=terms.gpu_step,
        min_hours=terms.min_hours,
        created_at=now,
    )
    slots = merge_windows(tuple((slot_at(start), slot_at(end)) for start, end in terms.windows))
    OfferWindow.objects.bulk_create(
        OfferWindow(offer=offer, starts_at=time_of(start), ends_at=time_of(end))
        for start, end in slots
    )
    return offer


def _check_server(server: Server) -> None:
    seller = Seller.objects.filter(organisation_id=server.organisation_id).first()
    if seller is None or seller.state in {Seller.State.APPLIED, Seller.State.REJECTED}:
        raise OfferRefused("seller", _("Our staff verify you before your first offer."))
    if seller.state == Seller.State.SUSPENDED:
        raise OfferRefused("seller", _("Your sales are suspended: please write to us."))
    if server.is_suspended:
        raise OfferRefused("server", _("This server is suspended until it is tested again."))
    open_statuses = [Offer.Status.PENDING, Offer.Status.OPEN]
    if server.offers.filter(status__in=open_statuses).exists():
        raise OfferRefused(
            "server", _("This server has an open offer already: withdraw it before the next one.")
        )


def _check_terms(terms: OfferTerms, *, server: Server) -> None:
    _check_ask(terms)
    if not 1 <= terms.min_gpus <= server.gpu_count:
        raise OfferRefused("min_gpus", _("Choose from 1 GPU up to the number that the server has."))
    if not 1 <= terms.gpu_step <= server.gpu_count:
        raise OfferRefused(
            "gpu_step", _("Choose a step from 1 GPU up to the number that the server has.")
        )
    if server.gpu_count // terms.gpu_step * terms.gpu_step < terms.min_gpus:
        raise OfferRefused(
            "gpu_step", _("No number of GPUs satisfies both the smallest number and the step.")
        )
    if not 1 <= terms.min_hours <= MAX_HOURS:
        raise OfferRefused("min_hours", _("Choose from 1 to 168 hours."))


def _check_ask(terms: OfferTerms) -> None:
    if terms.currency not in set(Currency):
        raise OfferRefused("currency", _("Choose EUR, USD or GBP."))
    if not PRICE_MIN_MICRO <= terms.ask_price_micro <= PRICE_MAX_MICRO:
        raise OfferRefused("ask_price", _("Ask between 0.01 and 100 per GPU and hour."))
    if terms.ask_price_micro % TICK_MICRO:
        raise OfferRefused("ask_price", _("Use at most three decimals in the price."))


def _check_windows(terms: OfferTerms, *, server: Server, now: datetime) -> None:
    if not 1 <= len(terms.windows) <= MAX_WINDOWS:
        raise OfferRefused("windows", _("Give from 1 to 60 periods."))
    for start, end in terms.windows:
        if not (is_on_grid(start) and is_on_grid(end)):
            raise OfferRefused("windows", _("Begin and end each period on a quarter of an hour."))
        if start >= end:
            raise OfferRefused("windows", _("Each period must end after it begins."))
        if slot_at(start) < slot_at(now):
            raise OfferRefused("windows", _("A period must not begin in the past."))
        if end > now + timedelta(days=HORIZON_DAYS):
            raise OfferRefused("windows", _("A period must end within the next 28 days."))
    needed = server.setup_slots + terms.min_hours * SLOTS_PER_HOUR
    if all(slot_at(end) - slot_at(start) < needed for start, end in terms.windows):
        raise OfferRefused(
            "windows",
            _("No period is long enough for the set-up time and the fewest hours: lengthen one."),
        )


def _submit(
    offer: Offer,
    *,
    kind: Command.Kind,
    actor_id: int,
    now: datetime,
    key: str | None = None,
    fingerprint: str = "",
) -> None:
    submit_command(
        kind=kind,
        organisation_id=offer.organisation_id,
        actor_id=actor_id,
        offer_id=offer.pk,
        server_id=offer.server_id,
        key=key,
        fingerprint=fingerprint,
        now=now,
    )
    record_act(
        actor_id=actor_id,
        organisation_id=offer.organisation_id,
        action=f"offer.{kind}",
        object_type="offer",
        object_id=offer.pk,
        now=now,
    )
