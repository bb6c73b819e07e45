"""What a language model is made of, and how many parameters that makes.

Counts are computed from the shape, never read from a name. Left out: the norms of queries and
keys, extra norms around blocks and the biases of outputs, together less than 0.1 % of any model
from a hundred million parameters up; vision and audio parts; heads that predict further tokens.
"""

from dataclasses import dataclass
from functools import cached_property

from sizing.shapes.assumptions import Assumption


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
class LinearAttention:
    """Attention that keeps a state of fixed size instead of keys and values (gated delta rule)."""

    key_heads: int
    key_head_dim: int
    value_heads: int
    value_head_dim: int
    conv_kernel: int

    @property
    def key_width(self) -> int:
        return self.key_heads * self.key_head_dim

    @property
    def value_width(self) -> int:
        return self.value_heads * self.value_head_dim

    @property
    def state_elements(self) -> int:
        """Elements that one layer keeps for one sequence, whatever its length."""
        convolved = (2 * self.key_width + self.value_width) * (self.conv_kernel - 1)
        return self.value_heads * self.key_head_dim * self.value_head_dim + convolved

    def parameters(self, *, hidden: int) -> int:
        """Parameters of one layer's attention: projections, gates, convolution, output."""
        mixed = 2 * self.key_width + self.value_width
        projections = hidden * (mixed + self.value_width + 2 * self.value_heads)
        scales = 2 * self.value_heads + self.value_head_dim
        return projections + mixed * self.conv_kernel + scales + self.value_width * hidden


@dataclass(frozen=True, slots=True, kw_only=True)
class Experts:
    """The mixture of experts of a layer: one router, routed experts and shared ones.

    ``first_dense_layers`` counts the layers that have one dense MLP instead, wherever they are.
    A ``shared_intermediate`` of 0: shared experts are as wide as routed ones.
    """

    total: int
    per_token: int
    shared: int
    intermediate: int
    first_dense_layers: int
    shared_intermediate: int = 0


@dataclass(frozen=True, kw_only=True)
class LanguageModel:
    """One decoder. Dimensions are elements; ``source`` says where they were read.

    ``window_layers`` attend to the last ``window_tokens`` only, ``linear_layers`` keep a state
    of fixed size (``linear`` says which); all others attend to the whole context.
    ``has_gated_queries``: the projection of queries also makes a gate of their width.
    ``learned_positions`` counts rows of a table of positions. ``max_context`` of 0 was not read.
    ``slug`` is empty for a model that somebody described; ``assumptions`` then say what was taken
    for granted, and ``note`` says the same in English.
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
    has_gated_queries: bool = False
    experts: Experts | None = None
    latent: LatentAttention | None = None
    window_layers: int = 0
    window_tokens: int = 0
    linear_layers: int = 0
    linear: LinearAttention | None = None
    learned_positions: int = 0
    max_context: int = 0
    source: str = ""
    note: str = ""
    assumptions: tuple[Assumption, ...] = ()

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
        """Parameters of one layer's attention to tokens, in a window or in the whole context."""
        hidden, q, kv = self.hidden, self.q_width, self.kv_width
        if self.latent is None:
            made = (2 * q if self.has_gated_queries else q) + 2 * kv
            biases = made if self.has_qkv_bias else 0
            return hidden * made + q * hidden + biases
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
        norms = self.layers * 2 * self.hidden
        return self._attention_of_all_layers + norms + self._mlp(active=False)

    @cached_property
    def embedding_parameters(self) -> int:
        """Parameters of the embedding, of the head where it has its own, and of positions."""
        tables = self.vocabulary * (1 if self.has_tied_embeddings else 2) + self.learned_positions
        return tables * self.hidden

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
        lookup = 0 if self.has_tied_embeddings else self.vocabulary
        return self.active_parameters - (lookup + self.learned_positions) * self.hidden

    @property
    def _attention_of_all_layers(self) -> int:
        attending = (self.layers - self.linear_layers) * self.attention_parameters
        if self.linear is None:
            return attending
        return attending + self.linear_layers * self.linear.parameters(hidden=self.hidden)

    def _mlp(self, *, active: bool) -> int:
        """Parameters of every layer's MLP and router, all of them or those of one token."""
        dense = self.mlp_matrices * self.hidden * self.intermediate
        if self.experts is None:
            return self.layers * dense
        moe = self.experts
        routed = (moe.per_token if active else moe.total) * moe.intermediate
        shared = moe.shared * (moe.shared_intermediate or moe.intermediate)
        sparse = self.hidden * (self.mlp_matrices * (routed + shared) + moe.total)
        return moe.first_dense_layers * dense + (self.layers - moe.first_dense_layers) * sparse
