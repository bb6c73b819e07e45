"""The pieces of mails. A mail is written once; each piece knows its HTML and its text form.

The two forms thus say the same. ``form`` in the context says which one is being written.
"""

from django import template
from django.template.context import Context
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from marketplace.accounts.mail import HTML, one_line

register = template.Library()


@register.simple_block_tag(takes_context=True)
def paragraph(context: Context, content: str) -> str:
    """Write one paragraph."""
    return _piece(context, "paragraph", text=one_line(content), content=_html(one_line(content)))


@register.simple_block_tag(takes_context=True)
def code(context: Context, content: str) -> str:
    """Write something to type or to copy, on a line of its own."""
    line = one_line(content)
    return _piece(context, "code", text=line, content=_html(line))


@register.simple_block_tag(takes_context=True)
def facts(context: Context, content: str) -> str:
    """Write figures with their names, made by the tag ``fact``."""
    return _piece(context, "facts", text=content.strip(), content=_html(content.strip()))


@register.simple_tag(takes_context=True)
def fact(context: Context, label: str, value: str) -> str:
    """Write one figure with its name."""
    if context["form"] == HTML:
        return render_to_string("emails/pieces/fact.html", {"label": label, "value": value})
    pair = gettext("%(label)s: %(value)s") % {"label": label, "value": value}
    return mark_safe(f"{pair}\n")  # noqa: S308  the text form is no HTML


@register.simple_tag(takes_context=True)
def button(context: Context, url: str, label: str) -> str:
    """Write where the mail leads."""
    return _piece(context, "button", text=f"{label}\n{url}", url=url, label=label)


def _piece(context: Context, name: str, *, text: str, **inputs: str) -> str:
    if context["form"] == HTML:
        return render_to_string(f"emails/pieces/{name}.html", inputs)
    return mark_safe(f"\n{text}\n\n")  # noqa: S308  the text form is no HTML


def _html(content: str) -> SafeString:
    """Take what a block's nodes have rendered: its values are escaped already."""
    return mark_safe(content)  # noqa: S308  see above
