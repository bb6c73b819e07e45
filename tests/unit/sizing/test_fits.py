"""Whether a model fits a card by the indicative rule, and the table of models."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizing.capacity import Method, indicative_parameters_b
from sizing.fits import Job, Verdict, needed_bytes, verdict
from sizing.shapes.language_models import all_language_models
from sizing.units import BILLION, GB

ORDER = [Verdict.NO, Verdict.TIGHT, Verdict.COMFORTABLE]
sizes = st.integers(min_value=1, max_value=2_000 * BILLION)
memories = st.integers(min_value=1, max_value=300).map(lambda gb: gb * GB)
jobs = st.sampled_from(Job)


def judged(slug: str, job: Job, memory_gb: int) -> Verdict:
    parameters = all_language_models()[slug].parameters
    return verdict(
        needed_bytes=needed_bytes(parameters=parameters, job=job), memory_bytes=memory_gb * GB
    )


@pytest.mark.parametrize(
    ("slug", "job", "memory_gb", "expected"),
    [
        ("llama-3.1-8b", Job.QLORA, 24, Verdict.COMFORTABLE),
        ("llama-2-13b-hf", Job.QLORA, 24, Verdict.COMFORTABLE),
        ("llama-2-7b-hf", Job.LORA16, 24, Verdict.COMFORTABLE),
        ("llama-3.1-8b", Job.LORA16, 24, Verdict.TIGHT),
        ("llama-3.1-8b", Job.LORA16, 48, Verdict.COMFORTABLE),
        # Common practice on one card of 80 GB, and above 80 % of it.
        ("llama-3.1-70b", Job.QLORA, 80, Verdict.TIGHT),
        ("llama-3.1-70b", Job.QLORA, 48, Verdict.NO),
        ("llama-3.1-8b", Job.INFERENCE16, 24, Verdict.COMFORTABLE),
        ("llama-3.1-70b", Job.INFERENCE16, 141, Verdict.NO),
        ("llama-3.1-70b", Job.INFERENCE16, 180, Verdict.COMFORTABLE),
        ("llama-2-7b-hf", Job.FULL, 141, Verdict.COMFORTABLE),
        ("llama-2-7b-hf", Job.FULL, 96, Verdict.NO),
    ],
)
def test_judges_well_known_cases(slug: str, job: Job, memory_gb: int, expected: Verdict) -> None:
    assert judged(slug, job, memory_gb) == expected


@pytest.mark.parametrize(
    ("needed", "expected"),
    [(80, Verdict.COMFORTABLE), (81, Verdict.TIGHT), (100, Verdict.TIGHT), (101, Verdict.NO)],
)
def test_draws_the_lines_at_80_and_at_100_percent(needed: int, expected: Verdict) -> None:
    assert verdict(needed_bytes=needed, memory_bytes=100) == expected


def test_rounds_half_bytes_up() -> None:
    assert needed_bytes(parameters=3, job=Job.LORA16) == 8


@given(sizes, jobs, memories, memories)
def test_more_memory_never_fits_less(parameters: int, job: Job, one: int, other: int) -> None:
    needed = needed_bytes(parameters=parameters, job=job)
    small, large = sorted((one, other))

    judged_small = verdict(needed_bytes=needed, memory_bytes=small)
    judged_large = verdict(needed_bytes=needed, memory_bytes=large)

    assert ORDER.index(judged_large) >= ORDER.index(judged_small)


@given(memories, st.sampled_from(Method))
def test_what_the_capacity_names_is_comfortable(memory_bytes: int, method: Method) -> None:
    """The page's two figures agree: the largest model shown fits within 80 %."""
    largest_b = indicative_parameters_b(memory_bytes=memory_bytes, method=method)
    if largest_b:
        needed = needed_bytes(parameters=largest_b * BILLION, job=Job(method.value))
        assert verdict(needed_bytes=needed, memory_bytes=memory_bytes) is Verdict.COMFORTABLE


def test_every_model_has_a_name_a_size_and_a_source() -> None:
    models = all_language_models().values()

    assert len(models) == 63
    assert [m.slug for m in models if not (m.name and m.source and m.parameters > 0)] == []
    assert [m.slug for m in models if m.active_parameters > m.parameters] == []
