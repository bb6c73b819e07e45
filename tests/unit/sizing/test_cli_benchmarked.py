"""Pictures and clips, rendering and simulation on the command line: answers, and what is refused."""

import json
from typing import Any

import pytest

from sizing.benchmarked.diffusion_jobs import DiffusionJob
from sizing.bounds import InputError
from sizing.cli import main
from sizing.plain.benchmarked import BenchmarkedTask, benchmarked_job, benchmarked_task

FLUX = "--task image-video --diffusion-model flux-schnell --bits 8"
SCENE = "--task rendering --scene-gb 20"
FP64 = "--task scientific --precision fp64"


def told(capsys: pytest.CaptureFixture[str], line: str) -> str:
    assert main(line.split()) == 0
    return capsys.readouterr().out


def content(capsys: pytest.CaptureFixture[str], line: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(told(capsys, f"{line} --json"))
    return answer


def refused(capsys: pytest.CaptureFixture[str], line: str) -> str:
    assert main(line.split()) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    return shown.err


class TestEstimate:
    def test_gives_the_measured_peak_of_a_picture_with_its_source(self, capsys):
        answer = content(capsys, f"estimate {FLUX}")
        text = told(capsys, f"estimate {FLUX}")

        assert answer["job"] == {
            "task": "image-video",
            "diffusion_model": "flux-schnell",
            "bits": "8",
        }
        assert answer["needed_bytes"] == 20_019_412_992
        assert answer["standing"] == "measured"
        assert answer["source"]["url"].startswith("https://")
        assert "Memory of the card: 20.02 GB, measured." in text
        assert f"Source: {answer['source']['url']}, of 2026-11-30." in text

    def test_gives_what_a_scene_needs_as_indicative(self, capsys):
        answer = content(capsys, f"estimate {SCENE}")

        assert answer["needed_bytes"] == 22_222_222_223
        assert (answer["standing"], answer["source"]) == ("indicative", None)
        assert "22.22 GB, indicative." in told(capsys, f"estimate {SCENE}")

    def test_a_scene_may_have_decimals_and_is_never_counted_smaller(self, capsys):
        answer = content(capsys, "estimate --task rendering --scene-gb 16.5")

        assert answer["needed_bytes"] == 18_333_333_334

    def test_says_when_nobody_measured_a_setting(self, capsys):
        line = "estimate --task image-video --diffusion-model wan2.1-t2v-14b --width-px 640"

        assert content(capsys, line)["needed_bytes"] is None
        assert "Nobody has measured this setting" in told(capsys, line)

    def test_of_a_simulation_is_refused_with_the_tasks_that_have_one(self, capsys):
        assert "choose one of training, serving, image-video, rendering." in refused(
            capsys, f"estimate {FP64}"
        )


class TestFit:
    def test_judges_every_card_in_the_order_of_the_table(self, capsys):
        rows = content(capsys, f"fit {SCENE}")["cards"]
        verdicts = {row["card"]: row["verdict"] for row in rows}

        assert len(rows) == 53
        assert (verdicts["rtx-4090"], verdicts["h100-sxm"]) == ("tight", "comfortable")
        assert verdicts["rtx-4080"] == "no"

    def test_judges_a_named_card_with_its_measured_speed(self, capsys):
        (row,) = content(capsys, f"fit {SCENE} --card rtx-4090")["cards"]
        text = told(capsys, f"fit {SCENE} --card rtx-4090")

        assert row["figure"]["unit"] == "samples/min"
        assert row["figure"]["standing"] == "measured"
        assert row["figure"]["source"]["url"].startswith("https://")
        assert "rtx-4090" in text
        assert "tight" in text

    def test_says_which_cards_suit_a_simulation(self, capsys):
        line = f"fit {FP64} --card rtx-4090 --card h100-sxm"
        verdicts = [row["verdict"] for row in content(capsys, line)["cards"]]

        assert verdicts == ["no", "suits"]

    def test_says_that_a_card_is_not_known_where_nothing_was_measured(self, capsys):
        line = (
            "fit --task image-video --diffusion-model wan2.1-t2v-14b --width-px 640 --card h100-sxm"
        )

        assert "not known" in told(capsys, line)


class TestRank:
    def test_puts_the_cheapest_work_first(self, capsys):
        prices = "--price mi300x=2.29 --price h100-sxm=2.88"
        rows = content(capsys, f"rank {FP64} {prices}")["rows"]
        text = told(capsys, f"rank {FP64} {prices} --top 3")

        assert [row["card"] for row in rows[:2]] == ["mi300x", "h100-sxm"]
        assert (rows[0]["price_per_gpu_hour"], rows[0]["total"]) == ("2.29", "7.784")
        assert rows[2]["price_per_gpu_hour"] is None
        assert rows[2]["total"] is None
        assert len(text.splitlines()) == 5
        assert text.splitlines()[2].endswith("2.29      7.784")

    def test_counts_so_many_pictures_and_samples(self, capsys):
        price = "--price rtx-4090=0.36"
        hundred = content(capsys, f"rank {FLUX} {price}")["rows"][0]
        thousand = content(capsys, f"rank {FLUX} {price} --items 1000")["rows"][0]

        assert float(thousand["total"]) == pytest.approx(10 * float(hundred["total"]), rel=0.05)

    def test_leaves_out_what_does_not_hold_the_scene(self, capsys):
        cards = {row["card"] for row in content(capsys, f"rank {SCENE}")["rows"]}

        assert "rtx-4080" not in cards
        assert "rtx-4090" in cards

    def test_an_engine_may_keep_textures_in_the_memory_of_the_server(self, capsys):
        line = f"fit {SCENE} --card rtx-4080 --render-engine"

        assert content(capsys, f"{line} cycles")["cards"][0]["verdict"] == "no"
        (row,) = content(capsys, f"{line} redshift")["cards"]
        assert (row["verdict"], row["reasons"][0]) == ("out-of-core", "out-of-core-slower")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("rank --task imge", "choose one of training, serving, image-video"),
        ("rank --task image-video", "diffusion_model is missing"),
        ("rank --task rendering", "scene_gb is missing"),
        ("rank --task scientific", "precision is missing"),
        ("fit --task image-video --diffusion-model flux", "did you mean flux-dev"),
        ("fit --task image-video --diffusion-model flux-dev --bits 5", "bits is 5"),
        ("fit --task image-video --diffusion-model flux-dev --frames 9", "frames is 9"),
        ("fit --task image-video --diffusion-model flux-dev --width-px 0", "width_px is 0"),
        ("fit --task rendering --scene-gb 0", "scene_gb is 0"),
        ("fit --task rendering --scene-gb twenty", "scene_gb is “twenty”"),
        ("fit --task rendering --scene-gb 20 --render-engine povray", "choose one of cycles"),
        ("fit --task rendering --scene-gb 20 --model llama-3.1-8b", "model is not known here"),
        ("fit --task scientific --precision fp63", "choose one of fp64, mixed, bandwidth"),
        ("fit --task scientific --precision mixed", "atoms is missing"),
        ("fit --task scientific --precision fp64 --code LAMMPS", "code is “LAMMPS”"),
        ("fit --task scientific --precision fp64 --gpus 2", "gpus is not known here"),
    ],
)
def test_bad_input_is_named_with_what_to_try(capsys, line, said):
    assert said in refused(capsys, line)


def test_a_program_may_give_numbers_and_must_give_names_as_text() -> None:
    job = benchmarked_job(BenchmarkedTask.IMAGE_VIDEO, {"diffusion_model": "flux-dev", "items": 3})

    assert isinstance(job, DiffusionJob)
    assert (job.model, job.items) == ("flux-dev", 3)
    with pytest.raises(InputError, match="diffusion_model"):
        benchmarked_job(BenchmarkedTask.IMAGE_VIDEO, {"diffusion_model": 7})


@pytest.mark.parametrize("given", [None, "", "training", " Serving "])
def test_jobs_of_language_models_are_left_to_their_own_reader(given: object) -> None:
    assert benchmarked_task({"task": given}) is None


@pytest.mark.parametrize("given", [3, ["rendering"], {"task": 1}])
def test_a_task_that_is_no_text_is_refused(given: object) -> None:
    with pytest.raises(InputError, match="task"):
        benchmarked_task({"task": given})
