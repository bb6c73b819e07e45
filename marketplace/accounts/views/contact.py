"""The contact form, for everybody."""

from hashlib import sha256

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from marketplace.accounts.forms import ContactForm
from marketplace.accounts.http import client_now, form_page
from marketplace.accounts.models import ContactMessage, Language, User
from marketplace.accounts.operations.contact import Letter, receive_message
from marketplace.accounts.rate_limits import Limit, count_act


@form_page
def contact(request: HttpRequest) -> HttpResponse:
    """Show the form, and keep what was written."""
    user = request.user if isinstance(request.user, User) else None
    form = ContactForm(request.POST or None, initial=_initial(request, user))
    if request.method == "POST" and form.is_valid():
        if not form.is_from_a_robot:
            count_act(limit=Limit.CONTACT, who=_sender(request))
            _receive(form, user=user)
        return redirect("accounts:contact_sent")
    context = {"form": form, "contact_email": settings.CONTACT_EMAIL}
    return render(request, "accounts/contact.html", context)


@require_safe
def sent(request: HttpRequest) -> HttpResponse:
    """Say that the message has arrived."""
    return render(request, "accounts/contact_sent.html")


def _initial(request: HttpRequest, user: User | None) -> dict[str, str]:
    topic = request.GET.get("topic", "")
    known = topic if topic in ContactMessage.Topic.values else ""
    address = request.GET.get("about", "")[:200]
    given = {"topic": known, "abuse_address": address}
    return given | ({"email": user.email, "name": user.name} if user else {})


def _receive(form: ContactForm, *, user: User | None) -> None:
    fields = ("topic", "name", "email", "message", "abuse_address", "evidence")
    given = {name: form.cleaned_data[name] for name in fields}
    letter = Letter(language=get_language() or Language.ENGLISH, **given)
    receive_message(letter=letter, user_id=user.pk if user else None, now=client_now())


def _sender(request: HttpRequest) -> int:
    """Return a number for the sender's address, which itself is kept nowhere."""
    address = str(get_adapter().get_client_ip(request))
    return int.from_bytes(sha256(address.encode()).digest()[:7])
