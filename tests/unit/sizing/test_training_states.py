"""Weights, gradients and states of training, computed by hand, and what sharing leaves of them."""

from dataclasses import replace
from typing import Any

import pytest

from sizing.shapes.architecture import LanguageModel
from sizing.shapes.language_models import model_by_slug
from sizing.training.adapters import adapter_parameters, lora_parameters, whole_parameters
from sizing.training.choices import (
    ALL_LINEAR,
    BITS,
    QUERIES_AND_VALUES,
    RECIPES,
    TARGET_SETS,
    Adapter,
    Method,
    Offload,
    Optimizer,
    Precision,
    Quantization,
    Sharding,
    Target,
)
from sizing.training.constants import training_constants
from sizing.training.job import TrainingJob, with_recipe
from sizing.training.profiles import PROFILES, Profile
from sizing.training.sharding import shares_of
from sizing.training.states import recipe_bytes, states_of

LLAMA_2_7B = model_by_slug("llama-2-7b-hf")
LLAMA_3_8B = model_by_slug("llama-3-8b")
# Two layers of hidden 64: parameters fit on a hand.
SMALL = LanguageModel(
    slug="small",
    name="Small",
    layers=2,
    hidden=64,
    intermediate=128,
    heads=4,
    kv_heads=2,
    head_dim=16,
    vocabulary=1000,
    has_tied_embeddings=False,
)


def _states(job: TrainingJob):
    return states_of(job, facts=PROFILES[job.profile], constants=training_constants())


def _shares(job: TrainingJob):
    facts, constants = PROFILES[job.profile], training_constants()
    states = states_of(job, facts=facts, constants=constants)
    return shares_of(job, states, facts=facts, constants=constants)


def _full(model: LanguageModel = SMALL, **fields: Any) -> TrainingJob:
    return TrainingJob(model=model, method=Method.FULL, **fields)


@pytest.mark.parametrize(
    ("letter", "each", "totals_gb"),
    [
        ("A", 20, (140, 260, 680, 1400)),
        ("B", 18, (126, 234, 612, 1260)),
        ("C", 16, (112, 208, 544, 1120)),
        ("D", 12, (84, 156, 408, 840)),
        ("E", 10, (70, 130, 340, 700)),
        ("F", 10, (70, 130, 340, 700)),
        ("G", 8, (56, 104, 272, 560)),
        ("H", 6, (42, 78, 204, 420)),
        ("I", 4, (28, 52, 136, 280)),
        ("J", 2, (14, 26, 68, 140)),
    ],
)
def test_a_recipe_has_its_total_for_7_13_34_and_70_billion(letter, each, totals_gb):
    assert recipe_bytes(RECIPES[letter]) == each
    assert tuple(each * billions for billions in (7, 13, 34, 70)) == totals_gb


@pytest.mark.parametrize("letter", RECIPES)
def test_states_of_a_job_are_those_of_its_recipe(letter):
    recipe = RECIPES[letter]

    states = _states(with_recipe(_full(profile=Profile.TORCHTUNE), recipe))

    table = 1000 * 64
    one_gradient = 2 * table if recipe.is_fused_step else 0
    assert states.weights + states.gradients + states.optimizer - one_gradient == (
        recipe_bytes(recipe) * SMALL.parameters
    )
    assert states.step == 0


@pytest.mark.parametrize(
    ("optimizer", "expected"),
    [
        (Optimizer.LION, 2 * SMALL.parameters),
        (Optimizer.LION_8BIT, SMALL.parameters),
        (Optimizer.SGD_MOMENTUM, 2 * SMALL.parameters),
        (Optimizer.SGD, 0),
        # One momentum for layers, two moments for the rest: embeddings, head, last norm.
        (Optimizer.MUON, 2 * (SMALL.block_parameters + 2 * (2 * 64_000 + 64))),
        # Rows plus columns: q and o 2 x (64 + 64), k and v 2 x (64 + 32), both in two layers;
        # two tables of 1000 + 64; six matrices of 64 + 128.
        (Optimizer.ADAFACTOR, 4 * (4 * 128 + 4 * 96 + 2 * 1064 + 6 * 192)),
        # Rank 8: two moments of the longer side and a projector of the shorter, 2 bytes each.
        (
            Optimizer.GALORE,
            2 * 8 * (4 * (128 + 64) + 4 * (128 + 32) + 2 * (2000 + 64) + 6 * (256 + 64)),
        ),
    ],
)
def test_an_optimizer_keeps_so_many_bytes(optimizer, expected):
    states = _states(_full(precision=Precision.BF16, optimizer=optimizer, galore_rank=8))

    assert states.optimizer == expected


def test_experts_have_states_too():
    mixtral = model_by_slug("mixtral-8x7b-v0.1")

    states = _states(_full(mixtral, optimizer=Optimizer.ADAFACTOR, precision=Precision.BF16))

    attention = 64 * (4096 + 4096) + 64 * (4096 + 1024)
    experts = 32 * 8 * 3 * (4096 + 14336)
    assert states.optimizer == 4 * (attention + 2 * (32000 + 4096) + experts)


