"""A memory test from the address of a calculator to the measurement beside the prediction."""

import json
import re
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from marketplace.accounts.models import AuditEntry
from marketplace.accounts.rate_limits import RATES, Limit, count_act
from marketplace.models import MemoryTest
from tests.functional.whole_market import (
    SLUG,
    WholeMarket,
    address_of,
    counted,
    make_whole_market,
)

pytestmark = pytest.mark.django_db

PEAK = 19_400_000_000
JOB = "model=llama-3.1-8b&context_tokens=2176&output_tokens=128&concurrency=2"


@pytest.fixture
def market() -> WholeMarket:
    return make_whole_market()


def new_address(language: str = "en", **query: str) -> str:
    address = address_of("marketplace:memory_test_new", language=language)
    return f"{address}?{urlencode({'card': SLUG, 'job': JOB} | query)}"


def result_of(test: MemoryTest, **changes: Any) -> dict[str, Any]:
    """Return what the script would write for this test."""
    return {
        "format": "memory-test-result/1",
        "job": test.job | {"test": str(test.pk)},
        "outcome": "measured",
        "peaks": {
            "allocated_bytes": PEAK - 2 * 10**9,
            "reserved_bytes": PEAK - 10**9,
            "device_bytes": PEAK,
            "others_bytes": 0,
        },
        "speeds": {"prefill_tokens_per_s": 8123.4, "decode_tokens_per_s": 51.2},
        "machine": {
            "packages": {"torch": "2.9.0"},
            "gpu": "NVIDIA GeForce RTX 4090",
            "memory_bytes": 25_300_000_000,
            "driver": "570.86",
        },
    } | changes


def upload(browser: Client, test: MemoryTest, content: bytes, language: str = "en") -> str:
    """Send a file and return the text of the page that follows."""
    address = address_of("marketplace:memory_test_upload", test.pk, language=language)
    file = SimpleUploadedFile("memory_test_result.json", content)
    return browser.post(address, {"result": file}, follow=True).content.decode()


def as_file(result: dict[str, Any]) -> bytes:
    return json.dumps(result).encode()


