"""Ordering: the ticket, the review, the order's own page, cancelling."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from billing.money import BPS, hold_minor
from billing.operations.holds import InsufficientFunds
from catalog.models import GpuModel
from marketplace.accounts.http import (
    SignedInRequest,
    client_now,
    form_page,
    having_accepted_terms,
    signed_in,
    trading,
)
from marketplace.accounts.models import SshKey
from marketplace.accounts.rate_limits import Limit, count_act
from marketplace.bell import ring_matcher
from marketplace.forms.orders import ReviewForm, TicketForm
from marketplace.models import Bid
from marketplace.operations.bids import (
    BidOrder,
    BidPreview,
    KeyReused,
    cancel_bid,
    place_bid,
    preview_bid,
)
from marketplace.operations.refusals import Refusal
from marketplace.queries.exchange import market_state
from marketplace.queries.orders import held_for, last_decision, orders_of, reason_words
from marketplace.views.intentions import is_before_launch, to_intention
from marketplace.views.live import live_fragment
from marketplace.views.refused import add_refusal

PAGE_SIZE = 50


@require_safe
def order_new(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the whole ticket of a model, filled in from the address."""
    gpu = get_object_or_404(GpuModel, slug=slug, is_listed=True)
    if is_before_launch(gpu):
        return to_intention(request, slug)
    initial = {name: value for name, value in request.GET.items() if name in TicketForm.base_fields}
    form = TicketForm(initial=initial)
    return _ticket_page(request, form, gpu=gpu)


