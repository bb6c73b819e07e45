"""Parameters of adapters, by what they sit on.

LoRA on a matrix of n inputs and m outputs adds rank x (n + m). Keys and values are as wide as
their heads, so grouped queries make their adapters small. Experts are adapted one by one, all of
them, as PEFT does with experts that are layers of their own; the router is left alone.
"""

from functools import lru_cache
from typing import Final

from sizing.shapes.architecture import LanguageModel, LatentAttention
from sizing.training.choices import ATTENTION_TARGETS, MLP_TARGETS, Adapter, Target
from sizing.training.job import TrainingJob

# LLaMA-Adapter as LitGPT has it: ten learned tokens and one gate a head, from the third layer on.
PREFIX_TOKENS: Final = 10
PREFIX_FIRST_LAYER: Final = 2


def adapter_parameters(job: TrainingJob) -> int:
    """Return the parameters of adapters, without those of matrices trained whole."""
    if job.adapter is Adapter.LORA:
        return lora_parameters(job.model, rank=job.lora_rank, targets=job.lora_targets)
    model = job.model
    prefix = (model.layers - PREFIX_FIRST_LAYER) * (PREFIX_TOKENS * model.hidden + model.heads)
    if job.adapter is Adapter.PREFIX:
        return prefix
    # A scale and a bias for each output of each linear layer, and the norms.
    outputs = model.q_width + 2 * model.kv_width + 2 * model.hidden
    outputs += (model.mlp_matrices - 1) * model.intermediate
    return prefix + model.layers * (2 * outputs + 2 * model.hidden) + 2 * model.vocabulary


@lru_cache(maxsize=1024)
def lora_parameters(model: LanguageModel, *, rank: int, targets: tuple[Target, ...]) -> int:
    """Return LoRA's parameters for a set of targets."""
    attention = model.layers * sum(
        _attention_widths(model, target) for target in targets if target in ATTENTION_TARGETS
    )
    mlp = _mlp_widths(model, targets)
    head = model.hidden + model.vocabulary if Target.HEAD in targets else 0
    return rank * (attention + mlp + head)


def whole_parameters(job: TrainingJob) -> int:
    """Return the parameters of matrices that are trained whole beside frozen ones."""
    table = job.model.vocabulary * job.model.hidden
    has_table = Target.WHOLE_EMBEDDINGS in job.lora_targets
    has_head = Target.WHOLE_HEAD in job.lora_targets
    return table * (has_table + has_head) if job.adapter is Adapter.LORA else 0


def _attention_widths(model: LanguageModel, target: Target) -> int:
    """Return inputs plus outputs of one layer's matrix."""
    if model.latent is not None:
        return _latent_widths(model, model.latent, target)
    if target is Target.Q:
        return model.hidden + model.q_width
    if target is Target.O:
        return model.q_width + model.hidden
    return model.hidden + model.kv_width


def _latent_widths(model: LanguageModel, mla: LatentAttention, target: Target) -> int:
    """Compressed attention has two matrices where others have one; keys and values share theirs."""
    heads = model.heads
    query = heads * (mla.qk_nope_dim + mla.qk_rope_dim)
    if target is Target.Q:
        if not mla.q_lora_rank:
            return model.hidden + query
        return model.hidden + 2 * mla.q_lora_rank + query
    if target is Target.K:
        return model.hidden + mla.kv_lora_rank + mla.qk_rope_dim
    if target is Target.V:
        return mla.kv_lora_rank + heads * (mla.qk_nope_dim + mla.v_head_dim)
    return heads * mla.v_head_dim + model.hidden


def _mlp_widths(model: LanguageModel, targets: tuple[Target, ...]) -> int:
    """Return inputs plus outputs of all adapted matrices of all MLPs and experts."""
    is_gated = model.mlp_matrices == len(MLP_TARGETS)
    wanted = MLP_TARGETS if is_gated else (Target.UP, Target.DOWN)
    matrices = sum(target in targets for target in wanted)
    dense = matrices * (model.hidden + model.intermediate)
    if model.experts is None:
        return model.layers * dense
    moe = model.experts
    expert = matrices * (model.hidden + moe.intermediate)
    sparse_layers = model.layers - moe.first_dense_layers
    return moe.first_dense_layers * dense + sparse_layers * (moe.total + moe.shared) * expert
