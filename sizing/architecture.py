"""What a language model is made of, and how many parameters that makes.

Counts are computed from the shape, never read from a name. Left out: the norms of queries and
keys, extra norms around blocks and the biases of outputs, together less than 0.1 % of any model.
"""

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentAttention:
    """Attention over one compressed latent for keys and values (MLA), as DeepSeek has it."""

    kv_lora_rank: int
    # Zero: queries are not compressed.
    q_lora_rank: int
    qk_nope_dim: int
    qk_rope_dim: int
    v_head_dim: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Experts:
    """The mixture of experts of a layer: one router, routed experts and shared ones."""

    total: int
    per_token: int
    shared: int
    intermediate: int
    first_dense_layers: int


@dataclass(frozen=True, kw_only=True)
class LanguageModel:
    """One decoder. Dimensions are elements; ``source`` says where they were read.

    ``window_layers`` attend to the last ``window_tokens`` only, ``linear_layers`` keep a state
    of fixed size; all others attend to the whole context. ``max_context`` of 0 was not read.
    ``slug`` is empty for a model that somebody described.
    """

    slug: str
    name: str
    layers: int
    hidden: int
    intermediate: int
    heads: int
    kv_heads: int
    head_dim: int
    vocabulary: int
    has_tied_embeddings: bool
    mlp_matrices: int = 3
    has_qkv_bias: bool = False
    experts: Experts | None = None
    latent: LatentAttention | None = None
    window_layers: int = 0
    window_tokens: int = 0
    linear_layers: int = 0
    max_context: int = 0
    source: str = ""
    note: str = ""

    @property
    def q_width(self) -> int:
        return self.heads * self.head_dim

    @property
    def kv_width(self) -> int:
        """Width of all keys of a token, as wide as all its values."""
        return self.kv_heads * self.head_dim

    @property
    def full_layers(self) -> int:
        """Layers whose keys and values grow with the whole context."""
        return self.layers - self.window_layers - self.linear_layers

    @cached_property
    def attention_parameters(self) -> int:
        """Parameters of one layer's attention."""
        hidden, q, kv = self.hidden, self.q_width, self.kv_width
        if self.latent is None:
            biases = (q + 2 * kv) if self.has_qkv_bias else 0
            return hidden * (q + 2 * kv) + q * hidden + biases
        mla = self.latent
        head = mla.qk_nope_dim + mla.qk_rope_dim
        if mla.q_lora_rank:
            queries = mla.q_lora_rank * (hidden + self.heads * head + 1)
        else:
            queries = hidden * self.heads * head
        # The ones beside the ranks are the scales of the latents' norms.
        return (
            queries
            + hidden * (mla.kv_lora_rank + mla.qk_rope_dim)
            + mla.kv_lora_rank * (self.heads * (mla.qk_nope_dim + mla.v_head_dim) + 1)
            + self.heads * mla.v_head_dim * hidden
        )

    @cached_property
    def block_parameters(self) -> int:
        """Parameters of all layers, norms included: what quantization and sharding act on."""
        return self.layers * (self.attention_parameters + 2 * self.hidden) + self._mlp(active=False)

    @cached_property
    def embedding_parameters(self) -> int:
        """Parameters of the embedding, and of the head where it has its own."""
        return self.vocabulary * self.hidden * (1 if self.has_tied_embeddings else 2)

    @cached_property
    def parameters(self) -> int:
        """All parameters, all experts included."""
        return self.block_parameters + self.embedding_parameters + self.hidden

    @cached_property
    def active_parameters(self) -> int:
        """Parameters that take part in one token."""
        return self.parameters - self._mlp(active=False) + self._mlp(active=True)

    @cached_property
    def read_parameters(self) -> int:
        """Parameters read through for one token: the table of embeddings is only looked up.

        Where the output head shares that table, it is read after all.
        """
        lookup = 0 if self.has_tied_embeddings else self.vocabulary * self.hidden
        return self.active_parameters - lookup

    def _mlp(self, *, active: bool) -> int:
        """Parameters of every layer's MLP and router, all of them or those of one token."""
        dense = self.mlp_matrices * self.hidden * self.intermediate
        if self.experts is None:
            return self.layers * dense
        moe = self.experts
        expert = self.mlp_matrices * self.hidden * moe.intermediate
        used = (moe.per_token if active else moe.total) + moe.shared
        sparse_layers = self.layers - moe.first_dense_layers
        router = self.hidden * moe.total
        return moe.first_dense_layers * dense + sparse_layers * (used * expert + router)