@form_page
@trading
@having_accepted_terms
def order_review(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show what the ticket would do and hold; place it when it is accepted."""
    gpu = get_object_or_404(GpuModel, slug=slug, is_listed=True)
    if request.method != "POST" and is_before_launch(gpu):
        return to_intention(request, slug)
    ticket = TicketForm(request.GET)
    if not ticket.is_valid():
        return _ticket_page(request, ticket, gpu=gpu)
    order = ticket.order(organisation_id=request.organisation.pk, slug=slug)
    count_act(limit=Limit.PREVIEW, who=request.organisation.pk)
    now = client_now()
    try:
        preview = preview_bid(order=order, now=now)
    except Refusal as refusal:
        add_refusal(ticket, refusal)
        return _ticket_page(request, ticket, gpu=gpu)
    form = _review_form(request, preview)
    if request.method == "POST" and form.is_valid():
        bid = _place(request, form, order=order, now=now)
        if bid is not None:
            ring_matcher()
            return redirect("marketplace:order", pk=bid.pk)
    return _review_page(request, form, order=order, preview=preview, gpu=gpu)


def _review_form(request: SignedInRequest, preview: BidPreview) -> ReviewForm:
    keys = list(SshKey.objects.filter(user_id=request.user.pk).order_by("name", "id"))
    initial = ReviewForm.first_values(
        price_micro=preview.limit_price_micro, start=preview.earliest_start
    )
    initial["label"] = request.GET.get("label", "")
    return ReviewForm(request.POST or None, keys=keys, initial=initial)


def _place(
    request: SignedInRequest, form: ReviewForm, *, order: BidOrder, now: datetime
) -> Bid | None:
    """Place what the customer accepted: the price and start that the page showed, not newer ones."""
    count_act(limit=Limit.ORDER, who=request.organisation.pk, key=form.cleaned_data["key"])
    accepted = replace(
        order,
        ssh_public_key=form.public_key,
        label=form.cleaned_data["label"],
        limit_price_micro=form.cleaned_data["accepted_price_micro"],
        earliest_start=_accepted_start(form, order),
    )
    try:
        return place_bid(
            order=accepted, actor_id=request.user.pk, key=form.cleaned_data["key"], now=now
        )
    except Refusal as refusal:
        add_refusal(form, refusal)
    except InsufficientFunds:
        form.add_error(None, _("Your balance does not cover this order; nothing was bought."))
    except KeyReused:
        form.add_error(None, _("This form was sent before with other values: open it again."))
    return None


def _accepted_start(form: ReviewForm, order: BidOrder) -> datetime | None:
    if order.kind == Bid.Kind.LIMIT:
        return order.earliest_start
    return datetime.fromtimestamp(form.cleaned_data["accepted_start"], tz=UTC)


def _ticket_page(request: HttpRequest, form: TicketForm, *, gpu: GpuModel) -> HttpResponse:
    context = {"form": form, "gpu": gpu, "state": market_state(gpu_model_id=gpu.pk)}
    return render(request, "marketplace/order_new.html", context)


def _review_page(
    request: SignedInRequest,
    form: ReviewForm,
    *,
    order: BidOrder,
    preview: BidPreview,
    gpu: GpuModel,
) -> HttpResponse:
    context = {
        "form": form,
        "gpu": gpu,
        "order": order,
        "preview": preview,
        "state": market_state(gpu_model_id=gpu.pk),
        "after_minor": preview.free_minor - preview.hold_minor,
        "reason": reason_words(preview.reason),
        "vat_rate": Decimal(preview.tax.rate_bps) / BPS if preview.tax else None,
        "setup_starts_at": _setup_start(preview),
        "affordable_hours": _affordable_hours(order, preview),
        "query": request.GET.urlencode(),
    }
    return render(request, "marketplace/order_review.html", context)


def _setup_start(preview: BidPreview) -> datetime | None:
    if preview.offer is None or preview.starts_at is None:
        return None
    return preview.starts_at - timedelta(minutes=15 * preview.offer.server.setup_slots)


def _affordable_hours(order: BidOrder, preview: BidPreview) -> int:
    """Return the most hours of this order that the free balance covers."""
    vat_bps = preview.tax.rate_bps if preview.tax else 0
    for hours in range(order.hours - 1, 0, -1):
        held = hold_minor(
            price_micro=preview.limit_price_micro, gpus=order.gpus, hours=hours, vat_bps=vat_bps
        )
        if held <= preview.free_minor:
            return hours
    return 0


@require_safe
@signed_in
def orders(request: SignedInRequest) -> HttpResponse:
    rows = orders_of(organisation_id=request.organisation.pk)
    status = request.GET.get("status", "")
    if status in Bid.Status.values:
        rows = rows.filter(status=status)
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {"page": page, "status": status, "statuses": Bid.Status.choices}
    return render(request, "marketplace/orders.html", context)


@require_safe
@signed_in
def order(request: SignedInRequest, pk: int) -> HttpResponse:
    """Show one order and follow it until it is filled or closed."""
    bid = get_object_or_404(orders_of(organisation_id=request.organisation.pk), pk=pk)
    fill = getattr(bid, "fill", None)
    context = {
        "bid": bid,
        "fill": fill,
        "rental": getattr(fill, "rental", None),
        "held_minor": held_for(bid),
        "decision": last_decision(bid),
        "refusal": reason_words(bid.refusal) if bid.refusal else "",
        "may_trade": request.membership.may_trade,
        "is_being_cancelled": _is_being_cancelled(bid),
    }
    return live_fragment(
        request,
        page="marketplace/order.html",
        fragment="marketplace/order_state.html",
        context=context,
    )


def _is_being_cancelled(bid: Bid) -> bool:
    waiting = bid.commands.filter(kind="cancel_bid", sequence__isnull=True)
    return bid.is_open and waiting.exists()


@require_POST
@trading
def order_cancel(request: SignedInRequest, pk: int) -> HttpResponse:
    count_act(limit=Limit.CANCEL, who=request.organisation.pk)
    try:
        cancel_bid(
            bid_id=pk,
            organisation_id=request.organisation.pk,
            actor_id=request.user.pk,
            now=client_now(),
        )
    except Bid.DoesNotExist:
        raise Http404 from None
    except Refusal as refusal:
        messages.error(request, str(refusal.message))
    else:
        ring_matcher()
        messages.success(request, _("The order is being cancelled and its hold released."))
    return redirect("marketplace:order", pk=pk)
