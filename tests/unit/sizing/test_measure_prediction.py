"""What is expected of a run is the estimate of the same job, in the words of the engine."""

from typing import Any

import pytest

from sizing.bounds import InputError
from sizing.estimates import Part
from sizing.measure.prediction import predicted
from sizing.measure.runs import MeasuredRun, Targets, Work
from sizing.shapes.language_models import model_by_slug

LLAMA = model_by_slug("llama-3.1-8b")


def run(**changes) -> MeasuredRun:
    values: dict[str, Any] = {"model": LLAMA, "work": Work.LORA, "sequence_tokens": 2048}
    return MeasuredRun(**values | changes)


@pytest.mark.parametrize("work", list(Work))
def test_every_work_has_terms_that_sum_to_the_peak(work):
    expected = predicted(run(work=work))

    assert sum(term.size_bytes for term in expected.terms) == expected.peak_bytes
    assert 0 < expected.low_bytes <= expected.peak_bytes <= expected.high_bytes


@pytest.mark.parametrize("work", list(Work))
def test_fewer_layers_take_less(work):
    peaks = [predicted(run(work=work).at_depth(layers)).peak_bytes for layers in (2, 4, 31)]

    assert peaks == sorted(set(peaks))


def test_weights_are_two_bytes_a_parameter():
    expected = predicted(run(work=Work.INFERENCE, new_tokens=64))

    assert expected.part_bytes(Part.WEIGHTS) == 2 * LLAMA.parameters


def test_a_prompt_and_what_is_written_are_cached_together():
    expected = predicted(run(work=Work.INFERENCE, sequence_tokens=1000, new_tokens=24))

    # 32 layers x 2 x 8 heads x 128 x 2 bytes = 131,072 bytes a token.
    assert expected.part_bytes(Part.KV_CACHE) == 1024 * 131_072


def test_settings_of_the_run_change_what_is_expected():
    usual = predicted(run(work=Work.QLORA)).peak_bytes

    assert predicted(run(work=Work.QLORA, has_double_quantization=False)).peak_bytes > usual
    assert predicted(run(work=Work.QLORA, has_checkpointing=False)).peak_bytes > usual
    assert predicted(run(work=Work.QLORA, targets=Targets.QUERY_VALUE)).peak_bytes < usual
    assert predicted(run(work=Work.QLORA, lora_rank=64)).peak_bytes > usual


def test_what_the_engine_refuses_is_refused():
    with pytest.raises(InputError) as refused:
        predicted(run(lora_rank=5000))

    assert refused.value.field == "lora_rank"
