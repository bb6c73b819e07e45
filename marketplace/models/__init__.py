from marketplace.models.demand import Bid, Fill
from marketplace.models.exchange import MAIN_SHARD, Command, Decision, MarketState, Shard
from marketplace.models.intentions import Intention
from marketplace.models.memory_tests import MemoryTest
from marketplace.models.notices import LowBalanceNotice, OpeningNotice
from marketplace.models.rentals import DeliveryGap, Rental, RentalHour
from marketplace.models.supply import (
    SLOTS_PER_DAY,
    GpuBooking,
    Offer,
    OfferWindow,
    Seller,
    Server,
    ServerDay,
)

__all__ = [
    "MAIN_SHARD",
    "SLOTS_PER_DAY",
    "Bid",
    "Command",
    "Decision",
    "DeliveryGap",
    "Fill",
    "GpuBooking",
    "Intention",
    "LowBalanceNotice",
    "MarketState",
    "MemoryTest",
    "Offer",
    "OfferWindow",
    "OpeningNotice",
    "Rental",
    "RentalHour",
    "Seller",
    "Server",
    "ServerDay",
    "Shard",
]
