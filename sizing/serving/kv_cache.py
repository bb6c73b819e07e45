"""Keys and values kept for every token of every request.

Per layer and token, both keys and values: 2 x kv_heads x head_dim elements, whether all heads have
their own (MHA), groups share them (GQA) or all do (MQA). Latent attention (MLA) keeps one latent
with its rotary part for both, kv_lora_rank + rope_dim elements, once. Layers with a sliding window
stop growing at the window; layers of linear attention keep a state that does not grow, in 32 bits.

Source: the definitions of these kinds of attention; the measured rows of Qwen3 grow by exactly this.
"""

from typing import Final

from sizing.serving.formats import BITS_PER_BYTE, KV_BITS, KvFormat
from sizing.shapes.architecture import LanguageModel

KEYS_AND_VALUES: Final = 2
STATE_BYTES: Final = 4


def layer_token_elements(model: LanguageModel, *, tensor_parallel: int = 1) -> int:
    """Return the elements that one layer of one card keeps for one token.

    Tensor parallelism divides the heads of keys and values and stops at one head for each card; a
    latent belongs to all heads and is kept whole by every card.
    """
    if model.latent is not None:
        return model.latent.kv_lora_rank + model.latent.qk_rope_dim
    heads = -(-model.kv_heads // tensor_parallel)
    return KEYS_AND_VALUES * heads * model.head_dim


def kept_layer_tokens(model: LanguageModel, *, context_tokens: int, step_tokens: int = 0) -> int:
    """Return how many tokens all layers together keep for one request.

    Engines that work on prompts in steps keep a window and one step beside it: the first token of
    the step still looks back a whole window.
    """
    windowed = min(context_tokens, model.window_tokens + step_tokens)
    return model.full_layers * context_tokens + model.window_layers * windowed


def state_bytes(model: LanguageModel, *, tensor_parallel: int = 1) -> int:
    """Return what layers of linear attention keep for one request, whatever its length."""
    if model.linear is None:
        return 0
    elements = model.linear_layers * model.linear.state_elements
    return -(-elements * STATE_BYTES // tensor_parallel)


def kv_cache_bytes(
    model: LanguageModel,
    *,
    kv_format: KvFormat,
    context_tokens: int,
    tensor_parallel: int = 1,
    step_tokens: int = 0,
) -> int:
    """Return the bytes that one request keeps on one card that holds all layers."""
    elements = layer_token_elements(model, tensor_parallel=tensor_parallel)
    tokens = kept_layer_tokens(model, context_tokens=context_tokens, step_tokens=step_tokens)
    grown = int(elements * tokens * KV_BITS[kv_format] / BITS_PER_BYTE)
    return grown + state_bytes(model, tensor_parallel=tensor_parallel)


def kv_bytes_per_token(model: LanguageModel, *, kv_format: KvFormat) -> int:
    """Return what one more token takes before any window is full, without fixed states."""
    elements = layer_token_elements(model) * kept_layer_tokens(model, context_tokens=1)
    return int(elements * KV_BITS[kv_format] / BITS_PER_BYTE)
