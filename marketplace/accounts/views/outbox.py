"""The mails of the demo, on a page: nothing leaves the machine."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from marketplace.accounts.mail import shown_mail
from marketplace.accounts.models import Mail
from marketplace.accounts.queries import latest_mails

SHOWN = 50


@require_safe
@never_cache
def outbox(request: HttpRequest) -> HttpResponse:
    """Show the newest mails, those to one address when ``?to=`` names it."""
    if not settings.IS_DEMO:
        raise Http404
    to = request.GET.get("to", "").strip()
    context = {"mails": latest_mails(to=to, limit=SHOWN), "to": to, "shown": SHOWN}
    return render(request, "accounts/outbox.html", context)


@require_safe
@never_cache
def outbox_mail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the HTML form of one mail, as the page of mails frames it."""
    if not settings.IS_DEMO:
        raise Http404
    return shown_mail(get_object_or_404(Mail, pk=pk).body_html)
