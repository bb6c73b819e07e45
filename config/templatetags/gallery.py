"""Draws a sample of the gallery as a page would include its component."""

from typing import TYPE_CHECKING

from django import template
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString

if TYPE_CHECKING:
    from config.gallery.samples import Sample

register = template.Library()

# What a component needs around it to be seen as on a page.
AROUND = {
    "kpi": '<div class="kpis">{}</div>',
    "stale": '<div class="is-stale">{}</div>',
    "sort_header": "<table><thead><tr>{}</tr></thead></table>",
}


@register.simple_tag
def sample_of(sample: "Sample") -> SafeString:
    if sample.component == "scroll_table":
        return render_to_string("gallery/table.html", {"label": sample.inputs["label"]})
    html = render_to_string(sample.template, dict(sample.inputs))
    return format_html(AROUND.get(sample.component, "{}"), html)
