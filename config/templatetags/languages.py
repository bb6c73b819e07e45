"""The same page in another language, and its public addresses."""

from django import template
from django.conf import settings
from django.template import Context
from django.urls import translate_url

register = template.Library()


@register.simple_tag(takes_context=True)
def same_page_in(context: Context, language: str) -> str:
    """Return the path of this page in ``language``, with its query."""
    request = context.get("request")
    if request is None:
        return f"/{language}/"
    return translate_url(request.get_full_path(), language)


@register.simple_tag(takes_context=True)
def public_address(context: Context, language: str = "") -> str:
    """Return the full address of this page without its query, for search engines."""
    request = context.get("request")
    path = request.path if request is not None else "/"
    return settings.PUBLIC_URL.rstrip("/") + (translate_url(path, language) if language else path)
