"""The same page in another language, and its public addresses.

Most addresses are translated by their route. A page whose address holds words of its own says
where it is: ``page_in`` maps each language it exists in to its path there, and ``page_instead``
maps every language to the page that stands in for it.
"""

from django import template
from django.conf import settings
from django.template import Context
from django.urls import translate_url

register = template.Library()

# Search engines send readers of every other language here.
DEFAULT_LANGUAGE = "en"


@register.simple_tag(takes_context=True)
def same_page_in(context: Context, language: str) -> str:
    """Return the path of this page in ``language``, with its query."""
    request = context.get("request")
    if request is None:
        return f"/{language}/"
    known = context.get("page_in")
    if known is None:
        return translate_url(request.get_full_path(), language)
    return str(known.get(language) or context["page_instead"][language])


@register.simple_tag(takes_context=True)
def public_address(context: Context, language: str = "") -> str:
    """Return the full address of this page without its query, for search engines."""
    request = context.get("request")
    path = request.path if request is not None else "/"
    return _full(translate_url(path, language) if language else path)


@register.simple_tag(takes_context=True)
def alternate_addresses(context: Context) -> list[tuple[str, str]]:
    """Return (language, full address) of this page wherever it exists, the default one last."""
    known = context.get("page_in")
    if known is None:
        languages = [code for code, _name in settings.LANGUAGES]
        found = {code: public_address(context, code) for code in languages}
    else:
        found = {code: _full(path) for code, path in sorted(known.items())}
    default = found.get(DEFAULT_LANGUAGE) or next(iter(found.values()))
    return [*found.items(), ("x-default", default)]


def _full(path: str) -> str:
    return settings.PUBLIC_URL.rstrip("/") + path
