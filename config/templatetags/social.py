"""What other sites show when somebody sends a link to a page: its title, sentence and picture."""

import re
from html import unescape

from django import template
from django.conf import settings
from django.template import Context
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from catalog.structured import PICTURE

register = template.Library()

TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
DESCRIPTION = re.compile(r'<meta name="description" content="([^"]*)"')
LOCALES = {"en": "en_GB", "fr": "fr_FR"}
PICTURE_SIZE = (1200, 630)


@register.simple_block_tag(takes_context=True)
def shared(context: Context, content: SafeString) -> SafeString:
    """Show the title and description between the tags, and say them to social networks too."""
    title, description = (_found(pattern, content) for pattern in (TITLE, DESCRIPTION))
    root = settings.PUBLIC_URL.rstrip("/")
    request = context.get("request")
    width, height = PICTURE_SIZE
    properties = [
        ("og:type", "website"),
        ("og:site_name", settings.SITE_NAME),
        ("og:locale", LOCALES[get_language() or settings.LANGUAGE_CODE]),
        ("og:title", title),
        ("og:description", description),
        ("og:url", root + (request.path if request is not None else "/")),
        ("og:image", root + static(PICTURE)),
        ("og:image:width", str(width)),
        ("og:image:height", str(height)),
    ]
    metas = format_html_join(
        "\n  ",
        '<meta property="{}" content="{}">',
        [(name, value) for name, value in properties if value],
    )
    card = '<meta name="twitter:card" content="summary_large_image">'
    return format_html("{}{}\n  " + card, content, metas)


def _found(pattern: re.Pattern[str], content: str) -> str:
    match = pattern.search(content)
    return " ".join(unescape(match[1]).split()) if match else ""
