"""What one layer keeps of the forward pass, per token, and what the loss needs.

Bytes for 16-bit activations and attention that does not write its scores out:

    norms      2 x norm_bytes x h        fp32 copies of their inputs
    attention  2 (2q + 2k)               queries, keys, values and the output
    MLP        2 x 4I (gated) or 2 x 2I  outputs of gate, up, the activation function, their product
    inputs     2 x (h + h)               of linear layers whose weights or adapters need them

h hidden, q and k the widths of all queries and all keys, I the MLP's width. Frozen layers without
an adapter need no input. A factor fitted to measurements stands for what frameworks keep besides.
"""

from typing import Final, NamedTuple

from sizing.shapes.architecture import LanguageModel
from sizing.training.choices import (
    ATTENTION_TARGETS,
    Adapter,
    Attention,
    Loss,
    Method,
    Target,
)
from sizing.training.constants import Constants
from sizing.training.job import TrainingJob
from sizing.training.profiles import Facts

# Gate, up and down; other MLPs have two matrices.
GATED_MATRICES: Final = 3
_IN_LAYERS: Final = frozenset({*ATTENTION_TARGETS, Target.GATE, Target.UP, Target.DOWN})


class LayerBytes(NamedTuple):
    """Bytes per token of one layer. ``scores`` are those of eager attention alone."""

    kept: float
    scores: float


def layer_bytes(job: TrainingJob, *, facts: Facts, constants: Constants) -> LayerBytes:
    """Return what one layer keeps per token without checkpointing."""
    model = job.model
    hidden, q, kv = model.hidden, model.q_width, model.kv_width
    # A compiled layer computes norms and the activation function again, not what linear layers
    # read and wrote.
    norms = 4.0 * hidden if job.is_compiled else 2 * constants.norm_bytes * hidden
    attention = 2 * (2 * q + 2 * kv) + 4 * model.heads
    width = mlp_width(model)
    # Gated: gate, up, activation and their product; else before and after the activation.
    is_gated = model.mlp_matrices == GATED_MATRICES
    copies = (3 if job.is_compiled else 4) if is_gated else 2
    mlp = 2.0 * width * copies
    inputs = _input_bytes(job)
    kept = norms + attention + mlp + inputs
    kept *= constants.activation_factor
    if job.method is Method.QLORA:
        kept *= constants.quantized_factor
    if facts.has_lean_kernels:
        kept *= constants.lean_factor
    scores = 0.0
    if job.attention is Attention.EAGER:
        # Softmax in fp32 and its 16-bit copy, for each head and earlier token.
        scores = 6.0 * model.heads * job.sequence_tokens
    return LayerBytes(kept, scores)


def mlp_width(model: LanguageModel) -> float:
    """Return the MLP's width that one token passes, the average layer's where layers differ."""
    if model.experts is None:
        return model.intermediate
    moe = model.experts
    used = (moe.per_token + moe.shared) * moe.intermediate
    dense = moe.first_dense_layers
    return (dense * model.intermediate + (model.layers - dense) * used) / model.layers


def _input_bytes(job: TrainingJob) -> float:
    """Return the inputs of linear layers that backward needs, per token and layer."""
    hidden = job.model.hidden
    if job.method is Method.FULL:
        # Inputs of attention and MLP, and what trained norms keep.
        return 4.0 * hidden + (0.0 if job.is_compiled else 4.0 * hidden)
    if job.adapter is Adapter.PREFIX:
        return 0.0
    if job.adapter is Adapter.SCALES:
        return _scaled_output_bytes(job.model)
    targets = job.lora_targets
    dropped = 3.0 if job.has_lora_dropout else 0.0
    total = 2.0 * hidden if any(each in targets for each in ATTENTION_TARGETS[:3]) else 0.0
    if Target.GATE in targets or Target.UP in targets:
        total += 2.0 * hidden
    if not dropped:
        return total
    # Dropout keeps its own output and a mask of one byte for each input of each adapter.
    width = {Target.O: float(job.model.q_width), Target.DOWN: mlp_width(job.model)}
    inner = sum(width.get(each, float(hidden)) for each in targets if each in _IN_LAYERS)
    return total + dropped * inner


def _scaled_output_bytes(model: LanguageModel) -> float:
    """Return the outputs that trained scales need, and the inputs of trained norms."""
    outputs = model.q_width + 2 * model.kv_width + 2 * model.hidden
    outputs += int((model.mlp_matrices - 1) * mlp_width(model))
    return 2.0 * outputs + 8.0 * model.hidden


def loss_bytes_per_entry(job: TrainingJob, *, facts: Facts, constants: Constants) -> float:
    """Return bytes per token and entry of the vocabulary at the peak of the loss."""
    if job.loss is Loss.CHUNKED:
        return constants.chunked_loss_bytes
    if job.loss is Loss.FUSED:
        return constants.fused_loss_bytes
    return constants.eager_loss_bytes if facts.has_fp32_loss else constants.plain_loss_bytes