class TestNewTest:
    def test_an_address_of_a_calculator_shows_what_is_expected(self, market):
        page = market.browser_of("buyer").get(new_address()).content.decode()

        assert re.search(r"<b class=\"num\">1[78]\.\d GB</b> on the ", page)
        assert "Cache of keys and values" in page
        assert "Keep it as a test" in page

    def test_training_has_its_own_terms(self, market):
        address = new_address(job="method=qlora&model=llama-3.1-8b&sequence_tokens=4096")

        page = market.browser_of("buyer").get(address).content.decode()

        assert "Gradients and optimizer" in page
        assert "Cache of keys and values" not in page

    def test_a_job_close_to_the_limit_is_said_to_be_so(self, market):
        page = market.browser_of("buyer").get(
            new_address(work="full", model="qwen2.5-1.5b", card=SLUG, sequence_tokens="256")
        )
        near = market.browser_of("buyer").get(new_address(sequence_tokens="8064", micro_batch="4"))

        assert "So close to the limit" not in page.content.decode()
        assert "So close to the limit" in near.content.decode()

    def test_is_kept_once_however_often_it_is_sent(self, market):
        browser = market.browser_of("buyer")
        page = browser.get(new_address()).content.decode()
        (key,) = re.findall(r'name="key" value="(\w+)"', page)

        answers = [browser.post(new_address(), {"key": key}) for _ in range(2)]

        test = MemoryTest.objects.exclude(pk=market.memory_test.pk).get()
        assert {answer.url for answer in answers} == {
            address_of("marketplace:memory_test", test.pk)
        }
        assert test.gpu_model.slug == SLUG
        assert (test.job["sequence_tokens"], test.job["new_tokens"]) == (2048, 128)
        assert (test.job["micro_batch"], test.job["work"]) == (2, "inference")
        assert sum(size for _part, size in test.terms) == test.predicted_peak_bytes
        assert test.created_by == market.people["buyer"]
        entry = AuditEntry.objects.get(action="memory_test.create", object_id=str(test.pk))
        assert entry.organisation == market.buyers

    def test_another_job_under_the_same_key_is_refused(self, market):
        browser = market.browser_of("buyer")
        browser.post(new_address(), {"key": "k"})
        before = counted()

        answer = browser.post(new_address(model="qwen3-8b"), {"key": "k"})

        assert "sent before with other values" in answer.content.decode()
        assert counted() == before

    @pytest.mark.parametrize(
        ("query", "words"),
        [
            ({"sequence_tokens": "0"}, "greater than or equal to 1"),
            ({"sequence_tokens": "9" * 30}, "less than or equal to"),
            ({"sequence_tokens": "many"}, "Enter a whole number"),
            ({"sequence_tokens": "200000"}, "the model takes at most 131072"),
            ({"model": "llama-9"}, "llama-9"),
            ({"model": "deepseek-v3"}, "deepseek-v3"),
            ({"card": "rtx-0"}, "rtx-0"),
            ({"work": "lora", "lora_rank": "60000"}, "the model allows 1 to 4096"),
            ({"output_tokens": "-1"}, "greater than or equal to 0"),
            ({"micro_batch": ""}, "This field is required"),
            ({"job": "context_tokens=²&output_tokens=" + "9" * 5000}, "greater than or equal to 1"),
            ({"job": "&".join(["a=1"] * 50), "micro_batch": "0"}, "greater than or equal to 1"),
        ],
    )
    def test_a_bad_value_is_refused_beside_its_field(self, market, query, words):
        browser, before = market.browser_of("buyer"), counted()

        page = browser.get(new_address(**query))
        sent = browser.post(new_address(**query), {"key": "k"})

        assert words in page.content.decode()
        assert "Keep it as a test" not in page.content.decode()
        assert words in sent.content.decode()
        assert counted() == before

    def test_without_anything_in_the_address_says_how_it_works(self, market):
        page = market.browser_of("buyer").get(address_of("marketplace:memory_test_new"))

        assert "Rent the card for one hour" in page.content.decode()

    def test_a_visitor_comes_back_to_the_same_address_after_sign_in(self, client):
        answer = client.get(new_address())

        assert parse_qs(urlsplit(answer.url).query) == {"next": [new_address()]}


class TestTestPage:
    def test_has_an_order_form_filled_in_and_the_script(self, market):
        address = address_of("marketplace:memory_test", market.memory_test.pk)

        page = market.browser_of("buyer").get(address).content.decode()

        ticket = reverse("marketplace:order_new", args=[SLUG])
        assert f"{ticket}?kind=buy_now&amp;gpus=1&amp;hours=1" in page
        assert "pip install torch transformers" in page

    def test_the_script_carries_this_test(self, market):
        address = address_of("marketplace:memory_test_script", market.memory_test.pk)

        answer = market.browser_of("viewer").get(address)

        assert answer["Content-Disposition"] == 'attachment; filename="memory_test.py"'
        assert f'"test": "{market.memory_test.pk}"' in answer.content.decode()
        compile(answer.content, "memory_test.py", "exec")

    @pytest.mark.parametrize("name", ["memory_test", "memory_test_script", "memory_test_upload"])
    def test_a_stranger_finds_nothing(self, market, name):
        address = address_of(f"marketplace:{name}", market.memory_test.pk)
        browser, before = market.browser_of("stranger"), counted()
        send = browser.post if name.endswith("upload") else browser.get

        answer = send(address, {"result": SimpleUploadedFile("a.json", b"{}")})

        assert answer.status_code == 404
        assert counted() == before

    def test_asks_few_questions_of_the_database(
        self, market, own_cache, django_assert_max_num_queries
    ):
        browser = market.browser_of("buyer")
        address = address_of("marketplace:memory_test", market.memory_test.pk)
        browser.get(address)

        with django_assert_max_num_queries(8):
            browser.get(address)
        with django_assert_max_num_queries(8):
            browser.get(new_address())


