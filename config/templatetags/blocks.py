"""Pieces of pages that wrap what stands between two tags, and small questions of components."""

from django import forms, template
from django.forms import BoundField
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from billing.money import Currency

register = template.Library()


@register.simple_block_tag
def scroll_table(content: SafeString, label: str) -> SafeString:
    """Wrap a wide table so that it scrolls inside its card, reachable by keyboard."""
    return render_to_string("components/scroll_table.html", {"label": label, "content": content})


@register.simple_block_tag
def dialog(content: SafeString, name: str, title: str, opener: str) -> SafeString:
    """Put what stands between the tags into a dialog behind a link with the words ``opener``."""
    facts = {"id": name, "title": title, "opener": opener, "content": content}
    return render_to_string("components/dialog.html", facts)


@register.filter
def is_checkbox(field: BoundField) -> bool:
    return isinstance(field.field.widget, forms.CheckboxInput)


@register.filter
def is_under(path: str, address: str) -> bool:
    """Tell whether ``path`` is a page below ``address``."""
    return bool(address) and path.startswith(address)


@register.simple_tag
def currency_codes() -> list[str]:
    return [currency.value for currency in Currency]
