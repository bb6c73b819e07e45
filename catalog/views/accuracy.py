"""How far our estimates are from measurements, and where our figures come from."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from catalog.accuracy_page import fitted_on, report_in_words
from catalog.figures_page import shown_classes, shown_figures
from marketplace.accounts.public_pages import public_page
from sizing import cards, measurements


@require_safe
@public_page
def accuracy(request: HttpRequest) -> HttpResponse:
    """Show the accuracy report, with its date and other published rules beside ours."""
    context = report_in_words() | {"measured_on": measurements.READ_ON}
    return render(request, "catalog/accuracy.html", context)


@require_safe
@public_page
def figures(request: HttpRequest) -> HttpResponse:
    """Tell where the figures of models, cards and measurements were read, and what articles state."""
    context = {
        "figures": shown_figures(),
        "classes": shown_classes(),
        "sources": list(measurements.measurement_sources().values()),
        "measured_on": measurements.READ_ON,
        "cards_on": cards.READ_ON,
        "fitted_on": fitted_on(),
    }
    return render(request, "catalog/figures.html", context)
