"""Put money into a wallet: the amount, the way to the payment page, and what became of it."""

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from functools import wraps
from typing import Any, ParamSpec, cast
from urllib.parse import urlencode
from uuid import uuid4

from csp.decorators import csp_update
from django.conf import settings
from django.http import HttpResponse, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from billing.countries import country_name
from billing.fields import NotAnAmountError, read_amount
from billing.forms import TopUpForm
from billing.gateways.stripe import GatewayRefused, GatewayUnavailable, checkout_origin
from billing.models import TopUp
from billing.money import BPS, MINOR_PER_UNIT, Currency
from billing.operations.taxes import BillingProfileMissing, tax_for
from billing.operations.topups import (
    UNSETTLED,
    KeyReused,
    PaymentMismatch,
    PaymentPageUnavailable,
    TopUpsClosed,
    UnknownCheckout,
    apply_checkout,
    check_gate,
    start_top_up,
)
from billing.queries import recent_top_ups, wallet_of, wallets_of
from billing.tax import TaxDecision
from marketplace.accounts.http import (
    SignedInRequest,
    client_now,
    form_page,
    having_accepted_terms,
    paying,
    safe_next,
)
from marketplace.accounts.rate_limits import Limit, count_act

P = ParamSpec("P")

# The session remembers, by top-up, where its customer was going.
NEXT_KEY = "after_top_up"
# Nobody waits longer on the page; the webhook and the sweep go on.
WATCHED = timedelta(minutes=15)
# One question to the provider every other second is enough for one page.
ASK_AGAIN_AFTER = timedelta(seconds=2)
SUGGESTED_UNITS = (20, 50, 100, 200, 500)


