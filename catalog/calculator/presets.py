"""Jobs that other pages start the calculator with: each use case its own."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

Preset = Mapping[str, str]

CARD_PRESET: Final[Preset] = MappingProxyType(
    {"task": "training", "method": "qlora", "model": "llama-3.1-8b", "sequence_tokens": "4096"}
)
USE_CASE_PRESETS: Final[Mapping[str, Preset]] = MappingProxyType(
    {
        "fine-tuning": CARD_PRESET,
        "llm-training": {
            "task": "training",
            "method": "full",
            "model": "llama-3.1-8b",
            "sequence_tokens": "4096",
        },
        "llm-inference": {
            "task": "serving",
            "model": "llama-3.1-8b",
            "context_tokens": "8192",
            "concurrency": "16",
        },
    }
)
