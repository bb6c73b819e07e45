"""Weights, gradients and the states of optimizers, in bytes before they are shared out."""

from typing import Final, NamedTuple

from sizing.shapes.architecture import LanguageModel
from sizing.training.adapters import adapter_parameters, whole_parameters
from sizing.training.choices import (
    BITS,
    PRECISION_BYTES,
    Method,
    Optimizer,
    Precision,
    Recipe,
)
from sizing.training.constants import Constants
from sizing.training.job import TrainingJob
from sizing.training.profiles import Facts

# Numbers of state per trained parameter. GaLore and Adafactor are reckoned apart.
STATES: Final = {
    Optimizer.ADAMW: 2,
    Optimizer.ADAMW_8BIT: 2,
    Optimizer.PAGED_ADAMW_8BIT: 2,
    Optimizer.LION: 1,
    Optimizer.LION_8BIT: 1,
    Optimizer.MUON: 1,
    Optimizer.SGD_MOMENTUM: 1,
    Optimizer.SGD: 0,
    Optimizer.ADAFACTOR: 0,
    Optimizer.GALORE: 2,
}
EIGHT_BIT: Final = (Optimizer.ADAMW_8BIT, Optimizer.PAGED_ADAMW_8BIT, Optimizer.LION_8BIT)
FOREACH: Final = (Optimizer.ADAMW, Optimizer.LION, Optimizer.SGD_MOMENTUM)


class States(NamedTuple):
    """Bytes over all cards. ``step`` lives only while the optimizer steps."""

    weights: float
    adapters: float
    gradients: float
    optimizer: float
    step: float
    # Elements whose gradients are exchanged.
    trained: int
    # Weights of the layers and of the embeddings, as they lie on cards.
    block_weights: float


def states_of(job: TrainingJob, *, facts: Facts, constants: Constants) -> States:
    """Return what a run keeps for its weights."""
    if job.method is Method.FULL:
        return _full_states(job, facts=facts, constants=constants)
    return _adapter_states(job, facts=facts, constants=constants)


def _full_states(job: TrainingJob, *, facts: Facts, constants: Constants) -> States:
    model = job.model
    each = PRECISION_BYTES[job.precision]
    count = model.parameters
    gradients = float(each.gradient * count)
    if job.is_fused_step:
        # One gradient at a time: the largest matrix.
        gradients = float(each.gradient * model.vocabulary * model.hidden)
    optimizer = float(each.master * count)
    if job.optimizer is not Optimizer.PAGED_ADAMW_8BIT:
        optimizer += _moment_bytes(job, count=count, state_bytes=each.state)
    step = 0.0
    if facts.has_foreach_step and job.optimizer in FOREACH and not job.is_fused_step:
        step = constants.step_copies * each.state * count
    return States(
        weights=each.weight * count,
        adapters=0,
        gradients=gradients,
        optimizer=optimizer,
        step=step,
        trained=count,
        block_weights=each.weight * model.block_parameters,
    )


def _adapter_states(job: TrainingJob, *, facts: Facts, constants: Constants) -> States:
    """Frozen weights, and 16 bytes a parameter of adapters in fp32 or 8 in bf16 with AdamW.

    Matrices trained whole are copies in the type of the frozen ones, beside them.
    """
    each = PRECISION_BYTES[job.adapter_precision]
    whole_each = PRECISION_BYTES[
        Precision.BF16 if job.adapter_precision is Precision.FP32 else job.adapter_precision
    ]
    factors, whole = adapter_parameters(job), whole_parameters(job)
    states = STATES[job.optimizer]
    optimizer = 0.0
    if job.optimizer is not Optimizer.PAGED_ADAMW_8BIT:
        is_8_bit = job.optimizer in EIGHT_BIT
        optimizer = states * (
            (1 if is_8_bit else each.state) * factors
            + (1 if is_8_bit else whole_each.state) * whole
        )
    optimizer += each.master * factors + whole_each.master * whole
    step = 0.0
    if facts.has_foreach_step and job.optimizer in FOREACH:
        step = constants.step_copies * (each.state * factors + whole_each.state * whole)
    block, rest = frozen_bytes(job, facts=facts)
    return States(
        weights=block + rest,
        adapters=each.weight * factors + whole_each.weight * whole,
        gradients=each.gradient * factors + whole_each.gradient * whole,
        optimizer=optimizer,
        step=step,
        trained=factors + whole,
        block_weights=block,
    )


