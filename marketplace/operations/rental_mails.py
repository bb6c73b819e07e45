"""Tell the person who ordered what became of a rental, in their language and time zone.

A mail is a row of the caller's transaction: no act, no mail.
"""

from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.mail import send_mail
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone, translation

from marketplace.models import Rental

NAMES = {Rental.EndReason.NOT_DELIVERED: "rental_not_delivered"}


def mail_access_opened(*, rental: Rental) -> None:
    """Say that the machine can be used, and where it is."""
    _send(rental, name="rental_ready")


def mail_ended(*, rental: Rental) -> None:
    """Say that the rental is over, or that it never began, and what that means for the money."""
    _send(rental, name=NAMES.get(Rental.EndReason(rental.end_reason), "rental_ended"))


def _send(rental: Rental, *, name: str) -> None:
    person = rental.fill.bid.placed_by
    with translation.override(person.language), timezone.override(ZoneInfo(person.time_zone)):
        values = {
            "rental": rental,
            "gpus": rental.fill.gpus,
            "gpu_model": rental.server.gpu_model.name,
            "site_name": settings.SITE_NAME,
            "rental_url": settings.PUBLIC_URL + reverse("marketplace:rental", args=[rental.pk]),
        }
        subject = render_to_string(f"emails/{name}_subject.txt", values)
        text = render_to_string(f"emails/{name}.txt", values)
    send_mail(
        subject=" ".join(subject.split()),
        message=text.strip() + "\n",
        from_email=None,
        recipient_list=[person.email],
    )
