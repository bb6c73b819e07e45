"""Backwards: from a card to the longest text, largest batch, largest model and most requests.

The need grows with each of them, so each is found by halving, all else as in the job. The verdict
is that of `sizing.planning.placing`, margin included: the answer fits, the next larger does not.
Sizes of models are those of dense decoders of a typical shape, to the tenth of a billion; keys,
values and activations of real ones differ by up to a factor two, their weights by 1 %.
"""

from dataclasses import replace
from typing import Final, NamedTuple

from sizing.bounds import BOUNDS
from sizing.cards import Card
from sizing.planning.halving import largest_passing
from sizing.planning.placing import Job, place
from sizing.serving.job import ServingJob
from sizing.shapes.architecture import LanguageModel
from sizing.shapes.by_hand import model_of_size
from sizing.shapes.language_models import all_language_models
from sizing.training.job import MOST_TOKENS_PER_PASS, TrainingJob
from sizing.units import BILLION

# Sizes are tried to the tenth of a billion.
SIZE_STEP_PARAMETERS: Final = BILLION // 10
_MOST_SIZE_STEPS: Final = int(BOUNDS["parameters_billions"].most) * 10


class Backwards(NamedTuple):
    """What a card would hold. 0: not even the least; None: no meaning for this kind of job.

    ``longest_tokens`` is the sequence of a training run, or the context of a request, at most what
    the model was made for. ``largest_batch`` is the micro-batch of one card.
    """

    longest_tokens: int
    largest_batch: int | None
    largest_parameters: int
    most_requests: int | None


def backwards(job: Job, card: Card, *, gpus: int) -> Backwards:
    """Return the largest of everything that so many cards hold."""
    longest = longest_tokens(job, card, gpus=gpus)
    parameters = largest_parameters(job, card, gpus=gpus)
    if isinstance(job, TrainingJob):
        batch = largest_batch(job, card, gpus=gpus)
        return Backwards(longest, batch, parameters, most_requests=None)
    requests = most_requests(job, card, gpus=gpus)
    return Backwards(longest, None, parameters, requests)


def longest_tokens(job: Job, card: Card, *, gpus: int) -> int:
    """Return the longest sequence of a training run, or the longest context of a request."""
    name = "sequence_tokens" if isinstance(job, TrainingJob) else "context_tokens"
    most = job.model.max_context or int(BOUNDS[name].most)
    if isinstance(job, TrainingJob):
        most = min(most, MOST_TOKENS_PER_PASS // job.micro_batch)
    return largest_passing(
        lambda tokens: place(with_tokens(job, tokens), card, gpus=gpus).fits, most=most
    )


def with_tokens(job: Job, tokens: int) -> Job:
    """Return the job with another length; an answer is never longer than its context."""
    if isinstance(job, TrainingJob):
        return replace(job, sequence_tokens=tokens)
    return replace(job, context_tokens=tokens, output_tokens=min(job.output_tokens, tokens))


def largest_batch(job: TrainingJob, card: Card, *, gpus: int) -> int:
    """Return the largest micro-batch of one card."""
    most = min(int(BOUNDS["micro_batch"].most), MOST_TOKENS_PER_PASS // job.sequence_tokens)
    return largest_passing(
        lambda batch: place(replace(job, micro_batch=batch), card, gpus=gpus).fits, most=most
    )


def most_requests(job: ServingJob, card: Card, *, gpus: int) -> int:
    """Return how many requests of the job's context fit at once."""
    return largest_passing(
        lambda requests: place(replace(job, requests=requests), card, gpus=gpus).fits,
        most=int(BOUNDS["concurrency"].most),
    )


def largest_parameters(job: Job, card: Card, *, gpus: int) -> int:
    """Return the parameters of the largest dense model of a typical shape that fits."""

    def fits(steps: int) -> bool:
        model = model_of_size(parameters_billions=steps * SIZE_STEP_PARAMETERS / BILLION)
        return place(replace(job, model=model), card, gpus=gpus).fits

    return SIZE_STEP_PARAMETERS * largest_passing(fits, most=_MOST_SIZE_STEPS)


def largest_known_model(job: Job, card: Card, *, gpus: int) -> LanguageModel | None:
    """Return the model of the table with the most parameters that fits, None if none does."""
    by_size = sorted(all_language_models().values(), key=lambda model: -model.parameters)
    return next(
        (each for each in by_size if place(replace(job, model=each), card, gpus=gpus).fits), None
    )
