"""Ranking: the cheapest that fits first, no made-up price, and fast enough for every page."""

from dataclasses import replace

import pytest

from sizing.cards import all_cards, card_by_slug
from sizing.planning.placing import COUNTS, Sharing
from sizing.planning.ranking import Ranked, Reason, rank
from sizing.planning.work import Work, hours_for
from sizing.serving.job import ServingJob
from sizing.training.job import TrainingJob
from tests.unit.sizing.counting import calls_of
from tests.unit.sizing.planning_jobs import (
    A100,
    FULL,
    H100,
    L40S,
    QLORA,
    RTX_4090,
    SERVING,
    SERVING_70B,
)

CARDS = (H100, A100, L40S, RTX_4090)
MICRO = 1_000_000


def shown(rows: tuple[Ranked, ...]) -> list[tuple[str, int]]:
    return [(row.placed.card.slug, row.placed.gpus) for row in rows]


def test_orders_by_the_hourly_price_of_all_cards_without_work() -> None:
    prices = {
        ("rtx-4090", 1): 400_000,
        ("l40s", 1): 900_000,
        ("a100-sxm-80", 1): 350_000,
        ("rtx-4090", 2): 150_000,
    }

    rows = rank(QLORA, cards=CARDS, prices=prices, counts=(1, 2))

    assert shown(rows)[:4] == [
        ("rtx-4090", 2),
        ("a100-sxm-80", 1),
        ("rtx-4090", 1),
        ("l40s", 1),
    ]
    assert rows[0].price_micro == 300_000
    assert rows[0].hours is None
    assert rows[0].total_micro is None
    assert rows[0].reasons == (Reason.CHEAPEST, Reason.COPY_ON_EACH_CARD, Reason.NO_NVLINK)


def test_orders_by_the_cost_of_the_work() -> None:
    """A card at twice the price that is three times as fast is cheaper."""
    prices = {("a100-sxm-80", 1): 1_000_000, ("h100-sxm", 1): 2_000_000}
    work = Work(100_000_000)

    rows = rank(QLORA, cards=(A100, H100), prices=prices, work=work, counts=(1,))

    assert shown(rows) == [("h100-sxm", 1), ("a100-sxm-80", 1)]
    hours = hours_for(QLORA, work, H100, gpus=1)
    assert rows[0].hours == hours
    assert rows[0].total_micro == tuple(round(each * 2_000_000) for each in hours)
    assert rows[0].reasons == (Reason.CHEAPEST, Reason.FASTEST)
    assert rows[1].reasons == ()


def test_a_price_that_is_absent_is_not_made_up() -> None:
    prices = {("rtx-4090", 1): 5_000 * MICRO}

    rows = rank(QLORA, cards=CARDS, prices=prices, work=Work(1_000_000), counts=(1,))

    assert shown(rows)[0] == ("rtx-4090", 1)
    assert all(row.price_micro is None and row.total_micro is None for row in rows[1:])
    assert all(row.hours is not None for row in rows[1:])
    assert [row.reasons for row in rows[1:]] == [(Reason.NO_OFFER,)] * 3
    # Without a price the fastest stands first.
    assert shown(rows)[1:] == [("h100-sxm", 1), ("l40s", 1), ("a100-sxm-80", 1)]


def test_orders_what_nobody_offers_by_memory_without_work() -> None:
    rows = rank(QLORA, cards=CARDS, prices={}, counts=(1, 2))

    assert shown(rows)[:3] == [("rtx-4090", 1), ("l40s", 1), ("rtx-4090", 2)]
    assert all(Reason.CHEAPEST not in row.reasons for row in rows)


def test_what_does_not_fit_stands_last_whatever_its_price() -> None:
    prices = {(card.slug, count): MICRO for card in CARDS for count in COUNTS}

    rows = rank(SERVING_70B, cards=CARDS, prices=prices, work=Work(1_000_000))

    fits = [row.placed.fits for row in rows]
    assert fits == sorted(fits, reverse=True)
    misfits = [row for row in rows if not row.placed.fits]
    missing = [row.placed.missing_bytes for row in misfits]
    assert missing == sorted(missing)
    assert all(row.hours is None and row.total_micro is None for row in misfits)
    assert misfits[-1].reasons == (Reason.MISSING_MEMORY,)
    assert misfits[-1].placed.card is RTX_4090


