"""What a seller sold: the list, one sale, handing a machine over, earnings."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from billing.queries import earnings_of
from marketplace.accounts.http import SignedInRequest, client_now, form_page, signed_in
from marketplace.accounts.rate_limits import Limit, count_act
from marketplace.forms.supply import HandOverForm
from marketplace.models import Rental
from marketplace.operations.deliveries import HandOver, RentalNotFound, hand_over
from marketplace.operations.refusals import Refusal
from marketplace.queries.supply import sales_of, sales_to_hand_over
from marketplace.views.refused import add_refusal

PAGE_SIZE = 50


@require_safe
@signed_in
def sales(request: SignedInRequest) -> HttpResponse:
    """List the seller's sales; those that wait for a machine come first."""
    organisation_id = request.organisation.pk
    rows = sales_of(organisation_id=organisation_id)
    context = {
        "to_hand_over": sales_to_hand_over(organisation_id=organisation_id),
        "page": Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page")),
        "earnings": earnings_of(organisation_id=organisation_id),
    }
    return render(request, "marketplace/seller/sales.html", context)


@form_page
@signed_in
def sale(request: SignedInRequest, pk: int) -> HttpResponse:
    """Show one sale with the customer's key, and take the machine's address."""
    rental = get_object_or_404(sales_of(organisation_id=request.organisation.pk), pk=pk)
    form = HandOverForm(request.POST or None, initial=_typed_before(rental))
    if request.method == "POST" and not request.membership.may_trade:
        raise Http404
    if request.method == "POST" and form.is_valid():
        count_act(limit=Limit.HAND_OVER, who=request.organisation.pk)
        try:
            hand_over(
                rental_id=rental.pk,
                organisation_id=request.organisation.pk,
                actor_id=request.user.pk,
                access=HandOver(**form.cleaned_data),
                now=client_now(),
            )
        except RentalNotFound:
            raise Http404 from None
        except Refusal as refusal:
            add_refusal(form, refusal)
        else:
            messages.success(request, _("We check the machine now; the page shows the result."))
            return redirect("marketplace:sale", pk=rental.pk)
    context = {
        "rental": rental,
        "form": form,
        "hours": rental.rental_hours.order_by("number"),
        "may_trade": request.membership.may_trade,
        "takes_address": rental.ready_at is None and rental.ended_at is None,
    }
    return render(request, "marketplace/seller/sale.html", context)


def _typed_before(rental: Rental) -> dict[str, object]:
    if not rental.host:
        return {}
    return {
        "host": rental.host,
        "port": rental.port,
        "username": rental.username,
        "host_key_fingerprint": rental.host_key_fingerprint,
    }
