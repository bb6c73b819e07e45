"""Published market data. The exchange writes it; pages read it. Nobody is named."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from billing.money import Currency

CURRENCIES = [(currency.value, currency.value) for currency in Currency]


class Region(models.TextChoices):
    """Where a server stands."""

    EU_WEST = "eu-west", _("Western Europe")
    EU_NORTH = "eu-north", _("Northern Europe")
    EU_CENTRAL = "eu-central", _("Central Europe")
    UK = "uk", _("United Kingdom")
    US_EAST = "us-east", _("United States, East")
    US_WEST = "us-west", _("United States, West")


class Tier(models.TextChoices):
    """In what kind of building a server stands."""

    STANDARD = "standard", _("Standard")
    DATACENTRE = "datacentre", _("Certified data centre")


class TradedHour(models.Model):
    """What customers paid for a model in one hour, from the fills made in it.

    ``average_price_micro`` weighs each price by its GPU-hours. An hour without a fill has no row.
    """

    gpu_model = models.ForeignKey(
        "catalog.GpuModel", on_delete=models.PROTECT, related_name="traded_hours"
    )
    currency = models.CharField(_("currency"), max_length=3, choices=CURRENCIES)
    hour_starts_at = models.DateTimeField(_("hour"))
    average_price_micro = models.BigIntegerField(_("average price"))
    last_price_micro = models.BigIntegerField(_("last price"))
    gpu_hours = models.PositiveIntegerField(_("GPU-hours"))
    fills = models.PositiveIntegerField(_("fills"))

    class Meta:
        verbose_name = _("traded hour")
        verbose_name_plural = _("traded hours")
        constraints = [
            # Also the index of a model's history, and of all models' last day.
            models.UniqueConstraint(
                fields=["gpu_model", "currency", "hour_starts_at"],
                name="catalog_traded_hour_once",
            ),
            models.CheckConstraint(
                condition=Q(fills__gte=1, gpu_hours__gte=1, average_price_micro__gt=0),
                name="catalog_traded_hour_has_fills",
            ),
        ]

    def __str__(self) -> str:
        return f"traded hour {self.pk}"


class PublishedOffer(models.Model):
    """One of a model's best buyable offers in a currency, lowest price first.

    ``starts_at`` is the next paid start of its smallest size, which is ``min_gpus`` for
    ``min_hours``; from then ``max_gpus`` are free for ``min_hours``, and the smallest size for
    ``max_hours``. ``included`` is what the server lists: ``disk_gb_per_gpu``, ``ram_gb`` and
    ``vcpus`` of the whole server, ``has_nvlink``; what it does not state is left out.
    """

    gpu_model = models.ForeignKey(
        "catalog.GpuModel", on_delete=models.PROTECT, related_name="published_offers"
    )
    currency = models.CharField(_("currency"), max_length=3, choices=CURRENCIES)
    rank = models.PositiveSmallIntegerField(_("rank"))
    price_micro = models.BigIntegerField(_("price"))
    min_gpus = models.PositiveSmallIntegerField(_("fewest GPUs"))
    max_gpus = models.PositiveSmallIntegerField(_("most GPUs"))
    gpu_step = models.PositiveSmallIntegerField(_("GPU step"))
    starts_at = models.DateTimeField(_("earliest start"))
    min_hours = models.PositiveSmallIntegerField(_("fewest hours"))
    max_hours = models.PositiveSmallIntegerField(_("most hours"))
    region = models.CharField(_("region"), max_length=12, choices=Region.choices)
    tier = models.CharField(_("tier"), max_length=12, choices=Tier.choices)
    included = models.JSONField(_("included"), default=dict)
    is_verified_by_agent = models.BooleanField(_("verified by the agent"), default=False)
    as_of = models.DateTimeField(_("as of"))

    class Meta:
        verbose_name = _("published offer")
        verbose_name_plural = _("published offers")
        constraints = [
            models.UniqueConstraint(
                fields=["gpu_model", "currency", "rank"], name="catalog_published_offer_once"
            ),
            models.CheckConstraint(
                condition=Q(rank__gte=1, rank__lte=10), name="catalog_published_offer_rank"
            ),
        ]

    def __str__(self) -> str:
        return f"published offer {self.pk}"


class MarketFigures(models.Model):
    """A model's day in one currency: what is offered, what was sold, where the price went.

    ``offers`` counts what can be bought now, ``offered_gpu_hours`` the free GPU-hours of the next
    24 hours in whole ones. ``change_share`` compares the last price paid with the last one that
    was paid at least 24 hours ago; null without both. Prices are null before the first trade.
    """

    gpu_model = models.ForeignKey(
        "catalog.GpuModel", on_delete=models.PROTECT, related_name="market_figures"
    )
    currency = models.CharField(_("currency"), max_length=3, choices=CURRENCIES)
    offers = models.PositiveIntegerField(_("offers"), default=0)
    offered_gpu_hours = models.PositiveIntegerField(_("GPU-hours offered"), default=0)
    sold_gpu_hours_24h = models.PositiveIntegerField(_("GPU-hours sold in 24 hours"), default=0)
    fills_24h = models.PositiveIntegerField(_("fills in 24 hours"), default=0)
    last_price_micro = models.BigIntegerField(_("last price"), null=True, blank=True)
    last_fill_at = models.DateTimeField(_("last fill"), null=True, blank=True)
    change_share = models.DecimalField(
        _("change in 24 hours"), max_digits=10, decimal_places=4, null=True, blank=True
    )
    as_of = models.DateTimeField(_("as of"))

    class Meta:
        verbose_name = _("market figures")
        verbose_name_plural = _("market figures")
        constraints = [
            models.UniqueConstraint(
                fields=["gpu_model", "currency"], name="catalog_market_figures_once"
            ),
        ]

    def __str__(self) -> str:
        return f"market figures {self.pk}"
