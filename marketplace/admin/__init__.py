"""The market's administration, by subject."""

from marketplace.admin import market, memory_tests, orders, supply

__all__ = ["market", "memory_tests", "orders", "supply"]
