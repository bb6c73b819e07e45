"""A large market for measuring pages: 53 cards, 10,000 offers, 100,000 fills.

One row of each kind is made by the real operations; the others are its copies, written by the
database itself. What pages read is then published by the exchange's own code.
"""

from datetime import datetime, timedelta

from django.db import connection, models

from catalog.operations.gpus import load_gpu_models
from catalog.operations.guides import load_guides
from marketplace.accounts import clock
from marketplace.models import Bid, Command, Fill, Offer, OfferWindow, Server
from marketplace.operations.quotes import rebuild_published_market
from tests.builders import sell
from tests.factories import ServerFactory

OFFERS = 10_000
FILLS = 100_000
# Fills lie in the last four weeks, so that histories and averages have something to read.
SPREAD = timedelta(days=28)
# Ids far above those of the rows that are copied.
FIRST = 1_000_000


def make_large_market() -> dict[str, int]:
    """Fill the database of this measurement; return how many rows of each kind it has."""
    now = clock.now().replace(minute=0, second=0, microsecond=0)
    load_gpu_models()
    load_guides()
    _one_sale(now)
    models_count = _cards()
    _copy_offers(models_count)
    _copy_fills()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    rebuild_published_market()
    return {
        "cards": models_count,
        "offers": Offer.objects.filter(status=Offer.Status.OPEN).count(),
        "fills": Fill.objects.count(),
    }


def _one_sale(now: datetime) -> None:
    """Sell two hours of one server, which stays on offer for the weeks ahead."""
    from catalog.models import GpuModel

    server = ServerFactory.create(gpu_model=GpuModel.objects.get(slug="rtx-4090"), gpu_count=8)
    sell(server=server, starts_at=now + timedelta(hours=3), filled_at=now)


def _cards() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TEMPORARY TABLE card AS SELECT id, row_number() OVER (ORDER BY id) - 1 AS place FROM catalog_gpumodel WHERE is_listed"
        )
        cursor.execute("SELECT count(*) FROM card")
        (count,) = cursor.fetchone()
    return int(count)


def _copy_offers(models_count: int) -> None:
    card = f"(SELECT id FROM card WHERE place = n %% {models_count})"
    _copy(Server, OFFERS, name="'server-' || n", gpu_model_id=card)
    # The exchange learns of servers by its log.
    _copy(
        Command,
        OFFERS,
        where="kind = 'change_server' AND sequence IS NOT NULL",
        server_id=f"{FIRST} + n",
        sequence=f"{FIRST} + n",
    )
    price = "(300 + n %% 400 * 7) * 1000"
    currency = "(ARRAY['EUR', 'USD', 'GBP'])[1 + n %% 3]"
    _copy(
        Offer,
        OFFERS,
        server_id=f"{FIRST} + n",
        gpu_model_id=card,
        ask_price_micro=price,
        currency=currency,
        sequence=f"{FIRST} + n",
    )
    _copy(OfferWindow, OFFERS, offer_id=f"{FIRST} + n")


def _copy_fills() -> None:
    _copy(Bid, FILLS, sequence=f"{2 * FIRST} + n")
    _copy(
        Fill,
        FILLS,
        bid_id=f"{FIRST} + n",
        offer_id=f"{FIRST} + 1 + n %% {OFFERS}",
        server_id=f"{FIRST} + 1 + n %% {OFFERS}",
        sequence=f"{2 * FIRST} + n",
        customer_price_micro="(300 + n %% 97) * 1000",
        seller_price_micro="(300 + n %% 97) * 1000",
        occurred_at=f"occurred_at - n * interval '{SPREAD.total_seconds() / FILLS} seconds'",
        told_at="occurred_at",
    )


def _copy(model: type[models.Model], count: int, *, where: str = "true", **changes: str) -> None:
    """Copy the first row of a table, with these columns given as expressions of the number n."""
    columns = [str(field.column) for field in model._meta.concrete_fields]
    changes = {"id": f"{FIRST} + n", **changes}
    values = ", ".join(changes.get(column, f'"{column}"') for column in columns)
    names = ", ".join(f'"{column}"' for column in columns)
    table = model._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({names}) SELECT {values} "
            f"FROM (SELECT * FROM {table} WHERE {where} ORDER BY id LIMIT 1) AS row, generate_series(1, %s) AS n",
            [count],
        )
