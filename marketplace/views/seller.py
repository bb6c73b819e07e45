"""The seller's area: apply, servers, offers."""

from uuid import uuid4

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from billing.money import Currency
from billing.queries import earnings_of
from catalog.queries import listed_gpus
from marketplace.accounts.http import SignedInRequest, client_now, form_page, signed_in, trading
from marketplace.accounts.models import Language, LegalKey
from marketplace.accounts.operations.legal import accept_text
from marketplace.accounts.rate_limits import Limit, count_act
from marketplace.bell import ring_matcher
from marketplace.forms.supply import OfferForm, ServerForm
from marketplace.models import Offer, Server
from marketplace.operations.commands import KeyReused
from marketplace.operations.offers import OfferTerms, list_offer, withdraw_offer
from marketplace.operations.refusals import Refusal
from marketplace.operations.sellers import apply_as_seller
from marketplace.operations.servers import ServerDescription, add_server
from marketplace.queries.supply import (
    offers_of,
    sales_of,
    sales_to_hand_over,
    seller_of,
    servers_of,
    suspended_servers_of,
    undelivered_sales_of,
)
from marketplace.views.refused import add_refusal

PAGE_SIZE = 50
# The seller's overview shows this many of each; the lists show all.
GLANCE = 5


@require_safe
@signed_in
def seller_home(request: SignedInRequest) -> HttpResponse:
    """Show a seller's business at a glance, or how to become one."""
    organisation_id = request.organisation.pk
    seller = seller_of(organisation_id=organisation_id)
    if seller is None:
        return render(request, "marketplace/seller/apply.html")
    context = {
        "seller": seller,
        "suspended_servers": suspended_servers_of(organisation_id=organisation_id),
        "to_hand_over": sales_to_hand_over(organisation_id=organisation_id)[:GLANCE],
        "servers": servers_of(organisation_id=organisation_id)[:GLANCE],
        "sales": sales_of(organisation_id=organisation_id)[:GLANCE],
        "earnings": earnings_of(organisation_id=organisation_id),
    }
    return render(request, "marketplace/seller/home.html", context)


@require_POST
@trading
def seller_apply(request: SignedInRequest) -> HttpResponse:
    now = client_now()
    try:
        apply_as_seller(organisation_id=request.organisation.pk, actor_id=request.user.pk, now=now)
    except Refusal as refusal:
        messages.error(request, str(refusal.message))
    else:
        # The page says that the button means consent.
        accept_text(
            user_id=request.user.pk,
            key=LegalKey.SELLERS,
            language=get_language() or Language.ENGLISH,
            now=now,
        )
        messages.success(request, _("Your application is with our staff."))
    return redirect("marketplace:seller_home")


@require_safe
@signed_in
def servers(request: SignedInRequest) -> HttpResponse:
    rows = servers_of(organisation_id=request.organisation.pk)
    return render(
        request,
        "marketplace/seller/servers.html",
        {"servers": rows, "seller": seller_of(organisation_id=request.organisation.pk)},
    )


@form_page
@trading
def server_add(request: SignedInRequest) -> HttpResponse:
    form = ServerForm(request.POST or None, gpu_models=listed_gpus())
    if request.method == "POST" and form.is_valid():
        try:
            server = add_server(
                organisation_id=request.organisation.pk,
                description=ServerDescription(**form.cleaned_data),
                actor_id=request.user.pk,
                now=client_now(),
            )
        except Refusal as refusal:
            add_refusal(form, refusal)
        else:
            ring_matcher()
            messages.success(request, _("The server is added. Now offer its hours."))
            return redirect("marketplace:server", pk=server.pk)
    return render(request, "marketplace/seller/server_add.html", {"form": form})


@require_safe
@signed_in
def server(request: SignedInRequest, pk: int) -> HttpResponse:
    """Show one server: what it is, its open offer, its next sales."""
    found = get_object_or_404(servers_of(organisation_id=request.organisation.pk), pk=pk)
    sales = sales_of(organisation_id=request.organisation.pk).filter(server=found)[:GLANCE]
    context = {
        "server": found,
        "sales": sales,
        "capped_by": undelivered_sales_of(server_id=found.pk, now=client_now()),
        "may_trade": request.membership.may_trade,
    }
    return render(request, "marketplace/seller/server.html", context)


@form_page
@trading
def offer_add(request: SignedInRequest, pk: int) -> HttpResponse:
    """Offer a server's hours."""
    found = get_object_or_404(Server, pk=pk, organisation_id=request.organisation.pk)
    form = OfferForm(request.POST or None, initial={"key": uuid4().hex})
    if request.method == "POST" and form.is_valid():
        offer = _list(request, form, server_id=found.pk)
        if offer is not None:
            ring_matcher()
            messages.success(request, _("Your offer is on its way to the market."))
            return redirect("marketplace:server", pk=found.pk)
    return render(request, "marketplace/seller/offer_add.html", {"form": form, "server": found})


def _list(request: SignedInRequest, form: OfferForm, *, server_id: int) -> Offer | None:
    data = form.cleaned_data
    count_act(limit=Limit.OFFER, who=server_id, key=data["key"])
    try:
        return list_offer(
            server_id=server_id,
            organisation_id=request.organisation.pk,
            terms=OfferTerms(
                ask_price_micro=data["ask_price"],
                currency=Currency(data["currency"]),
                windows=form.windows(),
                min_gpus=data["min_gpus"],
                gpu_step=data["gpu_step"],
                min_hours=data["min_hours"],
            ),
            actor_id=request.user.pk,
            now=client_now(),
            key=data["key"],
        )
    except Refusal as refusal:
        add_refusal(form, refusal)
    except KeyReused:
        form.add_error(None, _("This form was sent before with other values: open it again."))
    return None


@require_safe
@signed_in
def offers(request: SignedInRequest) -> HttpResponse:
    rows = offers_of(organisation_id=request.organisation.pk)
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {"page": page, "may_trade": request.membership.may_trade}
    return render(request, "marketplace/seller/offers.html", context)


@require_POST
@trading
def offer_withdraw(request: SignedInRequest, pk: int) -> HttpResponse:
    count_act(limit=Limit.CANCEL, who=request.organisation.pk)
    try:
        offer = withdraw_offer(
            offer_id=pk,
            organisation_id=request.organisation.pk,
            actor_id=request.user.pk,
            now=client_now(),
        )
    except Offer.DoesNotExist:
        raise Http404 from None
    except Refusal as refusal:
        messages.error(request, str(refusal.message))
        return redirect("marketplace:offers")
    ring_matcher()
    messages.success(request, _("The offer is being withdrawn. Sold hours stay sold."))
    return redirect("marketplace:server", pk=offer.server_id)
