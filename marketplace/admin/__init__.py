"""The market's administration, by subject."""

from marketplace.admin import market, orders, supply

__all__ = ["market", "orders", "supply"]