@pytest.mark.parametrize(
    ("optimizer", "is_fused", "copies"),
    [(Optimizer.ADAMW, False, 1), (Optimizer.ADAMW, True, 0), (Optimizer.ADAMW_8BIT, False, 0)],
)
def test_only_a_foreach_step_copies_a_state(optimizer, is_fused, copies):
    states = _states(_full(precision=Precision.BF16, optimizer=optimizer, is_fused_step=is_fused))

    assert states.step == pytest.approx(
        copies * training_constants().step_copies * 2 * SMALL.parameters
    )


def test_lora_of_llama_2_7b_by_hand():
    # Rank 8 on queries and values: 32 layers x 2 x 8 x (4096 + 4096), as LitGPT prints.
    assert lora_parameters(LLAMA_2_7B, rank=8, targets=QUERIES_AND_VALUES) == 4_194_304
    # All linear layers: four of 4096 + 4096, three of 4096 + 11008.
    assert lora_parameters(LLAMA_2_7B, rank=16, targets=ALL_LINEAR) == (
        32 * 16 * (4 * 8192 + 3 * 15104)
    )


def test_grouped_keys_and_values_have_small_adapters():
    assert lora_parameters(LLAMA_3_8B, rank=8, targets=(Target.K,)) == 32 * 8 * (4096 + 1024)
    assert lora_parameters(LLAMA_3_8B, rank=8, targets=(Target.HEAD,)) == 8 * (4096 + 128_256)


def test_an_mlp_of_two_matrices_has_no_gate():
    phi = model_by_slug("phi-1_5")

    assert lora_parameters(phi, rank=8, targets=TARGET_SETS["mlp"]) == 24 * 8 * 2 * (2048 + 8192)


def test_every_expert_has_its_adapter():
    mixtral = model_by_slug("mixtral-8x7b-v0.1")

    assert lora_parameters(mixtral, rank=8, targets=(Target.UP,)) == 32 * 8 * 8 * (4096 + 14336)


def test_compressed_attention_is_adapted_matrix_by_matrix():
    deepseek = model_by_slug("deepseek-v3")
    rank_1 = {
        target: lora_parameters(deepseek, rank=1, targets=(target,)) / 61
        for target in TARGET_SETS["attention"]
    }

    assert rank_1 == {
        Target.Q: 7168 + 2 * 1536 + 128 * 192,
        Target.K: 7168 + 512 + 64,
        Target.V: 512 + 128 * 256,
        Target.O: 128 * 128 + 7168,
    }


def test_compressed_attention_may_leave_queries_whole():
    deepseek = model_by_slug("deepseek-v3")
    whole = replace(deepseek, latent=replace_rank(deepseek.latent))

    assert lora_parameters(whole, rank=1, targets=(Target.Q,)) == 61 * (7168 + 128 * 192)


def replace_rank(latent):
    return replace(latent, q_lora_rank=0)


@pytest.mark.parametrize(
    ("slug", "adapter", "stated"),
    [
        ("stablelm-base-alpha-3b", Adapter.PREFIX, 573_888),
        ("llama-2-7b-hf", Adapter.PREFIX, 1_229_760),
        ("llama-2-7b-hf", Adapter.SCALES, 4_279_744),
        ("stablelm-base-alpha-3b", Adapter.SCALES, 2_125_248),
    ],
)
def test_adapters_of_llama_adapter_are_near_what_litgpt_prints(slug, adapter, stated):
    job = TrainingJob(model=model_by_slug(slug), method=Method.LORA, adapter=adapter)

    assert adapter_parameters(job) == pytest.approx(stated, rel=0.1)
    assert whole_parameters(job) == 0


@pytest.mark.parametrize(
    ("precision", "each"), [(Precision.FP32, 16), (Precision.BF16, 8), (Precision.DEEPSPEED, 20)]
)
def test_an_adapter_parameter_takes_16_bytes_in_fp32_and_8_in_bf16(precision, each):
    job = TrainingJob(model=SMALL, method=Method.LORA, adapter_precision=precision)

    states = _states(job)

    assert states.adapters + states.gradients + states.optimizer == (each * adapter_parameters(job))


def test_tables_trained_whole_are_copies_in_the_type_of_the_frozen_ones():
    job = TrainingJob(
        model=SMALL, method=Method.LORA, lora_targets=(Target.WHOLE_EMBEDDINGS, Target.WHOLE_HEAD)
    )

    states = _states(job)

    assert whole_parameters(job) == states.trained == 128_000
    assert states.adapters + states.gradients + states.optimizer == 8 * 128_000


@pytest.mark.parametrize(
    ("optimizer", "bytes_each"),
    [(Optimizer.ADAMW_8BIT, 2), (Optimizer.PAGED_ADAMW_8BIT, 0)],
)
def test_states_of_adapters_may_be_of_8_bits_or_paged_out(optimizer, bytes_each):
    job = TrainingJob(model=SMALL, method=Method.LORA, optimizer=optimizer)

    assert _states(job).optimizer == bytes_each * adapter_parameters(job)


