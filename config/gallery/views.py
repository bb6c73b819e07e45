"""The page of the gallery."""

from itertools import groupby

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from config.gallery.samples import all_samples
from marketplace.accounts.clock import now


@require_safe
def gallery(request: HttpRequest) -> HttpResponse:
    """Show every component in each state, to staff with a second factor alone."""
    if not admin.site.has_permission(request):
        raise Http404
    samples = all_samples(request=request, now=now())
    components = [
        (name, list(states)) for name, states in groupby(samples, lambda sample: sample.component)
    ]
    return render(request, "gallery/gallery.html", {"components": components})
