"""Intentions: what a customer would order once the market is open. No money is held for them."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from billing.money import Currency
from catalog.models import GpuModel
from marketplace.accounts.models import Organisation
from marketplace.accounts.operations.audit import record_act
from marketplace.locks import lock_organisation
from marketplace.models import Bid, Intention, MarketState
from marketplace.operations.bid_checks import BidOrder, OrderRefused, check_starts, check_terms
from marketplace.operations.commands import KeyReused
from marketplace.queries.exchange import market_state

__all__ = ["IntentionTerms", "KeyReused", "OrderRefused", "save_intention", "withdraw_intention"]

# As many as an organisation may have open orders once the market is open.
MAX_INTENTIONS = 50
MAX_KEY_LENGTH = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentionTerms:
    """What a customer would order.

    The limit is in micro-units of the currency per GPU-hour; None means the best offer's price.
    """

    organisation_id: int
    gpu_model_slug: str
    gpus: int
    hours: int
    currency: Currency
    limit_price_micro: int | None = None
    wanted_start: datetime | None = None
    label: str = ""

    def as_order(self) -> BidOrder:
        """Return the order that this would become, save for the key that opens the machine."""
        kind = Bid.Kind.BUY_NOW if self.limit_price_micro is None else Bid.Kind.LIMIT
        return BidOrder(
            organisation_id=self.organisation_id,
            gpu_model_slug=self.gpu_model_slug,
            kind=kind,
            gpus=self.gpus,
            hours=self.hours,
            currency=self.currency,
            limit_price_micro=self.limit_price_micro,
            ssh_public_key="",
            earliest_start=self.wanted_start,
            label=self.label,
        )


@transaction.atomic
def save_intention(*, terms: IntentionTerms, actor_id: int, key: str, now: datetime) -> Intention:
    """Keep what this organisation would order, by the rules of an order. Nothing is held.

    Safe to repeat: the same key with the same terms gives back the same intention.

    Raises
    ------
    OrderRefused
        Names the field and the way out; nothing is saved.
    KeyReused
        The key came with other terms.
    """
    if not 1 <= len(key) <= MAX_KEY_LENGTH:
        raise OrderRefused("idempotency_key", _("Give a key of 1 to 64 characters."))
    organisation = lock_organisation(organisation_id=terms.organisation_id)
    gpu_model = check_terms(terms.as_order())
    intention = _draft(terms, gpu_model=gpu_model, actor_id=actor_id, key=key, now=now)
    earlier = Intention.objects.filter(organisation=organisation, key=key).first()
    if earlier is not None:
        if _facts(earlier) != _facts(intention):
            raise KeyReused(key)
        return earlier
    _check_saving(organisation, gpu_model=gpu_model)
    check_starts(terms.as_order(), now=now)
    intention.save(force_insert=True)
    _record(intention, action="intention.save", actor_id=actor_id, now=now)
    return intention


@transaction.atomic
def withdraw_intention(
    *, intention_id: int, organisation_id: int, actor_id: int, now: datetime
) -> None:
    """Forget an intention, whatever the market's state.

    An intention of another organisation does not exist here: ``Intention.DoesNotExist``.
    """
    intention = Intention.objects.get(pk=intention_id, organisation_id=organisation_id)
    _record(intention, action="intention.withdraw", actor_id=actor_id, now=now)
    intention.delete()


def _check_saving(organisation: Organisation, *, gpu_model: GpuModel) -> None:
    if market_state(gpu_model_id=gpu_model.pk) != MarketState.State.PRELAUNCH:
        raise OrderRefused(
            "market", _("The market has opened: place the order itself, not an intention.")
        )
    if organisation.is_frozen:
        raise OrderRefused(
            "organisation", _("This organisation is frozen after a dispute: please write to us.")
        )
    if Intention.objects.filter(organisation=organisation).count() >= MAX_INTENTIONS:
        raise OrderRefused(
            "organisation", _("You have 50 intentions: withdraw one before the next.")
        )


def _draft(
    terms: IntentionTerms, *, gpu_model: GpuModel, actor_id: int, key: str, now: datetime
) -> Intention:
    return Intention(
        organisation_id=terms.organisation_id,
        saved_by_id=actor_id,
        gpu_model=gpu_model,
        gpus=terms.gpus,
        hours=terms.hours,
        currency=str(terms.currency),
        limit_price_micro=terms.limit_price_micro,
        wanted_start=terms.wanted_start,
        label=terms.label.strip(),
        key=key,
        saved_at=now,
    )


def _facts(intention: Intention) -> tuple[object, ...]:
    return (
        intention.gpu_model_id,
        intention.gpus,
        intention.hours,
        intention.currency,
        intention.limit_price_micro,
        intention.wanted_start,
        intention.label,
    )


def _record(intention: Intention, *, action: str, actor_id: int, now: datetime) -> None:
    record_act(
        actor_id=actor_id,
        organisation_id=intention.organisation_id,
        action=action,
        object_type="intention",
        object_id=intention.pk,
        now=now,
    )
