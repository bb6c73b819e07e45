"""The market's mails with invented facts, as the demo's outbox shows real ones."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from marketplace.accounts.mail import html_of, shown_mail
from marketplace.mail_samples import SAMPLES, sample_mail


@require_safe
def mail_samples(request: HttpRequest) -> HttpResponse:
    """Show every mail, or the HTML form of the one that ``?mail=`` names."""
    if not settings.IS_DEMO:
        raise Http404
    name = request.GET.get("mail", "")
    if not name:
        mails = [(name, sample_mail(name)) for name in SAMPLES]
        return render(request, "marketplace/mail_samples.html", {"mails": mails})
    if name not in SAMPLES:
        raise Http404
    return shown_mail(html_of(sample_mail(name)))
