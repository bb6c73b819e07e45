"""The picture of an indicative capacity: a short bar beside its number."""

from django import template

register = template.Library()


@register.inclusion_tag("components/capacity.html")
def capacity_bar(size_b: int, largest_b: int) -> dict[str, int]:
    """Show ``size_b`` with a bar as long as its share of ``largest_b``."""
    return {"size_b": size_b, "share_pct": 100 * size_b // max(largest_b, 1)}
