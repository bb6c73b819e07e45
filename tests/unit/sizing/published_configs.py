"""Configurations as published, cut to what shapes a model, with the published parameter count.

Each count is that of the published weights, or the rounded one that the authors state (80 and 400
billion, 131.6 and 1,026 billion); the last figure is how far, in thousandths, the engine's count may
be from it. Configurations and counts were written down from memory and not read again; those of
models that are also in the table of models agree with it.
"""

LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 32,
    "vocab_size": 32000,
    "max_position_embeddings": 4096,
}

# fmt: off
PUBLISHED = {
    "Llama 2 7B": (LLAMA, 6_738_415_616, 0),
    "GPT-2": (
        {"model_type": "gpt2", "n_ctx": 1024, "n_embd": 768, "n_head": 12, "n_layer": 12,
         "n_positions": 1024, "vocab_size": 50257}, 124_439_808, 1),
    "GPT-2 XL": (
        {"model_type": "gpt2", "n_embd": 1600, "n_head": 25, "n_layer": 48, "n_positions": 1024,
         "vocab_size": 50257}, 1_557_611_200, 1),
    "Pythia 6.9B": (
        {"model_type": "gpt_neox", "hidden_size": 4096, "intermediate_size": 16384,
         "num_attention_heads": 32, "num_hidden_layers": 32, "vocab_size": 50432,
         "tie_word_embeddings": False, "max_position_embeddings": 2048}, 6_857_302_016, 1),
    "BLOOM 7B1": (
        {"model_type": "bloom", "hidden_size": 4096, "n_layer": 30, "num_attention_heads": 32,
         "vocab_size": 250880}, 7_069_016_064, 1),
    "OPT 1.3B": (
        {"model_type": "opt", "hidden_size": 2048, "ffn_dim": 8192, "num_hidden_layers": 24,
         "num_attention_heads": 32, "vocab_size": 50272, "max_position_embeddings": 2048},
        1_315_758_080, 1),
    "GPT-Neo 1.3B": (
        {"model_type": "gpt_neo", "hidden_size": 2048, "intermediate_size": None, "num_heads": 16,
         "num_layers": 24, "vocab_size": 50257, "max_position_embeddings": 2048,
         "window_size": 256}, 1_315_575_808, 1),
    "StarCoder": (
        {"model_type": "gpt_bigcode", "n_embd": 6144, "n_head": 48, "n_inner": 24576,
         "n_layer": 40, "n_positions": 8192, "multi_query": True, "vocab_size": 49152},
        15_517_456_384, 1),
    "StarCoder2 15B": (
        {"model_type": "starcoder2", "hidden_size": 6144, "intermediate_size": 24576,
         "num_attention_heads": 48, "num_hidden_layers": 40, "num_key_value_heads": 4,
         "sliding_window": 4096, "tie_word_embeddings": False, "use_bias": True,
         "vocab_size": 49152}, 15_957_889_024, 1),
    "MPT 7B": (
        {"model_type": "mpt", "d_model": 4096, "n_heads": 32, "n_layers": 32, "expansion_ratio": 4,
         "vocab_size": 50432, "no_bias": True, "max_seq_len": 2048,
         "attn_config": {"attn_type": "multihead_attention", "alibi": True}}, 6_649_286_656, 1),
    "DBRX": (
        {"model_type": "dbrx", "d_model": 6144, "n_heads": 48, "n_layers": 40, "vocab_size": 100352,
         "max_seq_len": 32768, "attn_config": {"kv_n_heads": 8},
         "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4}},
        131_600_000_000, 1),
    "Command R": (
        {"model_type": "cohere", "hidden_size": 8192, "intermediate_size": 22528,
         "num_attention_heads": 64, "num_hidden_layers": 40, "num_key_value_heads": 64,
         "vocab_size": 256000, "max_position_embeddings": 131072}, 34_980_831_232, 1),
    "OLMoE 1B-7B": (
        {"model_type": "olmoe", "hidden_size": 2048, "intermediate_size": 1024,
         "num_attention_heads": 16, "num_hidden_layers": 16, "num_experts": 64,
         "num_experts_per_tok": 8, "vocab_size": 50304}, 6_919_161_856, 1),
    "Mixtral 8x7B": (
        {"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336,
         "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
         "num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 32000,
         "sliding_window": None}, 46_702_792_704, 0),
    "Qwen1.5 MoE A2.7B": (
        {"model_type": "qwen2_moe", "hidden_size": 2048, "intermediate_size": 5632,
         "num_attention_heads": 16, "num_hidden_layers": 24, "num_key_value_heads": 16,
         "num_experts": 60, "num_experts_per_tok": 4, "moe_intermediate_size": 1408,
         "shared_expert_intermediate_size": 5632, "decoder_sparse_step": 1,
         "vocab_size": 151936}, 14_315_784_192, 1),
    "DeepSeek V2 Lite": (
        {"model_type": "deepseek_v2", "hidden_size": 2048, "intermediate_size": 10944,
         "moe_intermediate_size": 1408, "num_attention_heads": 16, "num_hidden_layers": 27,
         "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6,
         "first_k_dense_replace": 1, "moe_layer_freq": 1, "kv_lora_rank": 512, "q_lora_rank": None,
         "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
         "num_key_value_heads": 16, "vocab_size": 102400}, 15_706_484_224, 1),
    "Kimi K2": (
        {"model_type": "kimi_k2", "hidden_size": 7168, "intermediate_size": 18432,
         "moe_intermediate_size": 2048, "num_attention_heads": 64, "num_hidden_layers": 61,
         "n_routed_experts": 384, "n_shared_experts": 1, "num_experts_per_tok": 8,
         "first_k_dense_replace": 1, "kv_lora_rank": 512, "q_lora_rank": 1536,
         "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
         "num_key_value_heads": 64, "vocab_size": 163840}, 1_026_000_000_000, 2),
    "Qwen3-Next 80B-A3B": (
        {"model_type": "qwen3_next", "hidden_size": 2048, "intermediate_size": 5120,
         "num_hidden_layers": 48, "num_attention_heads": 16, "num_key_value_heads": 2,
         "head_dim": 256, "num_experts": 512, "num_experts_per_tok": 10,
         "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512,
         "full_attention_interval": 4, "linear_num_key_heads": 16, "linear_key_head_dim": 128,
         "linear_num_value_heads": 32, "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4,
         "vocab_size": 151936, "tie_word_embeddings": False}, 80_000_000_000, 5),
    "Llama 4 Maverick (text)": (
        {"model_type": "llama4", "vision_config": {}, "text_config": {
            "model_type": "llama4_text", "hidden_size": 5120, "intermediate_size": 8192,
            "intermediate_size_mlp": 16384, "num_hidden_layers": 48, "num_attention_heads": 40,
            "num_key_value_heads": 8, "head_dim": 128, "num_local_experts": 128,
            "num_experts_per_tok": 1, "interleave_moe_layer_step": 2, "vocab_size": 202048}},
        400_000_000_000, 2),
    "ChatGLM3 6B": (
        {"model_type": "chatglm", "hidden_size": 4096, "ffn_hidden_size": 13696, "num_layers": 28,
         "num_attention_heads": 32, "kv_channels": 128, "multi_query_attention": True,
         "multi_query_group_num": 2, "padded_vocab_size": 65024, "seq_length": 8192,
         "add_qkv_bias": True}, 6_243_584_000, 1),
}
# fmt: on