class TestUpload:
    def test_puts_the_measurement_beside_the_prediction(self, market):
        test = market.memory_test

        page = upload(market.browser_of("buyer"), test, as_file(result_of(test)))

        test.refresh_from_db()
        assert test.measured_bytes == PEAK
        assert test.outcome == MemoryTest.Outcome.MEASURED
        assert test.uploaded_at is not None
        assert test.measurement["decode_tokens_per_s"] == 51.2
        assert "19.4 GB" in page
        assert "The measurement is kept beside the prediction." in page
        assert "NVIDIA GeForce RTX 4090" in page
        assert AuditEntry.objects.filter(action="memory_test.measure").count() == 1

    def test_names_the_rental_it_was_measured_on(self, market):
        test = market.memory_test

        page = upload(market.browser_of("buyer"), test, as_file(result_of(test)))

        test.refresh_from_db()
        assert test.rental == market.rental
        assert f"rental {market.rental.pk}" in page

    def test_the_same_file_again_changes_nothing(self, market):
        test, browser = market.memory_test, market.browser_of("buyer")
        upload(browser, test, as_file(result_of(test)))
        before = counted()

        upload(browser, test, as_file(result_of(test)))

        assert counted() == before

    def test_another_measurement_of_the_same_test_is_refused(self, market):
        test, browser = market.memory_test, market.browser_of("buyer")
        upload(browser, test, as_file(result_of(test)))
        before = counted()

        page = upload(browser, test, as_file(result_of(test, peaks=dict.fromkeys(PEAKS, 10**9))))

        assert "create another test" in page
        assert counted() == before

    def test_a_job_that_ran_out_of_memory_says_so(self, market):
        test = market.memory_test

        page = upload(
            market.browser_of("buyer"), test, as_file(result_of(test, outcome="out_of_memory"))
        )

        assert "The job did not fit this card." in page

    @pytest.mark.parametrize(
        ("changes", "english", "french"),
        [
            (b"", "The submitted file is empty", "vide"),
            (b"x" * 70_000, "The file has more than 64 kB", "dépasse 64\u202fko"),
            (b"\xff\xfe\x00", "The file is not text", "n’est pas du texte"),
            (b"id,task", "The file is not JSON", "n’est pas du JSON"),
            (b"{}", "not a result of this script", "n’est pas un résultat de ce script"),
            ({"peaks": {}}, "lacks allocated_bytes", "allocated_bytes"),
            ({"job": {}}, "the result of another test", "un autre test"),
            ({"outcome": "rehearsed"}, "without a card", "sans carte"),
        ],
    )
    def test_a_wrong_file_is_refused_with_what_to_do(self, market, changes, english, french):
        test, browser, before = market.memory_test, market.browser_of("buyer"), counted()
        content = changes if isinstance(changes, bytes) else as_file(result_of(test, **changes))

        pages = {
            language: upload(browser, test, content, language=language) for language in ("en", "fr")
        }

        assert english in pages["en"]
        assert french in pages["fr"]
        assert counted() == before

    def test_nothing_sent_is_refused(self, market):
        address = address_of("marketplace:memory_test_upload", market.memory_test.pk)

        page = market.browser_of("buyer").post(address, follow=True).content.decode()

        assert "This field is required" in page

    def test_too_many_uploads_are_refused(self, market, settings, own_cache):
        settings.RATE_LIMITS_ARE_ON = True
        for _act in range(RATES[Limit.MEMORY_TEST][0].times):
            count_act(limit=Limit.MEMORY_TEST, who=market.buyers.pk)
        address = address_of("marketplace:memory_test_upload", market.memory_test.pk)
        before = counted()

        answer = market.browser_of("buyer").post(address)

        assert answer.status_code == 429
        assert counted() == before


PEAKS = ("allocated_bytes", "reserved_bytes", "device_bytes", "others_bytes")
