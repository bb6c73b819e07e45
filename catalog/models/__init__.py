from catalog.models.gpus import GpuModel
from catalog.models.guides import Guide, GuideText
from catalog.models.market import MarketFigures, PublishedOffer, Region, Tier, TradedHour
from catalog.models.quotes import Quote

__all__ = [
    "GpuModel",
    "Guide",
    "GuideText",
    "MarketFigures",
    "PublishedOffer",
    "Quote",
    "Region",
    "Tier",
    "TradedHour",
]
