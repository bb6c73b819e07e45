"""JSON-LD, for search engines: what the page itself says, in the words of schema.org."""

import json
import re
from collections.abc import Mapping, Sequence
from html import unescape

from django import template
from django.core.serializers.json import DjangoJSONEncoder
from django.utils.html import strip_tags
from django.utils.safestring import SafeString, mark_safe

from catalog.structured import breadcrumbs, faq

register = template.Library()

# As every page marks its questions.
QUESTION = re.compile(
    r'<details class="faq"[^>]*>\s*<summary>(.*?)</summary>(.*?)</details>', re.DOTALL
)
# With these escaped no text can end the element or begin another one.
ESCAPES = {ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"}


@register.simple_tag
def json_ld(*things: Mapping[str, object] | Sequence[Mapping[str, object]] | None) -> SafeString:
    """Show each thing as a node of one graph; nothing at all when there is none."""
    graph: list[Mapping[str, object]] = []
    for thing in things:
        if isinstance(thing, Mapping):
            graph.append(thing)
        elif thing:
            graph.extend(thing)
    if not graph:
        return SafeString("")
    data = {"@context": "https://schema.org", "@graph": graph}
    text = json.dumps(data, cls=DjangoJSONEncoder, ensure_ascii=False).translate(ESCAPES)
    # Safe: every mark that HTML could read is escaped above.
    return mark_safe(f'<script type="application/ld+json">{text}</script>')  # noqa: S308


@register.simple_tag
def breadcrumb_data(*steps: str) -> SafeString:
    """Tell the way to this page: path and name of each step above it, then its own name."""
    *above, here = steps
    pairs = zip(above[1::2], above[::2], strict=True)
    return json_ld(breadcrumbs([*((name, path) for name, path in pairs if path), (here, "")]))


@register.simple_block_tag
def questions_told(content: SafeString) -> SafeString:
    """Show the questions between the tags, and tell them, exactly as they are shown."""
    items = [(unescape(strip_tags(q)).strip(), answer) for q, answer in QUESTION.findall(content)]
    # Safe: both parts are rendered and escaped already.
    return mark_safe(content + json_ld(faq(items)))  # noqa: S308  see the line above
