"""An organisation's memory tests, and their prediction as pages show it."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import Final

from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from marketplace.models import MemoryTest
from sizing.estimates import Part
from sizing.units import GB

# Five groups, as many as a bar has colours, in the order in which they are stacked.
GROUPS: Final[tuple[tuple[Promise | str, tuple[Part, ...]], ...]] = (
    (_("Weights and adapters"), (Part.WEIGHTS, Part.ADAPTERS)),
    (_("Gradients and optimizer"), (Part.GRADIENTS, Part.OPTIMIZER)),
    (_("Activations and logits"), (Part.ACTIVATIONS, Part.LOGITS)),
    (_("Cache of keys and values"), (Part.KV_CACHE,)),
    (_("Driver and framework"), (Part.OVERHEAD,)),
)
# What is shown of a size in GB: no estimate is good to more.
SHOWN_STEP: Final = Decimal("0.1")
WORK_NAMES: Final = MappingProxyType(
    {
        "full": _("Full fine-tuning"),
        "lora": "LoRA",
        "qlora": "QLoRA",
        "inference": _("Inference"),
    }
)


def memory_tests_of(*, organisation_id: int) -> QuerySet[MemoryTest]:
    """Return the organisation's tests, newest first."""
    own = MemoryTest.objects.filter(organisation_id=organisation_id)
    return own.select_related("gpu_model").order_by("-created_at", "-id")


def grouped(terms: Iterable[Sequence[str | int]]) -> list[tuple[str, Decimal]]:
    """Return the addends of a prediction in at most five named groups, in GB."""
    sizes = {Part(str(part)): int(size) for part, size in terms}
    groups, upto = [], 0
    for name, parts in GROUPS:
        start, upto = upto, upto + sum(sizes.get(part, 0) for part in parts)
        # Rounded where groups meet, so that what is shown adds up to the peak that is shown.
        if upto > start:
            groups.append((str(name), _gb(upto) - _gb(start)))
    return groups


def gigabytes(size_bytes: int | None) -> Decimal | None:
    return None if size_bytes is None else _gb(size_bytes)


def _gb(size_bytes: int) -> Decimal:
    return (Decimal(size_bytes) / GB).quantize(SHOWN_STEP)


def error_share(test: MemoryTest) -> Decimal | None:
    """Return by which share of the measured peak the prediction was off; positive is too much."""
    if not test.measured_bytes or test.outcome != MemoryTest.Outcome.MEASURED:
        return None
    return Decimal(test.predicted_peak_bytes - test.measured_bytes) / test.measured_bytes
