"""What parts of the market say on pages that are not the market's own."""

from django import template

from marketplace.market_now import ShownState, model_now

register = template.Library()


@register.simple_tag
def model_state(slug: str) -> ShownState:
    """Return the state that counts for a model, with its reason."""
    return model_now(slug=slug)
