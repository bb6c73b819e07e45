"""The rows of the list of GPU models and of comparisons: a model, what fits it, and its market."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from billing.money import Currency
from catalog.models import GpuModel, MarketFigures
from catalog.queries import GpuRow
from catalog.queries_market import MarketRow, market_rows
from sizing.capacity import indicative_capacity


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedGpu(GpuRow):
    """A row with its market: the price of eight GPUs, the day's figures, hourly prices paid."""

    eight_price_micro: int | None
    is_offered: bool
    figures: MarketFigures | None
    trend: tuple[int, ...]

    @property
    def offers(self) -> int:
        return self.figures.offers if self.figures else 0


def listed_gpu_rows(
    *, gpus: Iterable[GpuModel], currency: Currency, now: datetime
) -> list[ListedGpu]:
    """Return the rows of ``gpus`` in their order, in one currency. Three queries."""
    return [_listed(row) for row in market_rows(gpus=gpus, currency=currency, now=now)]


def _listed(row: MarketRow) -> ListedGpu:
    return ListedGpu(
        gpu=row.gpu,
        capacity=indicative_capacity(slug=row.gpu.slug, memory_gb=row.gpu.memory_gb),
        price_micro=row.price_micro,
        starts_at=row.one.starts_at if row.one else None,
        as_of=row.as_of,
        eight_price_micro=row.eight_price_micro,
        is_offered=row.is_offered,
        figures=row.figures,
        trend=row.trend,
    )
