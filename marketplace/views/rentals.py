"""Rentals: the list, one rental with access and hours, ending early."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from marketplace.accounts.http import SignedInRequest, client_now, signed_in, trading
from marketplace.bell import ring_matcher
from marketplace.operations.deliveries import RentalNotFound
from marketplace.operations.rentals import (
    NotInterrupted,
    RentalIsOver,
    keep_waiting,
    stop_consequence,
    stop_rental,
)
from marketplace.queries.rentals import hour_rows, interruption_of, rentals_of
from marketplace.views.live import live_fragment

PAGE_SIZE = 50


@require_safe
@signed_in
def rentals(request: SignedInRequest) -> HttpResponse:
    rows = rentals_of(organisation_id=request.organisation.pk)
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    return render(request, "marketplace/rentals.html", {"page": page})


@require_safe
@signed_in
def rental(request: SignedInRequest, pk: int) -> HttpResponse:
    """Show one rental: where to connect, what each hour cost, what ending now would mean."""
    found = get_object_or_404(rentals_of(organisation_id=request.organisation.pk), pk=pk)
    now = client_now()
    is_over = found.ended_at is not None
    context = {
        "rental": found,
        "fill": found.fill,
        "hours": hour_rows(rental=found, now=now),
        "now": now,
        "has_access": found.access_opened_at is not None and not is_over,
        "interruption": interruption_of(found),
        "consequence": None if is_over else stop_consequence(rental=found, now=now),
        "may_trade": request.membership.may_trade,
    }
    return live_fragment(
        request,
        page="marketplace/rental.html",
        fragment="marketplace/rental_state.html",
        context=context,
    )


@require_POST
@trading
def rental_stop(request: SignedInRequest, pk: int) -> HttpResponse:
    try:
        stop_rental(
            rental_id=pk,
            organisation_id=request.organisation.pk,
            actor_id=request.user.pk,
            now=client_now(),
        )
    except RentalNotFound:
        raise Http404 from None
    except RentalIsOver:
        messages.info(request, _("This rental had ended already."))
    else:
        ring_matcher()
        messages.success(request, _("The rental is ended; what was not used is free again."))
    return redirect("marketplace:rental", pk=pk)


@require_POST
@trading
def rental_wait(request: SignedInRequest, pk: int) -> HttpResponse:
    """Keep an interrupted rental beyond the hour after which it would end by itself."""
    try:
        keep_waiting(
            rental_id=pk,
            organisation_id=request.organisation.pk,
            actor_id=request.user.pk,
            now=client_now(),
        )
    except RentalNotFound:
        raise Http404 from None
    except NotInterrupted:
        messages.info(request, _("The machine answers again, or the rental is over."))
    else:
        messages.success(request, _("The rental goes on; you may still end it at any time."))
    return redirect("marketplace:rental", pk=pk)
