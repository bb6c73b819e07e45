"""What a customer's pages show: orders with their decisions and fills."""

from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from billing.models import Hold
from marketplace.models import Bid, Decision

# Why an order stands where it stands: the exchange's codes in words.
REASONS: dict[str, str | Promise] = {
    "best_offer": _("Served by the cheapest offer that fits."),
    "no_fit": _("No offer has the GPUs and hours in a row that this order asks for."),
    "price": _("The cheapest offer that fits asks more than your limit."),
    "stale": _("It reached the exchange more than 30 seconds late, so nothing was bought."),
    "halted": _("The market was halted."),
    "too_late": _("The latest start could not be met any more."),
}

# The first rule that excluded an offer, in words.
RULES: dict[str, str | Promise] = {
    "suspended": _("server suspended"),
    "related": _("your own organisation’s"),
    "region": _("other region"),
    "tier": _("other tier"),
    "gpus": _("GPUs do not fit"),
    "hours": _("hours do not fit"),
    "price": _("above your limit"),
    "start": _("no free time in your window"),
}


@dataclass(frozen=True, slots=True)
class DecisionView:
    """A decision in words, and how many offers each rule excluded."""

    decision: Decision
    reason: str | Promise
    excluded: list[tuple[str | Promise, int]]


def orders_of(*, organisation_id: int) -> QuerySet[Bid]:
    """Return the organisation's orders, newest first."""
    return (
        Bid.objects.filter(organisation_id=organisation_id)
        .select_related("gpu_model", "fill__rental")
        .order_by("-id")
    )


def open_orders_of(*, organisation_id: int) -> QuerySet[Bid]:
    return orders_of(organisation_id=organisation_id).filter(
        status__in=[Bid.Status.PENDING, Bid.Status.RESTING]
    )


def held_for(bid: Bid) -> int:
    """Return what is still set aside for an order, in minor units of its currency."""
    hold = Hold.objects.filter(purpose=bid.hold_purpose, state=Hold.State.OPEN).first()
    return hold.remaining_minor if hold else 0


def last_decision(bid: Bid) -> DecisionView | None:
    decision = bid.decisions.select_related("chosen_offer").order_by("-sequence", "-id").first()
    if decision is None:
        return None
    counts: dict[str, int] = {}
    for candidate in decision.candidates:
        rule = str(candidate.get("rule", ""))
        counts[rule] = counts.get(rule, 0) + 1
    excluded = [(words, counts[code]) for code, words in RULES.items() if code in counts]
    return DecisionView(decision, REASONS.get(decision.reason, decision.reason), excluded)


def reason_words(code: str) -> str | Promise:
    return REASONS.get(code, code)
