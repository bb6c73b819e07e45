"""Jobs and cards that the tests of planning share."""

from dataclasses import replace

from sizing.cards import Card, card_by_slug
from sizing.serving.formats import weight_format_by_slug
from sizing.serving.job import ServingJob
from sizing.shapes.language_models import model_by_slug
from sizing.training.choices import Method
from sizing.training.job import TrainingJob

LLAMA_8B = model_by_slug("llama-3.1-8b")
LLAMA_70B = model_by_slug("llama-3.1-70b")
BF16 = weight_format_by_slug("bf16")
QLORA = TrainingJob(model=LLAMA_8B, method=Method.QLORA)
FULL = TrainingJob(model=LLAMA_8B, method=Method.FULL)
SERVING = ServingJob(model=LLAMA_8B, weights=BF16, context_tokens=8_192, requests=32)
SERVING_70B = ServingJob(model=LLAMA_70B, weights=BF16, context_tokens=8_192, requests=8)

RTX_4090 = card_by_slug("rtx-4090")
A100 = card_by_slug("a100-sxm-80")
H100 = card_by_slug("h100-sxm")
L40S = card_by_slug("l40s")


def card_of(memory_gb: int, *, base: Card = RTX_4090) -> Card:
    """Return a card that differs from another in its memory alone."""
    return replace(base, memory_gb=memory_gb)
