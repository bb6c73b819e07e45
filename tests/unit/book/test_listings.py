"""What a market has on its shelves, against brute force over an independent account."""

from itertools import takewhile

from hypothesis import given

from marketplace.book.listings import Shelf, shelf_of
from marketplace.book.types import MAX_HOURS, Halt, Offer
from tests.unit.book.builders import Market, slot
from tests.unit.book.oracle import World
from tests.unit.book.streams import play, streams
from tests.unit.book.test_matching_properties import moments, next_start

DAY_SLOTS = 96
MOST = 2


def shelf(market: Market, *, most: int = 10, slots_ahead: int = DAY_SLOTS) -> Shelf:
    supply = market.book.supply(gpu_model="h100-sxm", currency="EUR")
    return shelf_of(supply=supply, most=most, slots_ahead=slots_ahead)


def test_a_listing_says_what_its_offer_sells_from_its_next_start():
    market = Market("14:30")
    market.offer(1, min_gpus=3, gpu_step=2, min_hours=2, windows=((slot("14:00"), slot("20:00")),))
    market.bid(gpus=4, hours=2, earliest_start=slot("17:00"))

    (listing,) = shelf(market).best

    # Free in full from 14:45; half of the server is taken from 16:45 to 19:00.
    assert (listing.min_gpus, listing.max_gpus) == (4, 8)
    assert (listing.start_slot, listing.max_hours) == (slot("14:45"), 5)


def test_free_time_is_counted_by_the_slot_in_sizes_that_are_sold():
    market = Market("14:31")
    market.offer(1, min_gpus=2, gpu_step=2, windows=((slot("14:00"), slot("18:00")),))
    market.server(2, capacity=3)
    market.offer(2, min_gpus=2, gpu_step=2, windows=((slot("16:00"), slot("23:00")),))

    found = shelf(market, slots_ahead=16)

    # 13 slots from 14:45 to 18:00 of 8 GPUs, 11 from 16:00 to 18:45 of 2 out of 3.
    assert found.free_gpu_slots == 13 * 8 + 11 * 2


def test_a_suspended_server_is_on_no_shelf():
    market = Market()
    market.offer(1)
    market.server(1, suspended=True)

    assert shelf(market) == Shelf(best=(), buyable=0, free_gpu_slots=0)


def test_a_halt_empties_the_shelf():
    market = Market()
    market.offer(1)
    market.tell(Halt, gpu_model="h100-sxm")

    assert shelf(market) == Shelf(best=(), buyable=0, free_gpu_slots=0)


def test_more_offers_than_are_listed_are_still_counted():
    market = Market()
    for number, ask_micro in ((1, 300_000), (2, 200_000), (3, 100_000)):
        market.offer(number, ask_micro=ask_micro)

    found = shelf(market, most=2)

    assert [listing.offer.ask_micro for listing in found.best] == [100_000, 200_000]
    assert found.buyable == 3


@given(streams)
def test_every_listing_and_every_free_slot_is_there(stream):
    *_, last = moments(stream)
    world = last.world
    book = play(stream).book

    found = shelf_of(
        supply=book.supply(gpu_model="h100", currency="EUR"), most=MOST, slots_ahead=20
    )

    offers = [] if world.is_halted("h100") else on_sale(world)
    expected = [facts for offer in offers if (facts := listed(world, offer)) is not None]
    listings = [
        (one.offer.id, one.start_slot, one.min_gpus, one.max_gpus, one.max_hours)
        for one in found.best
    ]
    assert listings == expected[:MOST]
    assert found.buyable == len(expected)
    assert found.free_gpu_slots == sum(free_gpu_slots(world, offer, ahead=20) for offer in offers)


def on_sale(world: World) -> list[Offer]:
    offers = [
        offer
        for offer in world.open_offers.values()
        if (offer.gpu_model, offer.currency) == ("h100", "EUR")
        and not world.servers[offer.server_id].suspended
    ]
    return sorted(offers, key=lambda offer: (offer.ask_micro, offer.sequence))


def sizes(world: World, offer: Offer) -> list[int]:
    counts = range(1, world.servers[offer.server_id].capacity + 1)
    return [count for count in counts if world.sells(offer, gpus=count, hours=offer.min_hours)]


def listed(world: World, offer: Offer) -> tuple[int, int, int, int, int] | None:
    sold = sizes(world, offer)
    start = next_start(world, offer, gpus=sold[0], hours=offer.min_hours) if sold else None
    if start is None:
        return None
    hours = range(offer.min_hours, MAX_HOURS + 1)
    return (
        offer.id,
        start,
        sold[0],
        max(n for n in sold if world.is_free(offer, gpus=n, hours=offer.min_hours, start=start)),
        max(takewhile(lambda n: world.is_free(offer, gpus=sold[0], hours=n, start=start), hours)),
    )


def free_gpu_slots(world: World, offer: Offer, *, ahead: int) -> int:
    first = -(-world.now_seconds // 900)
    return sum(
        max((n for n in sizes(world, offer) if world.has_free(offer, gpus=n, slot=slot)), default=0)
        for slot in range(first, first + ahead)
        if any(start <= slot < end for start, end in offer.windows)
    )