def _leading_to_payment(view: Callable[P, HttpResponseBase]) -> Callable[P, HttpResponseBase]:
    """Let the forms of this page, and of no other, end on the provider's payment page."""

    @wraps(view)
    def allowed(*args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        wider = csp_update({"form-action": [checkout_origin()]})(cast("Any", view))
        return cast("Callable[P, HttpResponseBase]", wider)(*args, **kwargs)

    return allowed


@require_safe
@paying
def choose_wallet(request: SignedInRequest) -> HttpResponse:
    """Lead to the wallet with the most money, else to the first."""
    fullest = max(wallets_of(organisation_id=request.organisation.pk), key=lambda w: w.posted_minor)
    query = request.GET.urlencode()
    address = reverse("billing:top_up", args=[fullest.currency])
    return redirect(f"{address}?{query}" if query else address)


@form_page
@_leading_to_payment
@paying
@having_accepted_terms
def top_up(request: SignedInRequest, currency: Currency) -> HttpResponse:
    try:
        check_gate()
        tax = tax_for(organisation_id=request.organisation.pk, on=client_now().date())
    except TopUpsClosed as closed:
        return render(
            request,
            "billing/top_up_closed.html",
            {"currency": currency.value, "reason": closed.reason},
        )
    except BillingProfileMissing:
        return _to_profile(request)
    if request.method != "POST":
        return _page(request, currency, _new_form(request, currency), tax=tax)
    form = TopUpForm(request.POST, currency=currency)
    if not form.is_valid():
        return _page(request, currency, _with_key(form), tax=tax)
    return _start(request, currency, form, tax=tax)


@require_safe
@paying
def top_up_status(request: SignedInRequest, pk: int) -> HttpResponse:
    """Show what became of a top-up, asking the provider while nobody has told us."""
    row = get_object_or_404(TopUp, pk=pk, organisation=request.organisation)
    now = client_now()
    if _may_ask(row, now=now):
        row = _asked(row, now=now)
    is_waiting = row.state in UNSETTLED and row.checkout_session_id is not None
    context = {
        "top_up": row,
        "state": _shown_state(row, has_left="left" in request.GET),
        "is_watched": is_waiting and now - row.created_at < WATCHED,
        "wallet": wallet_of(organisation_id=row.organisation_id, currency=row.currency),
        "next": request.session.get(NEXT_KEY, {}).get(str(row.pk), ""),
        "retry": f"{reverse('billing:top_up', args=[row.currency])}?amount={_units(row.amount_minor)}",
    }
    is_part = bool(request.headers.get("HX-Request"))
    template = "billing/top_up_state.html" if is_part else "billing/top_up_status.html"
    return render(request, template, context)


def _start(
    request: SignedInRequest, currency: Currency, form: TopUpForm, *, tax: TaxDecision
) -> HttpResponse:
    count_act(limit=Limit.TOP_UP, who=request.organisation.pk, key=form.cleaned_data["key"])
    try:
        row = start_top_up(
            organisation_id=request.organisation.pk,
            user_id=request.user.pk,
            currency=currency.value,
            amount_minor=form.cleaned_data["amount"],
            key=form.cleaned_data["key"],
            locale=get_language() or "en",
            now=client_now(),
        )
    except KeyReused:
        form.add_error("amount", _("You changed the amount: check it and send the form again."))
        return _page(request, currency, _with_key(form), tax=tax)
    except PaymentPageUnavailable:
        form.add_error(
            None, _("The payment page cannot be opened now. Nothing was charged; try again.")
        )
        return _page(request, currency, form, tax=tax, status=503)
    _remember_next(request, row, form.cleaned_data["next"])
    if row.state == TopUp.State.REDIRECTED and row.checkout_url:
        return HttpResponseRedirect(row.checkout_url)
    return redirect("billing:top_up_status", pk=row.pk)


def _page(
    request: SignedInRequest,
    currency: Currency,
    form: TopUpForm,
    *,
    tax: TaxDecision,
    status: int | None = None,
) -> HttpResponse:
    missing_minor = _whole_number(request.GET.get("missing_minor"))
    context = {
        "form": form,
        "currency": currency.value,
        "currencies": list(Currency),
        "wallet": wallet_of(organisation_id=request.organisation.pk, currency=currency),
        "missing_minor": missing_minor,
        "suggestions": [
            (units * MINOR_PER_UNIT, _query(request, amount=str(units)))
            for units in SUGGESTED_UNITS
        ],
        "tax": tax,
        "tax_share": Decimal(tax.rate_bps) / BPS,
        "tax_country": country_name(tax.country, language=get_language() or "en"),
        "min_minor": settings.TOP_UP_MIN_MINOR,
        "max_minor": settings.TOP_UP_MAX_MINOR,
        "top_ups": recent_top_ups(organisation_id=request.organisation.pk),
    }
    return render(
        request,
        "billing/top_up.html",
        context,
        status=status or (422 if form.is_bound and form.errors else 200),
    )


def _new_form(request: SignedInRequest, currency: Currency) -> TopUpForm:
    initial = {
        "key": uuid4().hex,
        "amount": _wished_minor(request),
        "next": safe_next(request, request.GET.get("next")),
    }
    return TopUpForm(initial=initial, currency=currency)


def _wished_minor(request: SignedInRequest) -> int | None:
    """Return the amount that the address asks for, within what we take; None when it asks nothing.

    ``amount`` is in units of the currency; ``missing_minor`` is what an order lacks, in minor units,
    and is rounded up to a whole unit.
    """
    missing_minor = _whole_number(request.GET.get("missing_minor"))
    if missing_minor:
        units = -(-missing_minor // MINOR_PER_UNIT)
        wished_minor = units * MINOR_PER_UNIT
    else:
        wished_minor = _typed_minor(request.GET.get("amount", ""))
    if wished_minor <= 0:
        return None
    return min(max(wished_minor, settings.TOP_UP_MIN_MINOR), settings.TOP_UP_MAX_MINOR)


def _typed_minor(text: str) -> int:
    try:
        readings = read_amount(text[:40]).readings
    except NotAnAmountError:
        return 0
    return int(readings[0] * MINOR_PER_UNIT) if len(readings) == 1 else 0


def _whole_number(text: str | None) -> int:
    is_number = text is not None and text.isascii() and text.isdigit() and len(text) < 16  # noqa: PLR2004 - far above any amount
    return int(text) if text is not None and is_number else 0


def _with_key(form: TopUpForm) -> TopUpForm:
    """Give a refused form a new key: what is sent next is another top-up."""
    data = cast("QueryDict", form.data).copy()
    data["key"] = uuid4().hex
    form.data = data
    return form


def _query(request: SignedInRequest, **changes: str) -> str:
    kept = {name: request.GET[name] for name in ("next", "missing_minor") if name in request.GET}
    if "amount" in changes:
        kept.pop("missing_minor", None)
    return urlencode(kept | changes)


def _to_profile(request: SignedInRequest) -> HttpResponse:
    query = urlencode({"next": request.get_full_path()})
    return redirect(f"{reverse('billing:profile')}?{query}")


def _remember_next(request: SignedInRequest, row: TopUp, address: str) -> None:
    following = safe_next(request, address)
    if following:
        request.session[NEXT_KEY] = {str(row.pk): following}


def _may_ask(row: TopUp, *, now: datetime) -> bool:
    if row.state not in UNSETTLED or row.checkout_session_id is None:
        return False
    return row.checked_at is None or now - row.checked_at >= ASK_AGAIN_AFTER


def _asked(row: TopUp, *, now: datetime) -> TopUp:
    assert row.checkout_session_id is not None
    try:
        return apply_checkout(session_id=row.checkout_session_id, now=now)
    except (GatewayUnavailable, GatewayRefused, PaymentMismatch, UnknownCheckout):
        # The sweep asks again, and an operator sees what it could not apply.
        return row


def _shown_state(row: TopUp, *, has_left: bool) -> str:
    """Return the word that chooses the page's text."""
    if row.state == TopUp.State.REDIRECTED and has_left:
        return "left"
    if row.state in {TopUp.State.REDIRECTED, TopUp.State.PROCESSING}:
        return "pending"
    return row.state


def _units(amount_minor: int) -> str:
    whole, rest = divmod(amount_minor, MINOR_PER_UNIT)
    return f"{whole}.{rest:02d}"
