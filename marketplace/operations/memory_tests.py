"""Memory tests: keep what the engine expects of a job on a card, then what the card said."""

from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from catalog.models import GpuModel
from marketplace.accounts.operations.audit import record_act
from marketplace.locks import lock_organisation
from marketplace.models import MemoryTest, Rental
from marketplace.operations.commands import KeyReused
from marketplace.operations.refusals import Refusal
from sizing.bounds import InputError
from sizing.estimates import Estimate
from sizing.measure.prediction import ENGINE_VERSION, predicted
from sizing.measure.results import Outcome, Result, ResultError
from sizing.measure.runs import MeasuredRun, check_run, job_of

__all__ = ["KeyReused", "MemoryTestRefused", "create_memory_test", "record_measurement"]

# Far more than anybody compares; each holds a job of a few hundred bytes.
MAX_TESTS: Final = 500
MAX_KEY_LENGTH: Final = 64


class MemoryTestRefused(Refusal):
    """What was asked of a test cannot be; nothing is changed."""


@transaction.atomic
def create_memory_test(
    *,
    organisation_id: int,
    gpu_model_slug: str,
    run: MeasuredRun,
    actor_id: int,
    key: str,
    now: datetime,
) -> MemoryTest:
    """Keep the prediction for this job on this card.

    Safe to repeat: the same key with the same job gives back the same test.

    Raises
    ------
    MemoryTestRefused
        Names the field and the way out; nothing is kept.
    KeyReused
        The key came with another job or card.
    """
    if not 1 <= len(key) <= MAX_KEY_LENGTH:
        raise MemoryTestRefused("key", _("Give a key of 1 to 64 characters."))
    expected = expected_of(run)
    gpu_model = GpuModel.objects.filter(slug=gpu_model_slug, is_listed=True).first()
    if gpu_model is None:
        raise MemoryTestRefused("card", _("There is no such card in the catalogue: choose one."))
    organisation = lock_organisation(organisation_id=organisation_id)
    tests = MemoryTest.objects.filter(organisation=organisation)
    test = _draft(run, expected=expected, gpu_model=gpu_model, now=now)
    test.organisation, test.created_by_id, test.key = organisation, actor_id, key
    earlier = tests.filter(key=key).first()
    if earlier is not None:
        if (earlier.job, earlier.gpu_model_id) != (test.job, gpu_model.pk):
            raise KeyReused(key)
        return earlier
    if tests.count() >= MAX_TESTS:
        raise MemoryTestRefused("key", _("You have 500 memory tests, which is the most."))
    test.save(force_insert=True)
    _record(test, action="memory_test.create", actor_id=actor_id, now=now)
    return test


def expected_of(run: MeasuredRun) -> Estimate:
    """Return what the engine expects; refuse in the reader's language what cannot be run."""
    try:
        check_run(run)
        return predicted(run)
    except InputError as problem:
        message = _MESSAGES.get(problem.field, _OTHER_MESSAGE)
        raise MemoryTestRefused(problem.field, message % dict(problem.values)) from None


_MESSAGES: Final = {
    "model": _(
        "The script builds dense decoders with full attention only, not this model: choose another."
    ),
    "lora_rank": _("The rank is %(given)s, but the model allows 1 to %(most)s."),
    "sequence_tokens": _("That makes %(given)s tokens, but the model takes at most %(most)s."),
    "context_tokens": _("That makes %(given)s tokens, but the model takes at most %(most)s."),
    "output_tokens": _("A test writes at most %(most)s tokens, not %(given)s."),
}
_OTHER_MESSAGE: Final = _("This value is out of bounds: choose one within them.")


def _draft(
    run: MeasuredRun, *, expected: Estimate, gpu_model: GpuModel, now: datetime
) -> MemoryTest:
    return MemoryTest(
        gpu_model=gpu_model,
        job=job_of(run),
        terms=[[term.part.value, term.size_bytes] for term in expected.terms],
        predicted_low_bytes=expected.low_bytes,
        predicted_peak_bytes=expected.peak_bytes,
        predicted_high_bytes=expected.high_bytes,
        engine_version=ENGINE_VERSION,
        created_at=now,
    )


@transaction.atomic
def record_measurement(
    *, test_id: int, organisation_id: int, result: Result, actor_id: int, now: datetime
) -> MemoryTest:
    """Keep what the card said. A test has one measurement; the same again changes nothing.

    A test of another organisation does not exist here: ``MemoryTest.DoesNotExist``.

    Raises
    ------
    ResultError
        The result is of another job, or was made without a card; nothing is changed.
    MemoryTestRefused
        The test has another measurement already.
    """
    lock_organisation(organisation_id=organisation_id)
    test = MemoryTest.objects.get(pk=test_id, organisation_id=organisation_id)
    _check_job(test, result)
    facts = _facts(result)
    if test.uploaded_at is not None:
        if test.measurement == facts:
            return test
        raise MemoryTestRefused(
            "result", _("This test has its measurement: create another test for another run.")
        )
    test.outcome = result.outcome.value
    test.measured_bytes = result.peak_bytes
    test.measurement = facts
    test.uploaded_at = now
    test.rental = _rental_of(test)
    test.save()
    _record(test, action="memory_test.measure", actor_id=actor_id, now=now)
    return test


def _check_job(test: MemoryTest, result: Result) -> None:
    if result.outcome is Outcome.REHEARSED:
        raise ResultError("rehearsed")
    if dict(result.job) != test.job | {"test": test.name}:
        raise ResultError("other_job")


def _facts(result: Result) -> dict[str, Any]:
    return {
        "outcome": result.outcome.value,
        "allocated_bytes": result.allocated_bytes,
        "reserved_bytes": result.reserved_bytes,
        "device_bytes": result.device_bytes,
        "others_bytes": result.others_bytes,
        "prompt_bytes": result.prompt_bytes,
        "prefill_tokens_per_s": result.prefill_tokens_per_s,
        "decode_tokens_per_s": result.decode_tokens_per_s,
        "step_seconds": result.step_seconds,
        "gpu": result.gpu,
        "memory_bytes": result.memory_bytes,
        "driver": result.driver,
        "packages": dict(result.packages),
    }


def _rental_of(test: MemoryTest) -> Rental | None:
    """Return the organisation's latest rental of that model which gave access since the test."""
    rentals = Rental.objects.filter(
        organisation_id=test.organisation_id,
        server__gpu_model_id=test.gpu_model_id,
        access_opened_at__isnull=False,
        ends_at__gt=test.created_at,
    )
    return rentals.order_by("-starts_at", "-pk").first()


def _record(test: MemoryTest, *, action: str, actor_id: int, now: datetime) -> None:
    record_act(
        actor_id=actor_id,
        organisation_id=test.organisation_id,
        action=action,
        object_type="memory_test",
        object_id=test.pk,
        now=now,
    )