@pytest.mark.parametrize(
    ("quantization", "bits"),
    [
        (Quantization.NF4, 4.5),
        (Quantization.NF4_DOUBLE, 4.126953125),
        (Quantization.INT4_GROUPS, 4.15625),
        (Quantization.INT8, 8),
    ],
)
def test_quantized_layers_take_so_many_bits(quantization, bits):
    job = TrainingJob(model=SMALL, method=Method.QLORA, quantization=quantization)

    norms = 2 * 2 * 64
    assert BITS[quantization] == bits
    assert _states(job).weights == (
        (SMALL.block_parameters - norms) * bits / 8 + 2 * norms + 2 * (128_000 + 64)
    )


def test_llama_2_70b_in_doubly_quantized_nf4_matches_what_was_measured():
    job = TrainingJob(model=model_by_slug("llama-2-70b-hf"), method=Method.QLORA)

    # 37.21 GB were measured for inference, with caches and without training.
    assert _states(job).weights / 1e9 == pytest.approx(37.21, rel=0.05)


def test_embeddings_of_quantized_models_may_be_kept_in_32_bits():
    generic = TrainingJob(model=SMALL, method=Method.QLORA)

    wider = replace(generic, profile=Profile.TRANSFORMERS)

    assert _states(wider).weights - _states(generic).weights == 2 * (128_000 + 64)


@pytest.mark.parametrize("is_tied", [True, False])
def test_a_head_of_its_own_may_be_quantized(is_tied):
    model = replace(SMALL, has_tied_embeddings=is_tied)
    job = TrainingJob(
        model=model, method=Method.QLORA, quantization=Quantization.INT8, profile=Profile.LITGPT
    )

    saved = 0 if is_tied else 64_000
    assert _states(replace(job, profile=Profile.GENERIC)).weights - _states(job).weights == saved


@pytest.mark.parametrize(
    ("sharding", "weights", "gradients", "optimizer"),
    [
        (Sharding.DDP, 1, 1, 1),
        (Sharding.ZERO1, 1, 1, 4),
        (Sharding.ZERO2, 1, 4, 4),
        (Sharding.ZERO3, 4, 4, 4),
        (Sharding.FSDP, 4, 4, 4),
    ],
)
def test_sharding_divides_what_it_says(sharding, weights, gradients, optimizer):
    job = _full(sharding=sharding, cards=4)

    states, shares = _states(job), _shares(job)

    assert shares.weights == states.weights / weights
    assert shares.gradients == states.gradients / gradients
    assert shares.optimizer == states.optimizer / optimizer


def test_parallel_matrices_and_layers_divide_weights():
    job = _full(cards=4, tensor_parallel=2, pipeline_parallel=2)

    rest = 2 * (128_000 + 64)
    assert _shares(job).weights == pytest.approx(2 * SMALL.block_parameters / 4 + rest / 2)


def test_fsdp_gathers_two_layers_or_a_layer_and_the_table():
    small_table = replace(SMALL, vocabulary=100)

    layer = SMALL.block_parameters // 2 * 2
    assert _shares(_full(small_table, sharding=Sharding.FSDP, cards=2)).working == 2 * layer
    assert _shares(_full(sharding=Sharding.FSDP, cards=2)).working == layer + 2 * 64_000


def test_a_framework_may_keep_what_it_gathered():
    job = _full(sharding=Sharding.FSDP, cards=2, profile=Profile.LITGPT)

    assert _shares(job).working == _states(job).weights


@pytest.mark.parametrize(("precision", "each"), [(Precision.FP32, 4), (Precision.BF16, 2)])
def test_ddp_keeps_one_more_copy_of_gradients(precision, each):
    job = _full(precision=precision, sharding=Sharding.DDP, cards=2)

    assert _shares(job).working == each * SMALL.parameters


def test_buckets_stop_growing_at_their_size():
    constants = training_constants()
    zero2 = _full(sharding=Sharding.ZERO2, cards=2)

    small = _shares(zero2).working
    large = _shares(replace(zero2, model=LLAMA_3_8B)).working
    deepspeed = _shares(replace(zero2, model=LLAMA_3_8B, profile=Profile.DEEPSPEED)).working

    assert small == pytest.approx(constants.bucket_bytes / 2 * SMALL.parameters)
    assert large == pytest.approx(constants.bucket_bytes / 2 * constants.bucket_elements)
    assert deepspeed == pytest.approx(2 * large)


def test_offloading_moves_bytes_to_the_server():
    job = _full(sharding=Sharding.FSDP, cards=2, profile=Profile.TORCHTUNE)

    states = _states(job)
    optimizer = _shares(replace(job, offload=Offload.OPTIMIZER))
    everything = _shares(replace(job, offload=Offload.ALL))

    assert (optimizer.optimizer, optimizer.host) == (0, states.optimizer)
    assert optimizer.weights == states.weights / 2
    assert everything.weights == everything.gradients == everything.optimizer == 0
    assert everything.host == states.weights + states.gradients + states.optimizer


def test_one_card_may_stream_its_weights_from_the_server():
    job = _full(offload=Offload.ALL)

    assert _shares(job).weights == 0
    assert _shares(job).working > 0