def test_what_nobody_offers_stands_before_what_does_not_fit() -> None:
    prices = {("rtx-4090", 1): 1}

    rows = rank(FULL, cards=(RTX_4090, A100), prices=prices, counts=(1, 8))

    assert shown(rows) == [
        ("a100-sxm-80", 8),
        ("rtx-4090", 8),
        ("a100-sxm-80", 1),
        ("rtx-4090", 1),
    ]
    assert [row.placed.fits for row in rows] == [True, False, False, False]


def test_a_card_of_unknown_speed_stands_behind_known_costs() -> None:
    unknown = card_by_slug("rx-7900-xtx")
    prices = {("rx-7900-xtx", 1): 1, ("rtx-4090", 1): MICRO}

    rows = rank(QLORA, cards=(unknown, RTX_4090), prices=prices, work=Work(1_000), counts=(1,))

    assert shown(rows) == [("rtx-4090", 1), ("rx-7900-xtx", 1)]
    assert rows[1].reasons == (Reason.UNKNOWN_SPEED,)
    assert rows[1].price_micro == 1
    assert rows[1].total_micro is None


@pytest.mark.parametrize(("output_tokens", "is_known"), [(0, True), (512, False)])
def test_only_prompts_need_the_peak(output_tokens: int, is_known: bool) -> None:
    job = replace(SERVING, requests=1, context_tokens=2_048, output_tokens=output_tokens)
    unknown = card_by_slug("rx-7900-xtx")

    (row,) = rank(job, cards=(unknown,), prices={}, work=Work(1_000), counts=(1,))

    assert row.placed.fits
    assert (row.hours is not None) is is_known


def test_tells_why_several_cards_share_as_they_do() -> None:
    tight = rank(FULL, cards=(A100,), prices={("a100-sxm-80", 8): MICRO}, counts=(4, 8))
    model = replace(SERVING.model, layers=1, heads=1, kv_heads=1)
    (idle,) = rank(replace(SERVING, model=model), cards=(A100,), prices={}, counts=(8,))

    assert tight[0].reasons == (Reason.CHEAPEST, Reason.WEIGHTS_DIVIDED, Reason.NVLINK)
    assert tight[1].placed.split is Sharing.FSDP
    assert idle.reasons == (Reason.NO_OFFER, Reason.IDLE_CARDS)


def test_says_that_a_fit_is_tight() -> None:
    (row,) = rank(replace(SERVING, requests=50), cards=(H100,), prices={}, counts=(1,))

    assert row.reasons == (Reason.TIGHT, Reason.NO_OFFER)


def test_the_order_of_cards_changes_nothing() -> None:
    cards = tuple(all_cards().values())
    prices = {(card.slug, count): card.tdp_w * 3_000 for card in cards for count in (1, 4)}

    there = rank(QLORA, cards=cards, prices=prices, work=Work(10**8))
    back = rank(QLORA, cards=cards[::-1], prices=prices, work=Work(10**8), counts=COUNTS[::-1])

    assert there == back


@pytest.mark.parametrize(
    "job",
    [QLORA, FULL, replace(SERVING, output_tokens=512), SERVING_70B],
    ids=["qlora", "full", "serving", "serving-70b"],
)
def test_ranks_all_cards_and_counts_in_few_steps(job: TrainingJob | ServingJob) -> None:
    """The bench says how long they take; this holds that they stay few: a few dozen a row."""
    cards = tuple(all_cards().values())
    prices = {(card.slug, count): card.tdp_w * 3_000 for card in cards for count in COUNTS}

    def ranking() -> object:
        return rank(job, cards=cards, prices=prices, work=Work(10**8))

    ranking()

    assert len(cards) == 53
    assert calls_of(ranking) <= 15_000