def frozen_bytes(job: TrainingJob, *, facts: Facts) -> tuple[float, float]:
    """Return the bytes of frozen layers, and of embeddings, head and last norm."""
    model = job.model
    if job.method is Method.LORA:
        return 2 * model.block_parameters, 2 * (model.embedding_parameters + model.hidden)
    bits = BITS[job.quantization]
    norms = 2 * model.layers * model.hidden
    block = (model.block_parameters - norms) * bits / 8 + 2 * norms
    kept_bytes = 4 if facts.keeps_embeddings_fp32 else 2
    kept = model.embedding_parameters + model.hidden
    if facts.quantizes_head and not model.has_tied_embeddings:
        head = model.vocabulary * model.hidden
        return block, kept_bytes * (kept - head) + head * bits / 8
    return block, kept_bytes * kept


def _moment_bytes(job: TrainingJob, *, count: int, state_bytes: int) -> float:
    """Return the bytes of an optimizer's states for weights that are all trained."""
    model, optimizer = job.model, job.optimizer
    if optimizer is Optimizer.ADAFACTOR:
        return _adafactor_bytes(model)
    if optimizer is Optimizer.GALORE:
        return _galore_bytes(job, state_bytes=state_bytes)
    if optimizer is Optimizer.MUON:
        # Matrices of layers have one momentum; embeddings, head and norms stay with AdamW.
        rest = count - model.block_parameters
        return state_bytes * (model.block_parameters + 2 * rest)
    if optimizer in EIGHT_BIT:
        return STATES[optimizer] * count
    return state_bytes * STATES[optimizer] * count


def _matrices(model: LanguageModel) -> list[tuple[int, int, int]]:
    """Return (how many, rows, columns) of every matrix, experts included."""
    h, layers = model.hidden, model.layers
    found = [
        (2 * layers, h, model.q_width),
        (2 * layers, h, model.kv_width),
        (1 if model.has_tied_embeddings else 2, model.vocabulary, h),
    ]
    dense_layers = layers
    if model.experts is not None:
        moe = model.experts
        dense_layers = moe.first_dense_layers
        experts = (layers - dense_layers) * (moe.total + moe.shared)
        found.append((experts * model.mlp_matrices, h, moe.intermediate))
    found.append((dense_layers * model.mlp_matrices, h, model.intermediate))
    return found


def _adafactor_bytes(model: LanguageModel) -> float:
    """Rows and columns in fp32 instead of a moment for each parameter."""
    return 4 * sum(many * (rows + columns) for many, rows, columns in _matrices(model))


def _galore_bytes(job: TrainingJob, *, state_bytes: int) -> float:
    """Moments of rank x longer side and a projector of rank x shorter side, for each matrix."""
    total = 0
    for many, rows, columns in _matrices(job.model):
        shorter, longer = min(rows, columns), max(rows, columns)
        rank = min(job.galore_rank, shorter)
        total += many * rank * (2 * longer + shorter)
    return state_bytes * total


def recipe_bytes(recipe: Recipe) -> int:
    """Return the bytes per parameter that a named recipe keeps on the card, activations aside."""
    each = PRECISION_BYTES[recipe.precision]
    gradient = 0 if recipe.is_fused_step else each.gradient
    if recipe.optimizer is Optimizer.PAGED_ADAMW_8BIT:
        return each.weight + gradient + each.master
    state = 1 if recipe.optimizer in EIGHT_BIT else each.state
    return each.weight + gradient + each.master + state * STATES[recipe.optimizer]
