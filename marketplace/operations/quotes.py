"""Publish the market: what pages show is what can be bought, and what was paid.

Runs in the batch's transaction: pages see prices and fills together. Of a batch's fills only its
own hour is counted again, from the rows, so that a repetition changes nothing.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from django.db import transaction

from billing.money import Currency
from catalog.models import GpuModel
from catalog.operations.market import (
    MAX_PUBLISHED_OFFERS,
    FiguresToPublish,
    Market,
    OfferToPublish,
    forget_hours,
    publish_figures,
    publish_hours,
    publish_offers,
)
from catalog.operations.quotes import QuoteToPublish, publish_quotes
from marketplace.book.listings import Listing, Shelf, shelf_of
from marketplace.book.matching import Book
from marketplace.book.types import SLOTS_PER_HOUR
from marketplace.locks import lock_shard
from marketplace.models import MAIN_SHARD, Server
from marketplace.operations.book_rows import restore_book
from marketplace.operations.slots import time_of
from marketplace.operations.trades import MarketDay, market_days, traded_hours

QUOTED_GPUS = (1, 8)
HOUR = timedelta(hours=1)
SLOTS_AHEAD = 24 * SLOTS_PER_HOUR


def publish(
    *,
    book: Book,
    as_of: datetime,
    gpu_model_ids: Collection[int] | None = None,
    has_fills: bool = False,
) -> None:
    """Replace what is published of these models, or of all, by what the book sells now.

    ``has_fills`` says that the batch at ``as_of`` made fills of these models.
    """
    models = _listed_models(gpu_model_ids)
    if has_fills:
        hour = as_of.replace(minute=0, second=0, microsecond=0)
        publish_hours(
            hours=traded_hours(since=hour, until=hour + HOUR, gpu_model_ids=gpu_model_ids)
        )
    publish_quotes(quotes=_quotes(book, models), as_of=as_of)
    shelves = _shelves(book, models)
    publish_offers(offers=_offers(shelves), as_of=as_of)
    days = market_days(gpu_model_ids=models, as_of=as_of)
    publish_figures(
        figures=[_figures(market, shelf, days[market]) for market, shelf in shelves.items()],
        as_of=as_of,
    )


@transaction.atomic
def rebuild_published_market(*, shard_id: int = MAIN_SHARD) -> int:
    """Publish the whole market anew from orders and fills; return the hours with a trade.

    Everything stands as of the last batch. Safe to repeat; the matcher waits for it.
    """
    shard = lock_shard(shard_id=shard_id)
    forget_hours()
    hours = list(traded_hours())
    publish_hours(hours=hours)
    if shard.last_clock_at is not None:
        publish(book=restore_book(shard=shard), as_of=shard.last_clock_at)
    return len(hours)


def _listed_models(gpu_model_ids: Collection[int] | None) -> dict[int, str]:
    """Return the slugs of the listed models among these, by id."""
    listed = GpuModel.objects.filter(is_listed=True)
    if gpu_model_ids is not None:
        listed = listed.filter(pk__in=gpu_model_ids)
    return dict(listed.order_by("pk").values_list("pk", "slug"))


def _quotes(book: Book, models: Mapping[int, str]) -> list[QuoteToPublish]:
    return [
        _quote(book, gpu_model_id=pk, slug=slug, currency=currency, gpus=gpus)
        for pk, slug in models.items()
        for currency in Currency
        for gpus in QUOTED_GPUS
    ]


def _quote(
    book: Book, *, gpu_model_id: int, slug: str, currency: Currency, gpus: int
) -> QuoteToPublish:
    best = book.best_price(gpu_model=slug, currency=currency.value, gpus=gpus)
    return QuoteToPublish(
        gpu_model_id=gpu_model_id,
        currency=currency,
        gpus=gpus,
        price_micro=best.ask_micro if best else None,
        starts_at=time_of(best.start_slot) if best else None,
    )


def _shelves(book: Book, models: Mapping[int, str]) -> dict[Market, Shelf]:
    return {
        (pk, currency): shelf_of(
            supply=book.supply(gpu_model=slug, currency=currency.value),
            most=MAX_PUBLISHED_OFFERS,
            slots_ahead=SLOTS_AHEAD,
        )
        for pk, slug in models.items()
        for currency in Currency
    }


def _offers(shelves: Mapping[Market, Shelf]) -> dict[Market, Sequence[OfferToPublish]]:
    wanted = {one.offer.server_id for shelf in shelves.values() for one in shelf.best}
    servers = Server.objects.in_bulk(sorted(wanted))
    return {
        market: [_offer(listing, servers[listing.offer.server_id]) for listing in shelf.best]
        for market, shelf in shelves.items()
    }


def _offer(listing: Listing, server: Server) -> OfferToPublish:
    return OfferToPublish(
        price_micro=listing.offer.ask_micro,
        min_gpus=listing.min_gpus,
        max_gpus=listing.max_gpus,
        gpu_step=listing.offer.gpu_step,
        starts_at=time_of(listing.start_slot),
        min_hours=listing.offer.min_hours,
        max_hours=listing.max_hours,
        region=server.region,
        tier=server.tier,
        included=_included(server),
        is_verified_by_agent=server.delivery == Server.Delivery.AGENT,
    )


def _included(server: Server) -> dict[str, int | bool]:
    """Return what the server's listing states; zero says that its seller stated nothing."""
    figures = {
        "disk_gb_per_gpu": server.disk_gb_per_gpu,
        "ram_gb": server.ram_gb,
        "vcpus": server.vcpus,
    }
    return {key: value for key, value in figures.items() if value} | {
        "has_nvlink": server.has_nvlink
    }


def _figures(market: Market, shelf: Shelf, day: MarketDay) -> FiguresToPublish:
    return FiguresToPublish(
        gpu_model_id=market[0],
        currency=market[1],
        offers=shelf.buyable,
        offered_gpu_hours=shelf.free_gpu_slots // SLOTS_PER_HOUR,
        sold_gpu_hours_24h=day.sold_gpu_hours,
        fills_24h=day.fills,
        last_price_micro=day.last_price_micro,
        last_fill_at=day.last_fill_at,
        change_share=day.change_share,
    )
