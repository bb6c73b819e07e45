"""Forms of sellers. They parse; the operations decide."""

from collections.abc import Iterable
from datetime import datetime

from django import forms
from django.utils.translation import gettext_lazy as _

from billing.fields import PriceField
from billing.money import Currency
from catalog.models import GpuModel
from marketplace.accounts.forms import KeyField
from marketplace.book.types import MAX_HOURS
from marketplace.forms.sent_once import SentOnceForm
from marketplace.forms.times import local_time_field
from marketplace.models import Server


class ServerForm(forms.Form):
    """A seller's machine."""

    name = forms.CharField(
        label=_("Server name"), max_length=60, help_text=_("Only you and our staff see it.")
    )
    gpu_model_slug = forms.ChoiceField(label=_("GPU model"))
    gpu_count = forms.IntegerField(label=_("Number of GPUs"), min_value=1, max_value=16, initial=1)
    region = forms.ChoiceField(label=_("Region"), choices=Server.Region.choices)
    tier = forms.ChoiceField(label=_("Tier"), choices=Server.Tier.choices)
    ram_gb = forms.IntegerField(label=_("RAM in GB"), min_value=0, initial=0)
    vcpus = forms.IntegerField(label=_("vCPUs"), min_value=0, initial=0)
    disk_gb_per_gpu = forms.IntegerField(label=_("Disk per GPU in GB"), min_value=0, initial=0)
    has_nvlink = forms.BooleanField(label=_("The GPUs are linked by NVLink"), required=False)

    def __init__(self, *args: object, gpu_models: Iterable[GpuModel], **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # Django's own arguments
        field = self.fields["gpu_model_slug"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(model.slug, model.name) for model in gpu_models]


class OfferForm(SentOnceForm):
    """A server's hours for sale."""

    ask_price = PriceField(label=_("Your price per GPU and hour, before tax"))
    currency = forms.ChoiceField(
        label=_("Currency"), choices=[(c.value, c.value) for c in Currency]
    )
    starts_at = local_time_field(label=_("For sale from"))
    ends_at = local_time_field(label=_("For sale until"), help_text=_("At most 28 days ahead."))
    min_gpus = forms.IntegerField(label=_("Fewest GPUs per order"), min_value=1, initial=1)
    gpu_step = forms.IntegerField(label=_("GPUs in steps of"), min_value=1, initial=1)
    min_hours = forms.IntegerField(
        label=_("Fewest hours per order"), min_value=1, max_value=MAX_HOURS, initial=1
    )

    def windows(self) -> tuple[tuple[datetime, datetime], ...]:
        return ((self.cleaned_data["starts_at"], self.cleaned_data["ends_at"]),)


class HandOverForm(forms.Form):
    """Where the customer connects, typed by the seller."""

    host = forms.CharField(label=_("Host name or address"), max_length=255)
    port = forms.IntegerField(label=_("Port"), min_value=1, max_value=65_535, initial=22)
    username = forms.CharField(label=_("User"), max_length=32, initial="root")
    # Room for the whole line that ssh-keygen prints, comment included.
    host_key_fingerprint = KeyField(
        label=_("Fingerprint of the host key"),
        max_length=400,
        help_text=_("As ssh-keygen -lf prints it: SHA256: and 43 characters."),
    )
