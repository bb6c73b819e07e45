"""Before the market opens: save what you would order, look at it, take it back; sellers see demand."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from catalog.models import GpuModel
from marketplace.accounts.http import SignedInRequest, client_now, form_page, signed_in, trading
from marketplace.accounts.rate_limits import Limit, count_act
from marketplace.forms.intentions import IntentionForm
from marketplace.market_now import model_now
from marketplace.models import Intention, MarketState
from marketplace.operations.intentions import KeyReused, save_intention, withdraw_intention
from marketplace.operations.refusals import Refusal
from marketplace.queries.exchange import market_state
from marketplace.queries.intentions import demand as demand_rows
from marketplace.queries.intentions import intentions_of, order_query
from marketplace.queries.supply import seller_of
from marketplace.views.refused import add_refusal


def is_before_launch(gpu: GpuModel) -> bool:
    """Say whether this model takes intentions instead of orders."""
    return market_state(gpu_model_id=gpu.pk) == MarketState.State.PRELAUNCH


def to_intention(request: HttpRequest, slug: str) -> HttpResponse:
    """Lead from a ticket that cannot be ordered yet to the intention that it fills in."""
    return redirect(_with_query(request, reverse("marketplace:intention_new", args=[slug])))


def _with_query(request: HttpRequest, address: str) -> str:
    query = request.GET.urlencode()
    return f"{address}?{query}" if query else address


@form_page
def intention_new(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Show and take the form; who has no account yet is led to create one, and back."""
    if not request.user.is_authenticated and request.method != "POST":
        query = urlencode({"next": request.get_full_path()})
        return redirect(f"{reverse('account_signup')}?{query}")
    return _intention_form(request, slug=slug)


@trading
def _intention_form(request: SignedInRequest, *, slug: str) -> HttpResponse:
    gpu = get_object_or_404(GpuModel, slug=slug, is_listed=True)
    if request.method != "POST" and not is_before_launch(gpu):
        return redirect(_with_query(request, reverse("marketplace:order_new", args=[slug])))
    if request.method == "POST":
        form = IntentionForm(request.POST)
        if form.is_valid() and _save(request, form, slug=slug):
            messages.success(request, _("Your intention is saved. Nothing is held or charged."))
            return redirect("marketplace:intentions")
    else:
        form = IntentionForm.from_address(request.GET.dict())
    return render(request, "marketplace/intention_new.html", {"form": form, "gpu": gpu})


def _save(request: SignedInRequest, form: IntentionForm, *, slug: str) -> bool:
    key = form.cleaned_data["key"]
    count_act(limit=Limit.ORDER, who=request.organisation.pk, key=key)
    try:
        save_intention(
            terms=form.terms(organisation_id=request.organisation.pk, slug=slug),
            actor_id=request.user.pk,
            key=key,
            now=client_now(),
        )
    except Refusal as refusal:
        add_refusal(form, refusal)
    except KeyReused:
        form.add_error(None, _("This form was sent before with other values: open it again."))
    else:
        return True
    return False


@require_safe
@signed_in
def intentions(request: SignedInRequest) -> HttpResponse:
    """List what the organisation would order; once the market is open, each is a filled-in ticket."""
    now = client_now()
    rows = intentions_of(organisation_id=request.organisation.pk)
    context = {
        "rows": [_row(intention, query=order_query(intention, now=now)) for intention in rows],
        "may_trade": request.membership.may_trade,
    }
    return render(request, "marketplace/intentions.html", context)


def _row(intention: Intention, *, query: str) -> dict[str, Any]:
    state = model_now(slug=intention.gpu_model.slug).state
    return {
        "intention": intention,
        "query": query,
        "is_open": state == MarketState.State.OPEN,
    }


@require_POST
@trading
def intention_withdraw(request: SignedInRequest, pk: int) -> HttpResponse:
    count_act(limit=Limit.CANCEL, who=request.organisation.pk)
    try:
        withdraw_intention(
            intention_id=pk,
            organisation_id=request.organisation.pk,
            actor_id=request.user.pk,
            now=client_now(),
        )
    except Intention.DoesNotExist:
        raise Http404 from None
    messages.success(request, _("The intention is withdrawn."))
    return redirect("marketplace:intentions")


@require_safe
@signed_in
def demand(request: SignedInRequest) -> HttpResponse:
    """Show sellers what customers would order; for others there is no such page."""
    if seller_of(organisation_id=request.organisation.pk) is None:
        raise Http404
    return render(request, "marketplace/seller/demand.html", {"rows": demand_rows()})
