"""The calculator's pages as tests read them, and a published price."""

import re
from html import unescape

from django.test import Client

from billing.money import Currency
from catalog.models import GpuModel
from catalog.operations.quotes import QuoteToPublish, publish_quotes
from tests.integration.catalog.prices import AS_OF

PAGE = "/en/calculator/"
QLORA = "task=training&method=qlora&model=llama-3.1-8b"
SERVING = "task=serving&model=llama-3.1-8b"
CONFIG = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "torch_dtype": "bfloat16",
    "transformers_version": "4.43.0",
    "hidden_act": "silu",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
}
NO_FIGURE = "No figure yet"
FIGURE = 'class="big-n"'


def read(client: Client, query: str = "", *, language: str = "en") -> str:
    page = {"en": PAGE, "fr": "/fr/calculateur/"}[language]
    answer = client.get(f"{page}?{query}")
    assert answer.status_code == 200, query
    return answer.content.decode()


def words(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html)))


def error_at(html: str, field: str) -> str:
    found = re.search(rf'<p class="err" id="id_{field}_error">(.*?)</p>', html, re.DOTALL)
    return unescape(found[1]) if found else ""


def publish(slug: str, price_micro: int, *, gpus: int = 1) -> None:
    quote = QuoteToPublish(
        gpu_model_id=GpuModel.objects.get(slug=slug).pk,
        currency=Currency.USD,
        gpus=gpus,
        price_micro=price_micro,
        starts_at=AS_OF,
    )
    publish_quotes(quotes=[quote], as_of=AS_OF)
