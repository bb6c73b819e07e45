"""Sell with us: what selling is like, and what it may earn."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from billing.fields import PriceField
from billing.money import Currency
from catalog.forms import DEFAULT_CURRENCY
from catalog.models import GpuModel
from catalog.queries import GpuRow, gpu_rows, listed_gpus
from marketplace.accounts import clock
from marketplace.accounts.public_pages import public_page
from marketplace.earnings import DAYS, Assumptions, Earnings, estimate
from marketplace.forms.earnings import FIRST_VALUES, EarningsForm
from marketplace.models import Server
from marketplace.operations.servers import SETUP_SLOTS
from marketplace.queries.exchange import MAX_GPUS_PER_SERVER
from marketplace.queries.supply import seller_of
from marketplace.views.explain import published_rules

FIRST_CARD = "rtx-4090"
# Every machine is handed over by hand for now.
SETUP_SLOTS_NOW = SETUP_SLOTS[Server.Delivery.BY_HAND]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The model and currency that the address asks for, and their best offer now."""

    slug: str
    currency: Currency
    row: GpuRow | None

    @property
    def key(self) -> str:
        return f"{self.slug}.{self.currency}"


@require_safe
@public_page
def sell(request: HttpRequest) -> HttpResponse:
    """Show how selling works, with an estimate from the assumptions in the address."""
    gpus = listed_gpus()
    choice = _choice(request.GET, gpus=gpus)
    form = EarningsForm(
        _values(request.GET, choice=choice), gpu_models=gpus, setup_slots=SETUP_SLOTS_NOW
    )
    is_valid = form.is_valid()
    earnings = _earnings(form) if is_valid and form.cleaned_data["price"] else None
    context = {
        "form": form,
        "choice": choice,
        "best_text": _price_text(choice),
        "earnings": earnings,
        "days": DAYS,
        "net_width": _net_width(earnings),
        "rules": published_rules() | {"max_gpus": MAX_GPUS_PER_SERVER},
        "seller": _seller(request),
        "now": clock.now(),
    }
    return render(request, "marketplace/sell.html", context, status=200 if is_valid else 400)


def _choice(query: Mapping[str, str], *, gpus: list[GpuModel]) -> Choice:
    slugs = [gpu.slug for gpu in gpus]
    first = FIRST_CARD if FIRST_CARD in slugs else next(iter(slugs), "")
    slug = query.get("gpu", first)
    code = query.get("currency", DEFAULT_CURRENCY.value)
    currency = Currency(code) if code in set(Currency) else DEFAULT_CURRENCY
    chosen = [gpu for gpu in gpus if gpu.slug == slug]
    rows = gpu_rows(gpus=chosen, currency=currency) if chosen else []
    return Choice(slug=slug, currency=currency, row=next(iter(rows), None))


def _values(query: Mapping[str, str], *, choice: Choice) -> dict[str, str]:
    """Return the form's values: those of the address, else first ones.

    The best offer of a newly chosen model takes the place of the former model's, but never of a
    price that the reader has typed.
    """
    first = {"gpu": choice.slug, "currency": choice.currency.value} | FIRST_VALUES
    values = first | {name: query[name] for name in EarningsForm.base_fields if name in query}
    is_untouched = query.get("price") == query.get("best")
    if "price" not in query or (is_untouched and query.get("for") != choice.key):
        values["price"] = _price_text(choice)
    return values


def _price_text(choice: Choice) -> str:
    price_micro = choice.row.price_micro if choice.row else None
    return str(PriceField().prepare_value(price_micro)) if price_micro is not None else ""


def _earnings(form: EarningsForm) -> Earnings:
    data = form.cleaned_data
    return estimate(
        Assumptions(
            gpus=data["gpus"],
            ask_micro=data["price"],
            sold_hours_a_day=data["sold_hours"],
            hours_a_rental=data["rental_hours"],
            setup_slots=SETUP_SLOTS_NOW,
            fee_bps=settings.PLATFORM_FEE_BPS,
        )
    )


def _net_width(earnings: Earnings | None) -> str:
    """Return the seller's part of the picture's bar; the fee has the rest."""
    if earnings is None or not earnings.gross_minor:
        return "0%"
    return f"{Decimal(100 * earnings.net_minor) / earnings.gross_minor:.2f}%"


def _seller(request: HttpRequest) -> object:
    organisation = getattr(request, "organisation", None)
    return seller_of(organisation_id=organisation.pk) if organisation else None
