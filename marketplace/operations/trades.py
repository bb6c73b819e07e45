"""Count what was paid: hours of trade and the last day of each model, from the fills themselves.

A fill counts in the customer's currency, at the customer's price, weighed by its GPU-hours, in the
hour in which it was made.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import connection

from billing.money import Currency
from catalog.operations.market import HourToPublish, Market

DAY = timedelta(hours=24)
EVER = datetime.max.replace(tzinfo=UTC)
NEVER = datetime.fromtimestamp(0, tz=UTC)

# The index on the time of fills finds the period; the average is rounded half-up to the micro-unit.
TRADED_HOURS = """
SELECT offer.gpu_model_id, fill.customer_currency, date_trunc('hour', fill.occurred_at, 'UTC'),
       round(sum(fill.customer_price_micro * fill.gpus * fill.hours)::numeric
             / sum(fill.gpus * fill.hours))::bigint,
       (array_agg(fill.customer_price_micro ORDER BY fill.occurred_at DESC, fill.id DESC))[1],
       sum(fill.gpus * fill.hours), count(*)
FROM marketplace_fill AS fill
JOIN marketplace_offer AS offer ON offer.id = fill.offer_id
WHERE fill.occurred_at >= %(since)s AND fill.occurred_at < %(until)s
  AND (%(models)s::bigint[] IS NULL OR offer.gpu_model_id = ANY (%(models)s::bigint[]))
GROUP BY 1, 2, 3
"""
# Prices of earlier days come from the published hours. Fills are read of the last day, of the
# hour in which that day began, and of a model's last hour of trade when it is older.
MARKET_DAYS = """
WITH recent AS (
    SELECT offer.gpu_model_id, fill.customer_currency AS currency, fill.id, fill.occurred_at,
           fill.customer_price_micro AS price_micro, fill.gpus * fill.hours AS gpu_hours
    FROM marketplace_fill AS fill
    JOIN marketplace_offer AS offer ON offer.id = fill.offer_id
    WHERE fill.occurred_at >= date_trunc('hour', %(day_ago)s::timestamptz, 'UTC')
      AND fill.occurred_at <= %(as_of)s
      AND offer.gpu_model_id = ANY (%(models)s::bigint[])
), day AS (
    SELECT gpu_model_id, currency, sum(gpu_hours) AS gpu_hours, count(*) AS fills,
           max(occurred_at) AS last_at,
           (array_agg(price_micro ORDER BY occurred_at DESC, id DESC))[1] AS price_micro
    FROM recent WHERE occurred_at > %(day_ago)s GROUP BY 1, 2
), before AS (
    SELECT gpu_model_id, currency, max(occurred_at) AS last_at,
           (array_agg(price_micro ORDER BY occurred_at DESC, id DESC))[1] AS price_micro
    FROM recent WHERE occurred_at <= %(day_ago)s GROUP BY 1, 2
)
SELECT market.gpu_model_id, market.currency, coalesce(day.gpu_hours, 0), coalesce(day.fills, 0),
       coalesce(day.price_micro, before.price_micro, earlier.price_micro),
       coalesce(day.last_at, before.last_at, (
           SELECT max(fill.occurred_at)
           FROM marketplace_fill AS fill
           JOIN marketplace_offer AS offer ON offer.id = fill.offer_id
           WHERE fill.occurred_at >= earlier.hour_starts_at
             AND fill.occurred_at < earlier.hour_starts_at + interval '1 hour'
             AND offer.gpu_model_id = market.gpu_model_id
             AND fill.customer_currency = market.currency
       )),
       round(day.price_micro::numeric / coalesce(before.price_micro, earlier.price_micro) - 1, 4)
FROM (
    SELECT model.id AS gpu_model_id, currency.code AS currency
    FROM unnest(%(models)s::bigint[]) AS model (id)
    CROSS JOIN unnest(%(currencies)s::text[]) AS currency (code)
) AS market
LEFT JOIN day USING (gpu_model_id, currency)
LEFT JOIN before USING (gpu_model_id, currency)
LEFT JOIN LATERAL (
    SELECT hour.hour_starts_at, hour.last_price_micro AS price_micro
    FROM catalog_tradedhour AS hour
    WHERE hour.gpu_model_id = market.gpu_model_id AND hour.currency = market.currency
      AND hour.hour_starts_at < date_trunc('hour', %(day_ago)s::timestamptz, 'UTC')
    ORDER BY hour.hour_starts_at DESC
    LIMIT 1
) AS earlier ON true
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketDay:
    """What was sold of a model in a currency in 24 hours, and its last price ever.

    ``change_share`` compares it with the last price that was paid 24 hours ago or earlier; None
    without such a price, and when nothing was sold since.
    """

    sold_gpu_hours: int
    fills: int
    last_price_micro: int | None
    last_fill_at: datetime | None
    change_share: Decimal | None


def traded_hours(
    *,
    since: datetime = NEVER,
    until: datetime = EVER,
    gpu_model_ids: Collection[int] | None = None,
) -> Iterator[HourToPublish]:
    """Yield the hours of ``[since, until)`` with a fill, whole ones when these are whole hours."""
    models = None if gpu_model_ids is None else sorted(gpu_model_ids)
    for row in _read(TRADED_HOURS, since=since, until=until, models=models):
        gpu_model_id, currency, starts_at, average_micro, last_micro, gpu_hours, fills = row
        yield HourToPublish(
            gpu_model_id=gpu_model_id,
            currency=Currency(currency),
            hour_starts_at=starts_at,
            average_price_micro=average_micro,
            last_price_micro=last_micro,
            gpu_hours=gpu_hours,
            fills=fills,
        )


def market_days(*, gpu_model_ids: Collection[int], as_of: datetime) -> Mapping[Market, MarketDay]:
    """Return the last day of these models in every currency. Their hours must be published."""
    rows = _read(
        MARKET_DAYS,
        as_of=as_of,
        day_ago=as_of - DAY,
        models=sorted(gpu_model_ids),
        currencies=[currency.value for currency in Currency],
    )
    return {
        (gpu_model_id, Currency(currency)): MarketDay(
            sold_gpu_hours=sold_gpu_hours,
            fills=fills,
            last_price_micro=last_price_micro,
            last_fill_at=last_fill_at,
            change_share=change_share,
        )
        for (
            gpu_model_id,
            currency,
            sold_gpu_hours,
            fills,
            last_price_micro,
            last_fill_at,
            change_share,
        ) in rows
    }


def _read(statement: str, **parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows
