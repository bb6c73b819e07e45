"""Reads the use-case pages as people do, for several test modules."""

import csv
import re
from decimal import ROUND_HALF_UP, Decimal
from html import unescape
from pathlib import Path

from django.conf import settings
from django.core.cache import cache
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.translation import override

from marketplace.models import MarketState

TABLES = Path(settings.BASE_DIR) / "sizing" / "tables"
KEYS = (
    "fine-tuning",
    "llm-training",
    "llm-inference",
    "image-video",
    "rendering",
    "scientific",
)
LATER_KEYS = KEYS[1:]
FRENCH_ADDRESSES = {
    "fine-tuning": "/fr/usages/reglage-fin/",
    "llm-training": "/fr/usages/entrainement-llm/",
    "llm-inference": "/fr/usages/inference-llm/",
    "image-video": "/fr/usages/image-video/",
    "rendering": "/fr/usages/rendu-3d/",
    "scientific": "/fr/usages/calcul-scientifique/",
}


def address(key: str, language: str = "en") -> str:
    with override(language):
        return reverse("catalog:use_case", kwargs={"key": key})


def page(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200, path
    return response.content.decode()


def set_state(state: str) -> None:
    MarketState.objects.filter(gpu_model=None).update(state=state)
    cache.clear()


def own_questions(asked: CaptureQueriesContext) -> int:
    """Count the page's own questions: the market's state is asked every other second."""
    return sum("marketplace_marketstate" not in query["sql"] for query in asked.captured_queries)


def words(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html))).strip()


def table(html: str) -> dict[str, list[str]]:
    """Return the cells of the first table's body by the name of the card."""
    body = html.split("<tbody>", maxsplit=2)[1].split("</tbody>", maxsplit=1)[0]
    rows = {}
    for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL):
        name = re.search(r'class="gpu"[^>]*>([^<]+?) <small>', row)
        assert name is not None
        cells = re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)
        rows[name[1]] = [words(cell) for cell in cells[:-1]]
    return rows


def source_rows(name: str) -> dict[str, dict[str, str]]:
    """Return a table of measurements by card, read here anew."""
    with (TABLES / name).open(encoding="utf-8") as file:
        return {row["slug"]: row for row in csv.DictReader(file)}


def dollars(amount: Decimal) -> str:
    """Write a price as the pages do, worked out apart from them."""
    rounded = amount.quantize(Decimal("0.001"), ROUND_HALF_UP)
    text = f"{rounded:,.3f}"
    return f"${text.removesuffix('0')}"
