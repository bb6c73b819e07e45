"""The pages of a person's settings: one row of tabs, and a second one for those of security."""

from typing import Final, NamedTuple

from django import template
from django.http import HttpRequest
from django.template.context import Context
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

register = template.Library()

# Every page of the second factor, as allauth names them.
SECOND_FACTOR: Final = "mfa_"


class Entry(NamedTuple):
    """A page, and the names or beginnings of names of the pages that lie under it."""

    label: str | Promise
    page: str
    under: tuple[str, ...] = ()


class Tab(NamedTuple):
    """An entry as it is shown; ``current`` is the value of aria-current, empty elsewhere."""

    label: str
    url: str
    current: str


SECURITY: Final = (
    Entry(_("Password"), "account_change_password", ("account_set_password",)),
    Entry(_("Second factor"), "mfa_index", (SECOND_FACTOR,)),
    Entry(_("E-mail address"), "account_email"),
    Entry(_("Signed-in devices"), "accounts:devices"),
)
SETTINGS: Final = (
    Entry(_("Profile"), "accounts:profile"),
    Entry(_("SSH keys"), "accounts:keys"),
    Entry(
        _("Security"),
        SECURITY[0].page,
        tuple(name for entry in SECURITY for name in (entry.page, *entry.under)),
    ),
    Entry(_("API tokens"), "accounts:tokens"),
    Entry(_("Notifications"), "accounts:notifications"),
    Entry(_("Organisations"), "accounts:organisations", ("accounts:members",)),
    Entry(_("Your data"), "accounts:export", ("accounts:close",)),
)


@register.simple_tag(takes_context=True)
def settings_tabs(context: Context) -> list[Tab]:
    """Return the tabs of the settings."""
    return _tabs(SETTINGS, _page_of(context))


@register.simple_tag(takes_context=True)
def security_tabs(context: Context) -> list[Tab]:
    """Return the pages of security while one of them is shown, else nothing."""
    tabs = _tabs(SECURITY, _page_of(context))
    return tabs if any(tab.current for tab in tabs) else []


def _page_of(context: Context) -> str:
    request: HttpRequest = context["request"]
    return request.resolver_match.view_name if request.resolver_match else ""


def _tabs(entries: tuple[Entry, ...], page: str) -> list[Tab]:
    return [Tab(str(each.label), reverse(each.page), _current(each, page)) for each in entries]


def _current(entry: Entry, page: str) -> str:
    if page == entry.page:
        return "page"
    return "true" if page.startswith(entry.under) and entry.under else ""
