"""The market's state: changed by one operation, with its reason, logged."""

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext_lazy as _

from catalog.models import GpuModel
from marketplace.accounts.clock import now
from marketplace.accounts.readonly_admin import ReadOnlyAdmin, staff_id_of
from marketplace.bell import ring_matcher
from marketplace.models import MarketState, Shard
from marketplace.operations.market_state import MarketStateRefused, set_market_state


class MarketStateForm(forms.Form):
    """What staff ask for: a state, for the whole market or one model, and why."""

    gpu_model = forms.ModelChoiceField(
        label=_("GPU model"),
        queryset=GpuModel.objects.order_by("name", "id"),
        required=False,
        empty_label=_("The whole market"),
    )
    state = forms.ChoiceField(label=_("State"), choices=MarketState.State.choices)
    reason = forms.CharField(label=_("Reason, shown to customers"), max_length=200)


@admin.register(MarketState)
class MarketStateAdmin(ReadOnlyAdmin[MarketState]):
    list_display = ("__str__", "gpu_model", "state", "reason", "changed_by", "changed_at")
    list_select_related = ("gpu_model", "changed_by")
    ordering = ("gpu_model__name", "id")
    change_list_template = "admin/marketplace/marketstate/change_list.html"

    def get_urls(self) -> list[URLPattern]:
        own = path(
            "set/", self.admin_site.admin_view(self.set_state), name="marketplace_marketstate_set"
        )
        return [own, *super().get_urls()]

    def set_state(self, request: HttpRequest) -> HttpResponse:
        """Show the form, and change the state when it is sent."""
        if not self.has_operate_permission(request):
            return HttpResponse(status=403)
        form = MarketStateForm(request.POST or None)
        if request.method == "POST" and form.is_valid() and self._set(request, form):
            messages.success(request, _("The market's state is changed."))
            return HttpResponseRedirect(reverse("admin:marketplace_marketstate_changelist"))
        context = {**self.admin_site.each_context(request), "form": form, "opts": self.opts}
        return render(request, "admin/marketplace/marketstate/set.html", context)

    @staticmethod
    def _set(request: HttpRequest, form: MarketStateForm) -> bool:
        gpu_model = form.cleaned_data["gpu_model"]
        try:
            set_market_state(
                state=MarketState.State(form.cleaned_data["state"]),
                reason=form.cleaned_data["reason"],
                staff_id=staff_id_of(request),
                now=now(),
                gpu_model_id=gpu_model.pk if gpu_model else None,
            )
        except MarketStateRefused as refusal:
            form.add_error(refusal.field, str(refusal.message))
            return False
        ring_matcher()
        return True


@admin.register(Shard)
class ShardAdmin(ReadOnlyAdmin[Shard]):
    list_display = ("id", "last_sequence", "version", "last_clock_at")
    ordering = ("id",)
