"""What in the market stands against closing an organisation: orders, rentals, offers, sales."""

from collections.abc import Collection

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from marketplace.accounts.models import Organisation
from marketplace.accounts.registry import Obstacle
from marketplace.models import Bid, Offer, Rental

OVER = (Rental.State.ENDED, Rental.State.NOT_DELIVERED)


def obstacles(*, organisation_ids: Collection[int]) -> list[Obstacle]:
    """Return what is open, one line for each kind and organisation."""
    names = dict(Organisation.objects.filter(pk__in=organisation_ids).values_list("pk", "name"))
    live = Rental.objects.exclude(state__in=OVER)
    bids = Bid.objects.filter(status__in=[Bid.Status.PENDING, Bid.Status.RESTING])
    offers = Offer.objects.filter(status__in=[Offer.Status.PENDING, Offer.Status.OPEN])
    found = []
    for pk, name in sorted(names.items()):
        counts = {
            "orders": bids.filter(organisation_id=pk).count(),
            "rentals": live.filter(fill__bid__organisation_id=pk).count(),
            "offers": offers.filter(organisation_id=pk).count(),
            "sales": live.filter(server__organisation_id=pk).count(),
        }
        found += [_obstacle(name, kind, count) for kind, count in counts.items() if count]
    return found


def _obstacle(organisation: str, kind: str, count: int) -> Obstacle:
    words = {
        "orders": ngettext("%(count)s order is open.", "%(count)s orders are open.", count),
        "rentals": ngettext(
            "%(count)s rental is not over.", "%(count)s rentals are not over.", count
        ),
        "offers": ngettext(
            "%(count)s server is on offer.", "%(count)s servers are on offer.", count
        ),
        "sales": ngettext(
            "%(count)s sale is to be delivered.", "%(count)s sales are to be delivered.", count
        ),
    }
    actions = {
        "orders": _("Orders"),
        "rentals": _("Rentals"),
        "offers": _("Offers"),
        "sales": _("Sales"),
    }
    return Obstacle(
        organisation=organisation,
        reason=words[kind] % {"count": count},
        address=reverse(f"marketplace:{kind}"),
        action=actions[kind],
    )
