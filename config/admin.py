"""The admin site: ours, in our name, behind a second factor, with what needs attention first."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.apps import AdminConfig
from django.db.models import Model
from django.db.models.base import ModelBase
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

# How far a demo's admin may move the clock in one step.
STEPS = {"slot": timedelta(minutes=15), "hour": timedelta(hours=1)}
# A second factor's secret and the places one signs in from are their owner's alone: no page shows
# them, not even to staff. Knox's own page would show a token's hash and make tokens without scopes.
NEVER_SHOWN = frozenset({"mfa.Authenticator", "usersessions.UserSession", "knox.AuthToken"})


class MarketAdminSite(admin.AdminSite):
    site_header = _("Market administration")
    site_title = _("Market administration")
    index_title = _("What needs attention")
    index_template = "admin/market_index.html"

    def register(
        self,
        model_or_iterable: type[Model] | Iterable[type[Model]],
        admin_class: type[admin.ModelAdmin[Any]] | None = None,
        **options: Any,
    ) -> None:
        """Register models as usual, save those that no page may show."""
        given = model_or_iterable
        models = [given] if isinstance(given, ModelBase) else list(given)
        shown = [m for m in models if m._meta.label not in NEVER_SHOWN]  # noqa: SLF001  public in Django
        super().register(shown, admin_class, **options)

    def has_permission(self, request: HttpRequest) -> bool:
        """Let staff in who have a second factor."""
        from allauth.mfa.utils import is_mfa_enabled  # noqa: PLC0415  apps are not loaded yet

        user = request.user
        if not (user.is_active and user.is_staff):
            return False
        # Asked several times on one page; recovery codes alone are no second factor.
        if not hasattr(request, "has_second_factor"):
            has_factor = is_mfa_enabled(user, types=["totp", "webauthn"])
            request.has_second_factor = has_factor  # type: ignore[attr-defined]
        return bool(request.has_second_factor)  # type: ignore[attr-defined]

    def login(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        """Send people to the site's own sign-in, and staff without a second factor to set one up."""
        from django.contrib.auth.views import redirect_to_login  # noqa: PLC0415

        page = request.GET.get("next") or reverse("admin:index")
        if not request.user.is_authenticated:
            return redirect_to_login(page, reverse("account_login"))
        if not request.user.is_staff:
            raise Http404
        if self.has_permission(request):
            return HttpResponseRedirect(reverse("admin:index"))
        messages.warning(
            request, _("The administration needs a second factor. Add an authenticator app first.")
        )
        return HttpResponseRedirect(reverse("mfa_activate_totp"))

    def index(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> TemplateResponse:
        """Show the market's condition above the list of models."""
        from config.attention import what_needs_attention  # noqa: PLC0415  apps are not loaded yet
        from marketplace.accounts.clock import now  # noqa: PLC0415

        moment = now()
        context = {
            "attention": what_needs_attention(now=moment),
            "market_time": moment,
            "can_move_clock": settings.IS_DEMO,
        }
        return super().index(request, {**context, **(extra_context or {})})

    def get_urls(self) -> list[URLPattern | URLResolver]:
        advance = path(
            "advance/<slug:step>/", self.admin_view(require_POST(self.advance)), name="advance"
        )
        return [advance, *super().get_urls()]

    def advance(self, request: HttpRequest, step: str) -> HttpResponse:
        """Move the demo's clock forward by one slot or one hour."""
        from marketplace.accounts import clock  # noqa: PLC0415  apps are not loaded yet
        from marketplace.accounts.operations.audit import record_act  # noqa: PLC0415
        from marketplace.bell import ring_matcher  # noqa: PLC0415

        if not settings.IS_DEMO or step not in STEPS:
            raise Http404
        clock.advance(by=STEPS[step])
        record_act(
            actor_id=request.user.pk,
            organisation_id=None,
            action="clock.advance",
            object_type="clock",
            object_id=step,
            now=clock.now(),
        )
        ring_matcher()
        messages.success(request, _("The clock moved forward."))
        return HttpResponseRedirect(reverse("admin:index"))


class MarketAdminConfig(AdminConfig):
    default_site = "config.admin.MarketAdminSite"
