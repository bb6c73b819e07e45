"""The formula of every term with its figures, for pages and the command line.

Slow path: it repeats the arithmetic of the estimate in words. Each line gives the term, a key of the
formula that pages translate, the formula as text, and the named figures that it was filled with.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from sizing.estimates import Estimate, Part
from sizing.serving.constants import Constants
from sizing.serving.formats import KV_BITS
from sizing.serving.job import Cache, ServingJob
from sizing.serving.kv_cache import kept_layer_tokens, layer_token_elements
from sizing.serving.memory import (
    CONCATENATED_COPIES,
    LOGIT_BYTES,
    all_weight_bytes,
    estimate_serving,
)


class Explanation(NamedTuple):
    """One term: its size in bytes, how it is reckoned, and with which figures."""

    part: Part
    size_bytes: int
    formula: str
    values: Mapping[str, int | float | str]


FORMULAS = MappingProxyType(
    {
        Part.WEIGHTS: "parameters × bits / 8 / cards",
        Part.KV_CACHE: "requests × tokens of all layers × elements × bits / 8 × copies",
        Part.ACTIVATIONS: "tokens in one step × live width × bytes",
        Part.LOGITS: "requests × vocabulary × 6",
        Part.OVERHEAD: "context of the driver + work space + graphs + links between cards",
    }
)


def explain_serving(
    job: ServingJob, *, constants: Constants | None = None
) -> tuple[Explanation, ...]:
    """Return every term of the estimate with its formula, in the order of the terms."""
    estimate = estimate_serving(job, constants=constants)
    return tuple(
        Explanation(
            part=term.part,
            size_bytes=term.size_bytes,
            formula=FORMULAS[term.part],
            values=MappingProxyType(_values(job, estimate, part=term.part)),
        )
        for term in estimate.terms
    )


def _values(job: ServingJob, estimate: Estimate, *, part: Part) -> dict[str, int | float | str]:
    if part is Part.WEIGHTS:
        return {
            "parameters": job.model.parameters,
            "format": job.weights.name,
            "bits": round(all_weight_bytes(job) * 8 / job.model.parameters, 3),
            "cards": job.gpus,
        }
    if part is Part.KV_CACHE:
        return {
            "requests": job.requests,
            "tokens_of_all_layers": kept_layer_tokens(
                job.model, context_tokens=job.context_tokens, step_tokens=job.step_tokens
            ),
            "elements": layer_token_elements(job.model, tensor_parallel=job.tensor_parallel),
            "bits": KV_BITS[job.kv_format],
            "copies": CONCATENATED_COPIES if job.cache is Cache.CONCATENATED else 1,
        }
    if part is Part.ACTIVATIONS:
        tokens = job.prefill_tokens
        return {
            "tokens_in_one_step": tokens,
            "bytes_per_token": estimate.part_bytes(part) // tokens,
        }
    if part is Part.LOGITS:
        return {
            "requests": job.requests,
            "vocabulary": job.model.vocabulary,
            "bytes_per_logit": LOGIT_BYTES,
        }
    return {"engine": job.engine.value, "counted": job.counted.value}
