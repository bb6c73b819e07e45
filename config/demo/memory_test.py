"""Camille's memory test: a prediction that waits for the hour in which it is checked."""

from datetime import datetime

from config.demo.founding import Party
from marketplace.models import MemoryTest
from marketplace.operations.memory_tests import create_memory_test
from sizing.measure.runs import MeasuredRun, Work
from sizing.shapes.language_models import model_by_slug


def keep_camilles_memory_test(camille: Party, *, now: datetime) -> MemoryTest:
    """Keep what the engine predicts for her QLoRA run on an RTX 4090."""
    return create_memory_test(
        organisation_id=camille.organisation.pk,
        gpu_model_slug="rtx-4090",
        run=MeasuredRun(
            model=model_by_slug("llama-3.1-8b"), work=Work.QLORA, sequence_tokens=2_048
        ),
        actor_id=camille.user.pk,
        key="demo:memory-test",
        now=now,
    )
