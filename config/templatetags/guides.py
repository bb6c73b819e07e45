"""The pictures inside a guide, in the reader's formats."""

from django import template
from django.utils.translation import gettext as _

from catalog.content.guide_figures import Figure
from config.templatetags import formats, pictures

register = template.Library()


@register.inclusion_tag("components/bar_rows.html")
def guide_figure(figure: Figure) -> dict[str, object]:
    """Draw the figure as rows of bars."""
    shown = formats.gb if figure.is_memory else formats.number
    rows = [(_name(name), amount, shown(amount)) for name, amount in figure.rows]
    return pictures.bar_rows(rows, f"{figure.label}.", figure.unit)


def _name(name: str | int) -> str:
    return (
        _("%(count)s tokens") % {"count": formats.number(name)} if isinstance(name, int) else name
    )
