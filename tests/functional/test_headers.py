"""What goes along with every page: policies, cookies, and what browsers may keep."""

import re

import pytest

from tests.functional.test_access import all_addresses, undone
from tests.functional.whole_market import SLUG, WholeMarket, address_of, make_whole_market

pytestmark = pytest.mark.django_db

PUBLIC: tuple[tuple[str, list[str]], ...] = (
    ("catalog:home", []),
    ("catalog:gpu_list", []),
    ("catalog:gpu", [SLUG]),
    ("catalog:use_case", []),
    ("marketplace:order_new", [SLUG]),
)
TOP_UP, STRIPE = "billing:top_up EUR", "https://checkout.stripe.com"
# Mails of the demo in a frame: sandboxed by a policy of their own, which has its own test.
FRAMED = "accounts:outbox_mail"
# A script without a source, but for data that no browser runs.
NO_SOURCE = re.compile(r'<script(?![^>]*\ssrc=)(?![^>]*\stype="application/(?:ld\+)?json")[^>]*>')
POLICY = {
    "default-src": "'self'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "connect-src": "'self'",
    "object-src": "'none'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
    "form-action": "'self'",
}


@pytest.fixture
def market() -> WholeMarket:
    return make_whole_market()


def policy_of(answer) -> dict[str, str]:
    parts = (part.strip() for part in answer["Content-Security-Policy"].split(";"))
    return dict(part.split(" ", 1) for part in parts)


class TestEveryAnswer:
    @pytest.mark.parametrize("person", ["nobody", "buyer", "seller"])
    def test_carries_the_policies(self, market, person):
        client = market.browser_of(person)

        for name, url in all_addresses(market).items():
            for method in ("get", "post"):
                answer = undone(client, method, url)
                if name.startswith(FRAMED) and answer.status_code == 200:
                    continue
                leads_out = {"form-action": f"'self' {STRIPE}"} if name == TOP_UP else {}
                assert (name, policy_of(answer)) == (name, POLICY | leads_out)
                assert answer["X-Frame-Options"] == "DENY"
                assert answer["X-Content-Type-Options"] == "nosniff"
                assert answer["Referrer-Policy"] == "same-origin"
                assert answer["Cross-Origin-Opener-Policy"] == "same-origin"

    def test_carries_them_on_refusals_too(self, client, market):
        for url in ("/nope/", "/en/nope/", "/en/?a=%ff", "/api/v1/nope/"):
            answer = client.get(url)
            assert answer.status_code in {400, 404}
            assert policy_of(answer) == POLICY
            assert answer["X-Content-Type-Options"] == "nosniff"

    def test_has_no_script_or_style_of_its_own(self, market):
        for person in ("nobody", "buyer", "seller"):
            client = market.browser_of(person)
            for name, url in all_addresses(market).items():
                text = undone(client, "get", url).text_read
                assert (name, re.findall(NO_SOURCE, text)) == (name, [])
                assert (name, re.findall(r"<style|\sstyle=|\son[a-z]+=|javascript:", text)) == (
                    name,
                    [],
                )

    def test_tells_nothing_of_the_software(self, client):
        answer = client.get(address_of("catalog:home"))

        assert {"Server", "X-Powered-By"} & set(answer.headers) == set()


class TestTopUpPage:
    def test_alone_may_end_at_the_payment_page(self, market, stripe_double):
        client = market.browser_of("buyer")

        answer = client.get(address_of("billing:top_up", "EUR"))

        assert policy_of(answer) == POLICY | {"form-action": f"'self' {stripe_double.url}"}


class TestCookies:
    @pytest.mark.parametrize(("name", "args"), PUBLIC)
    @pytest.mark.parametrize("language", ["en", "fr"])
    def test_a_reader_of_public_pages_gets_none(self, client, market, name, args, language):
        answer = client.get(address_of(name, *args, language=language))

        assert answer.status_code == 200
        assert not answer.cookies

    def test_a_reader_of_the_api_gets_none(self, client, market):
        assert not client.get("/api/v1/gpus/").cookies

    def test_of_a_session_are_hidden_from_scripts_and_other_sites(self, market):
        client = market.browser_of("buyer")
        switched = client.post(address_of("accounts:switch", market.buyers.pk))
        form = {"name": "Zebra", "language": "fr", "time_zone": "UTC"}
        saved = client.post(address_of("accounts:profile"), form)

        session = switched.cookies["sessionid"]
        assert (session["httponly"], session["samesite"]) == (True, "Lax")
        assert saved.cookies["django_language"]["samesite"] == "Lax"


class TestWhatBrowsersKeep:
    def test_pages_of_signed_in_people_are_not_stored(self, market):
        for person in ("buyer", "seller"):
            client = market.browser_of(person)
            for name, url in all_addresses(market).items():
                if name.startswith(("catalog:", "marketplace:", "billing:", "accounts:")):
                    answer = undone(client, "get", url)
                    is_page = answer.headers.get("Content-Type", "").startswith("text/html")
                    if is_page and answer.status_code in {200, 302}:
                        kept = answer.headers.get("Cache-Control", "")
                        assert (name, "private" in kept or "no-store" in kept) == (name, True)

    def test_a_live_part_that_has_not_changed_is_not_sent_again(self, market):
        client = market.browser_of("buyer")
        url = address_of("marketplace:order", market.waiting.pk) + "?part=live"
        etag = client.get(url)["ETag"]

        again = client.get(url, headers={"if-none-match": etag})
        other = client.get(url, headers={"if-none-match": '"other"'})

        assert (again.status_code, other.status_code) == (304, 200)
