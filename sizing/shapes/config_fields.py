"""Reading the fields of a configuration one by one: spellings, kinds, bounds, contradictions."""

from collections.abc import Mapping
from typing import Final

from sizing.bounds import BOUNDS, InputError, check_value

# What each family calls the same thing. The first spelling present is named in errors.
# fmt: off
SPELLINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    "hidden": ("hidden_size", "n_embd", "n_embed", "d_model"),
    "intermediate": ("intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size",
                     "ffn_config.ffn_hidden_size"),
    "dense_intermediate": ("intermediate_size_mlp",),
    "heads": ("num_attention_heads", "n_head", "n_heads", "num_heads"),
    "kv_heads": ("num_key_value_heads", "num_kv_heads", "n_head_kv", "attn_config.kv_n_heads"),
    "head_dim": ("head_dim", "kv_channels", "attention_head_size"),
    "vocabulary": ("vocab_size", "padded_vocab_size"),
    "experts": ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts",
                "ffn_config.moe_num_experts"),
    "experts_per_token": ("num_experts_per_tok", "num_experts_per_token", "experts_per_token",
                          "moe_k", "moe_topk", "ffn_config.moe_top_k"),
    "expert_intermediate": ("moe_intermediate_size",),
    "shared_experts": ("n_shared_experts", "num_shared_experts", "moe_num_shared_experts"),
    "shared_intermediate": ("shared_expert_intermediate_size", "shared_intermediate_size"),
    "window_tokens": ("sliding_window", "window_size"),
    "max_context": ("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len",
                    "seq_length", "max_sequence_length"),
}
BIAS_SPELLINGS: Final = ("attention_bias", "qkv_bias", "add_qkv_bias", "use_qkv_bias", "use_bias",
                         "bias")
# fmt: on

# Different spellings of these may differ without a contradiction.
_MAY_DIFFER: Final = ("max_context", "window_tokens", "head_dim")


class Fields:
    """The fields of one configuration; those that the file nests are reached with a dot."""

    def __init__(
        self, config: Mapping[str, object], *, defaults: Mapping[str, int] | None = None
    ) -> None:
        self._config = config
        self._defaults = defaults or {}
        # Defaults that were needed: the field as it is usually spelled, and its value.
        self.defaults_used: list[tuple[str, int]] = []

    def has(self, name: str) -> bool:
        """Say whether a field is there and not null."""
        return self.raw(name) is not None

    def raw(self, name: str) -> object:
        """Return a field as the file has it, or None."""
        value: object = self._config
        for part in name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        return value

    def is_written(self, name: str) -> bool:
        """Say whether the file names a field at all, even as null."""
        return name in self._config

    def spelled(self, meaning: str) -> str:
        """Return how this file spells a meaning, or its usual spelling."""
        names = SPELLINGS.get(meaning, (meaning,))
        return next((name for name in names if self.has(name)), names[0])

    def count(self, meaning: str, *, zero: bool = False, bounds: str = "") -> int | None:
        """Return a whole number within its bounds, or None where the file says nothing.

        ``zero``: 0 means the same as nothing. ``bounds`` names those of another field.
        """
        name = self.spelled(meaning)
        value = self.raw(name)
        if value is None or (zero and value == 0 and type(value) is int):
            return None
        number = self._number(name, value, bounds or meaning)
        self._refuse_two_values(meaning, name, number)
        return number

    def needed(self, meaning: str) -> int:
        """Return a whole number that the file, or else its family, must give."""
        value = self.count(meaning)
        if value is not None:
            return value
        if meaning not in self._defaults:
            raise missing(meaning)
        default = self._defaults[meaning]
        self.defaults_used.append((self.spelled(meaning), default))
        return default

    def optional(self, meaning: str) -> int | None:
        """Return a whole number of the file or of its family, or None."""
        is_given = self.has(self.spelled(meaning))
        return self.needed(meaning) if is_given or meaning in self._defaults else None

    def flag(self, *names: str) -> bool | None:
        """Return the first of these switches that is given."""
        for name in names:
            value = self.raw(name)
            if value is None:
                continue
            if not isinstance(value, bool):
                raise InputError(field=name, problem="config_not_bool", values={"given": value})
            return value
        return None

    def per_layer(self, name: str, *, layers: int) -> list[object] | None:
        """Return a list with one entry for each layer."""
        value = self.raw(name)
        if value is None:
            return None
        if not isinstance(value, list):
            raise InputError(field=name, problem="config_not_list", values={"given": value})
        if len(value) != layers:
            raise InputError(
                field=name,
                problem="config_wrong_length",
                values={"given": len(value), "layers": layers, "other": self.spelled("layers")},
            )
        return value

    def indexes(self, name: str, *, layers: int) -> frozenset[int] | None:
        """Return a list of layers, numbered from 0."""
        value = self.raw(name)
        if value is None:
            return None
        if not isinstance(value, list):
            raise InputError(field=name, problem="config_not_list", values={"given": value})
        for each in value:
            if type(each) is not int or not 0 <= each < layers:
                raise InputError(
                    field=name,
                    problem="config_no_such_layer",
                    values={"given": each, "most": layers - 1},
                )
        return frozenset(value)

    def _number(self, name: str, value: object, meaning: str) -> int:
        if isinstance(value, str):
            raise InputError(field=name, problem="config_number_as_text", values={"given": value})
        check_value(field=name, value=value, bounds=BOUNDS[meaning])
        assert isinstance(value, int)
        return value

    def _refuse_two_values(self, meaning: str, name: str, number: int) -> None:
        if meaning in _MAY_DIFFER:
            return
        for other in SPELLINGS.get(meaning, ()):
            given = self.raw(other)
            if given is not None and given != number:
                raise InputError(
                    field=other,
                    problem="config_two_values",
                    values={"given": given, "other": name, "other_given": number},
                )


def missing(meaning: str) -> InputError:
    """Return the refusal of a file that lacks a field, with all its spellings."""
    names = SPELLINGS.get(meaning, (meaning,))
    problem = "config_missing" if len(names) > 1 else "config_missing_one"
    return InputError(field=names[0], problem=problem, values={"spellings": names[1:]})
