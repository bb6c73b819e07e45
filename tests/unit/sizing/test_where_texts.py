"""Cards, numbers of cards and prices from plain values."""

from typing import Any

import pytest

from sizing.bounds import InputError
from sizing.plain.jobs import job_from
from sizing.plain.places import (
    cards_from,
    counts_from,
    gpus_from,
    job_to_place,
    prices_from,
    prices_of_file,
)
from sizing.training.choices import Sharding
from sizing.training.job import TrainingJob

QLORA = {"model": "llama-3.1-8b", "method": "qlora"}


@pytest.mark.parametrize("given", ["l40s, rtx-4090", ["l40s", "rtx-4090"], ["L40S,rtx-4090,l40s"]])
def test_cards_are_named_in_a_list_or_by_commas(given: Any) -> None:
    assert [card.slug for card in cards_from(given)] == ["l40s", "rtx-4090"]


def test_nobody_needs_to_name_cards_or_counts() -> None:
    assert cards_from(None) == ()
    assert counts_from("") == (1, 2, 4, 8)
    assert gpus_from(None) == 1


def test_counts_are_those_that_one_server_holds() -> None:
    assert counts_from("8,1") == (1, 8)
    assert counts_from(4) == (4,)
    assert gpus_from("3") == 3


@pytest.mark.parametrize(
    ("read", "given", "words"),
    [
        (
            cards_from,
            "rtx4090",
            "card is “rtx4090”, which is not in the table: did you mean rtx-40",
        ),
        (cards_from, 5, "card is 5, which is not in the table"),
        (cards_from, [["l40s"]], "card is l40s, which is not in the table"),
        (counts_from, "3", "gpus is “3”, which is not known: choose one of 1, 2, 4, 8"),
        (counts_from, "0", "gpus is 0, but the least is 1"),
        (counts_from, "x", "gpus is “x”, not a whole number"),
        (gpus_from, "5000", "gpus is 5000, but the most is 4096"),
        (prices_from, ["rtx-4090"], "price is “rtx-4090”: write it as rtx-4090=0.33"),
        (prices_from, ["=1"], "price is “=1”: write it as"),
        (prices_from, ["rtx-4090=free"], "price is “rtx-4090=free”: write it as"),
        (prices_from, ["rtx-4090=-1"], "write it as"),
        (prices_from, ["rtx-4090=0"], "write it as"),
        (prices_from, ["rtx-4090=10001"], "write it as"),
        (prices_from, ["rtx-4090=1e3"], "write it as"),
        (prices_from, ["rtx-4090=1,5"], "write it as"),
        (prices_from, ["rtx-4090x0=1"], "gpus is 0, but the least is 1"),
        (prices_from, ["zzz=1"], "price is “zzz”, which is not in the table"),
        (prices_of_file, b"", "prices cannot be read at line 1"),
        (prices_of_file, b"a,b\n1,2\n", "prices cannot be read at line 1"),
        (prices_of_file, b"\xff\xfe", "prices cannot be read at line 1"),
        (prices_of_file, b"slug,gpus,price\nl40s,1,1\nl40s,1\n", "cannot be read at line 3"),
        (prices_of_file, b"slug,gpus,price\nnone,1,1\n", "cannot be read at line 2"),
        (prices_of_file, b"slug,gpus,price\nl40s,many,1\n", "cannot be read at line 2"),
    ],
)
def test_what_cannot_be_meant_is_a_sentence(read: Any, given: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read(given)

    assert words in str(caught.value)


def test_a_price_holds_for_every_number_of_cards_or_for_one() -> None:
    prices = prices_from(["rtx-4090x8=0.30", "rtx-4090=0.33", "h100-sxmx8=2.5"])

    assert prices == {
        ("rtx-4090", 8): 300_000,
        ("rtx-4090", 1): 330_000,
        ("rtx-4090", 2): 330_000,
        ("rtx-4090", 4): 330_000,
        ("h100-sxm", 8): 2_500_000,
    }


def test_prices_of_a_table() -> None:
    prices = prices_of_file(b"slug,gpus,price\nl40s,8,0.7\nl4,,0.2\n")

    assert prices["l40s", 8] == 700_000
    assert ("l40s", 1) not in prices
    assert {prices["l4", count] for count in (1, 2, 4, 8)} == {200_000}


class TestTheJobToPlace:
    def test_leaves_it_open_how_cards_share(self) -> None:
        job = job_to_place(QLORA | {"gpus": "8", "card": "l40s"}, gpus=8)

        assert job == job_from(QLORA)

    def test_keeps_the_ways_that_are_named(self) -> None:
        given = QLORA | {"tensor_parallel": "2"}
        for_eight, for_any = job_to_place(given, gpus=8), job_to_place(given)

        assert isinstance(for_eight, TrainingJob)
        assert isinstance(for_any, TrainingJob)
        assert (for_eight.cards, for_eight.sharding) == (8, Sharding.FSDP)
        assert (for_any.cards, for_any.sharding) == (2, Sharding.NONE)

    def test_refuses_ways_that_do_not_divide_the_cards(self) -> None:
        with pytest.raises(InputError, match="tensor_parallel is 3, which does not divide"):
            job_to_place(QLORA | {"tensor_parallel": "3"}, gpus=8)
