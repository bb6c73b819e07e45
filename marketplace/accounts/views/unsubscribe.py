"""The way out of mails that a mail program offers."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt

from marketplace.accounts.http import client_now, form_page
from marketplace.accounts.operations import unsubscribing


@form_page
# Mail programs send the form for their reader; the signed address says what it may do.
@csrf_exempt
@never_cache
def unsubscribe(request: HttpRequest, token: str) -> HttpResponse:
    """Ask once, and switch this kind of mail off when the answer is yes."""
    try:
        wish = unsubscribing.read_unsubscription(token)
    except unsubscribing.NotAnUnsubscription:
        raise Http404 from None
    if request.method == "POST":
        unsubscribing.unsubscribe(wish=wish, now=client_now())
    context = {"kind": wish.kind.label, "is_done": request.method == "POST"}
    return render(request, "accounts/unsubscribe.html", context)
