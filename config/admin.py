"""The admin site: ours, in our name, behind a second factor."""

from django.contrib import admin
from django.contrib.admin.apps import AdminConfig
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _


class MarketAdminSite(admin.AdminSite):
    site_header = _("Market administration")
    site_title = _("Market administration")
    index_title = _("What needs attention")
    enable_nav_sidebar = True

    def has_permission(self, request: HttpRequest) -> bool:
        """Let staff in who have a second factor."""
        from allauth.mfa.utils import is_mfa_enabled  # noqa: PLC0415  apps are not loaded yet

        user = request.user
        return bool(user.is_active and user.is_staff and is_mfa_enabled(user))


class MarketAdminConfig(AdminConfig):
    default_site = "config.admin.MarketAdminSite"
