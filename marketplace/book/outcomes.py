"""What the book answers to an event: outcomes, and the record of each decision about a bid."""

from dataclasses import dataclass
from enum import StrEnum, unique

from marketplace.book.types import Fill


@unique
class Rule(StrEnum):
    """Why an offer cannot serve a bid, in the order in which the rules are tried.

    PRICE is tried last but one because it is cheap, START last because it walks the calendar: an
    offer excluded by PRICE may have no free time either.
    """

    SUSPENDED = "suspended"
    RELATED = "related"
    REGION = "region"
    TIER = "tier"
    GPUS = "gpus"
    HOURS = "hours"
    PRICE = "price"
    START = "start"


@unique
class Reason(StrEnum):
    """The reason of a decision about a bid."""

    BEST_OFFER = "best_offer"
    NO_FIT = "no_fit"
    PRICE = "price"
    STALE = "stale"
    HALTED = "halted"
    TOO_LATE = "too_late"


@unique
class OfferReason(StrEnum):
    """Why an offer was not listed."""

    UNKNOWN_SERVER = "unknown_server"
    SERVER_HAS_OFFER = "server_has_offer"
    WINDOWS_OVER = "windows_over"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusion:
    offer_id: int
    rule: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """How one bid was decided at one event.

    ``excluded`` names the first offers looked at, in book order, with the first rule that excluded
    each; ``unlisted`` counts the excluded ones beyond that list. ``cheapest_fit`` is the offer that
    would have served the bid had its limit been high enough, looked for when none did.
    """

    bid_id: int
    sequence: int
    reason: Reason
    chosen: int | None = None
    excluded: tuple[Exclusion, ...] = ()
    unlisted: int = 0
    cheapest_fit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    fill: Fill
    decision: Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Rested:
    bid_id: int
    decision: Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    bid_id: int
    reason: Reason
    decision: Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    bid_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Expired:
    """The latest start of a waiting bid can no longer be met."""

    bid_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    offer_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferRefused:
    offer_id: int
    reason: OfferReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawn:
    offer_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferExpired:
    """The last window of an offer is over."""

    offer_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NotOpen:
    """A cancel or withdrawal named an order that is not open. Nothing changed."""

    bid_id: int | None = None
    offer_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BestPrice:
    ask_micro: int
    start_slot: int
    offer_id: int


BidAnswer = Filled | Rested | Refused
Outcome = (
    Filled
    | Rested
    | Refused
    | Cancelled
    | Expired
    | Listed
    | OfferRefused
    | Withdrawn
    | OfferExpired
    | NotOpen
)
