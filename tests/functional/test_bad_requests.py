"""Requests that no page of ours sends: broken bytes, huge bodies, wild addresses, forged webhooks."""

import json
from time import time

import pytest
from django.conf import settings as site
from django.test import Client

from billing.gateways.stripe_double.webhooks import sign
from billing.models import StripeEvent
from tests.functional.typed_forms import accepted, review_address
from tests.functional.whole_market import (
    SLUG,
    WholeMarket,
    address_of,
    counted,
    make_whole_market,
)

pytestmark = pytest.mark.django_db

FORM = "application/x-www-form-urlencoded"
BEYOND_BIGINT = 99_999_999_999_999_999_999
WEBHOOK = "/webhooks/stripe/"


@pytest.fixture
def market() -> WholeMarket:
    return make_whole_market()


@pytest.fixture
def buyer(market) -> Client:
    return market.browser_of("buyer")


def forms_of(market: WholeMarket) -> list[tuple[str, str]]:
    """Return who may send which form."""
    return [
        ("buyer", review_address()),
        ("buyer", address_of("billing:top_up", "EUR")),
        ("buyer", address_of("billing:profile")),
        ("buyer", address_of("accounts:profile")),
        ("buyer", address_of("accounts:keys")),
        ("buyer", address_of("accounts:members")),
        ("buyer", address_of("accounts:organisations")),
        ("buyer", address_of("marketplace:order_cancel", market.waiting.pk)),
        ("seller", address_of("marketplace:server_add")),
        ("seller", address_of("marketplace:offer_add", market.free_server.pk)),
        ("seller", address_of("marketplace:sale", market.rental.pk)),
        ("nobody", address_of("account_signup")),
        ("nobody", address_of("account_login")),
        ("nobody", address_of("account_reset_password")),
    ]


class TestBytesThatAreNoText:
    @pytest.mark.parametrize(
        "query", ["page=%00", "page=%ff", "a%00=1", "%C3%28=x", "to=%ED%A0%80"]
    )
    def test_in_an_address_are_refused_on_every_page(self, market, query):
        for person in ("nobody", "buyer", "seller"):
            client = market.browser_of(person)
            for name in (
                "catalog:home",
                "marketplace:orders",
                "accounts:outbox",
                "billing:wallets",
            ):
                answer = client.get(f"{address_of(name)}?{query}")
                assert (name, answer.status_code) == (name, 400)

    @pytest.mark.parametrize("body", [b"name=%00", b"name=%ff", b"name=\xff\xfe", b"\x00=1"])
    def test_in_a_form_are_refused_and_change_nothing(self, market, body):
        before = counted()

        for person, url in forms_of(market):
            answer = market.browser_of(person).post(url, body, content_type=FORM)
            assert (url, answer.status_code) == (url, 400)

        assert counted() == before

    def test_in_a_path_lead_nowhere(self, buyer):
        for path in (
            "/%00",
            "/en/%00/",
            "/en/gpus/%00/",
            "/en/%ff/",
            "/en/orders/%ff/",
            "/%E2%80%AE/",
        ):
            assert (path, buyer.get(path).status_code) == (path, 404)

    def test_in_a_cookie_are_refused(self):
        for cookie in (r'sessionid="\000abcdefghijkl"', r'django_language="\000"', r'x="\000"'):
            answer = Client().get(address_of("marketplace:orders"), headers={"cookie": cookie})
            assert answer.status_code == 400

    @pytest.mark.parametrize(
        ("language", "words"),
        [("en", "This request cannot be read"), ("fr", "Cette requête est illisible")],
    )
    def test_are_told_in_the_readers_language(self, client, language, words):
        answer = client.get(f"{address_of('catalog:home', language=language)}?a=%ff")

        page = answer.content.decode()
        assert words in page
        assert f'<html lang="{language}">' in page

    def test_are_a_problem_for_programs(self, client):
        answer = client.get("/api/v1/gpus/?currency=%ff")

        assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
        assert answer.json()["status"] == 400


class TestSizes:
    def test_a_large_body_is_refused_before_it_is_read(self, market):
        before = counted()
        large = b"name=" + b"x" * site.DATA_UPLOAD_MAX_MEMORY_SIZE

        for person, url in forms_of(market):
            answer = market.browser_of(person).post(url, large, content_type=FORM)
            assert (url, answer.status_code) == (url, 413)

        assert counted() == before

    def test_a_large_file_is_refused_too(self, market, buyer):
        """Django bounds the fields of a form with files, not the files."""
        from django.core.files.uploadedfile import SimpleUploadedFile

        large = SimpleUploadedFile("x.bin", b"x" * site.DATA_UPLOAD_MAX_MEMORY_SIZE)

        answer = buyer.post(address_of("accounts:profile"), {"name": large})

        assert answer.status_code == 413
        assert "larger than anything this site takes" in answer.content.decode()

    def test_too_many_fields_change_nothing(self, market):
        before = counted()
        many = "&".join(f"a{number}=1" for number in range(500)).encode()

        for person, url in forms_of(market):
            answer = market.browser_of(person).post(url, many, content_type=FORM)
            assert (url, answer.status_code in {400, 302}) == (url, True)

        assert {**counted(), "Command": None} == {**before, "Command": None}

    def test_bodies_of_other_types_are_empty_forms(self, market):
        before = counted()

        for person, url in forms_of(market):
            client = market.browser_of(person)
            for body, kind in (
                (json.dumps(accepted()).encode(), "application/json"),
                (b"<a/>", "text/xml"),
                (b"rubbish", "multipart/form-data"),
                (b"rubbish", "multipart/form-data; boundary=x"),
                (b"x=1", "application/x-www-form-urlencoded; charset=utf-7"),
            ):
                if "cancel" not in url:
                    answer = client.post(url, body, content_type=kind)
                    assert (kind, url, answer.status_code in {200, 400, 422}) == (kind, url, True)

        assert counted() == before


class TestAddresses:
    def test_numbers_beyond_the_databases_lead_nowhere(self, market):
        names = market.numbers()

        for person in ("buyer", "seller"):
            client = market.browser_of(person)
            for name in names:
                if name.startswith("mfa_"):
                    continue
                for number in (0, 2**31, 2**63, BEYOND_BIGINT, int("9" * 500)):
                    url = address_of(name, number)
                    for method in ("get", "post"):
                        answer = getattr(client, method)(url)
                        assert (url, answer.status_code in {404, 405}) == (url, True)

    def test_what_is_no_number_leads_nowhere(self, buyer):
        for path in ("-1", "1.5", "abc", "1e5", "%D9%A3", "%20", "1%2F..%2F2", "0x1"):
            assert (path, buyer.get(f"/en/orders/{path}/").status_code) == (path, 404)

    def test_pages_of_lists_that_do_not_exist_show_the_nearest(self, market):
        lists = {
            "buyer": ("marketplace:orders", "marketplace:rentals"),
            "seller": ("marketplace:offers", "marketplace:sales"),
        }
        for person, names in lists.items():
            client = market.browser_of(person)
            for name in names:
                for number in ("abc", "-1", "0", "1.5", str(BEYOND_BIGINT), "9" * 400, "٣", ""):
                    answer = client.get(address_of(name), {"page": number})
                    assert (name, number, answer.status_code) == (name, number, 200)
                    assert answer.context["page"].number == 1

    def test_pages_of_a_statement_that_do_not_exist_show_the_nearest(self, buyer):
        for number in ("abc", "-1", str(BEYOND_BIGINT), "9" * 400):
            answer = buyer.get(address_of("billing:statement", "EUR"), {"page": number})
            assert (answer.status_code, answer.context["page"].number) == (200, 1)

    def test_unknown_filters_filter_nothing(self, market, buyer):
        for query in ("status=zzz", "status=", "status[]=open", "zzz=1", "part=zzz", "cards=zzz"):
            answer = buyer.get(f"{address_of('marketplace:orders')}?{query}")
            assert answer.context["page"].paginator.count == 2

    @pytest.mark.parametrize("currency", ["CHF", "💩", "x" * 3_000, "EUR,USD", "<script>"])
    def test_an_unknown_currency_is_told(self, client, market, currency):
        for name, args in (
            ("catalog:home", []),
            ("catalog:gpu_list", []),
            ("catalog:gpu", [SLUG]),
            ("catalog:use_case", []),
        ):
            answer = client.get(address_of(name, *args), {"currency": currency})
            assert answer.status_code == 400
            assert "<script>" not in answer.content.decode()

    @pytest.mark.parametrize("host", ["evil.example", "[", "market.example@evil.example", "a b"])
    def test_a_host_that_is_not_ours_gets_no_page(self, client, settings, host):
        settings.ALLOWED_HOSTS = ["market.example"]

        answer = client.get("/en/", headers={"host": host})

        assert answer.status_code == 400
        assert "This request cannot be read" in answer.content.decode()
        assert host not in answer.content.decode()

    def test_dots_in_the_path_lead_nowhere(self, client):
        for path in ("/static/../manage.py", "/static/%2e%2e/manage.py", "/en/../../etc/passwd"):
            assert client.get(path).status_code == 404


ELSEWHERE = (
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "https://evil.example/",
    "http:evil.example",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,x",
    "//evil.example\\@testserver/",
    "https://testserver@evil.example/",
    "\t//evil.example",
    "evil",
    "admin:index",
    "catalog:home",
    "x" * 250,
)


class TestWhereFormsLead:
    """``next`` leads within the site or nowhere."""

    def test_after_sign_in(self, market):
        from allauth.account.models import EmailAddress

        person = market.people["stranger"]
        person.set_password("four unrelated quiet words")
        person.save()
        EmailAddress.objects.create(user=person, email=person.email, verified=True, primary=True)
        given = {"login": person.email, "password": "four unrelated quiet words"}

        for address in ELSEWHERE:
            answer = Client().post(address_of("account_login"), given | {"next": address})
            assert (address, answer.status_code) == (address, 302)
            assert (address, "evil" in answer.url and ":" in answer.url) == (address, False)
            assert (address, answer.url.startswith(("//", "\\", "java", "data"))) == (
                address,
                False,
            )

    def test_after_the_billing_profile(self, market, buyer):
        form = {"kind": "person", "legal_name": "Zebra", "country": "FR"}

        for address in ELSEWHERE:
            answer = buyer.post(address_of("billing:profile"), form | {"next": address})
            assert (address, answer.url) == (address, address_of("billing:wallets"))

    def test_after_a_top_up(self, market, buyer, stripe_double):
        for number, address in enumerate(ELSEWHERE):
            form = {"amount": "20", "key": f"k{number}", "next": address}
            buyer.post(address_of("billing:top_up", "EUR"), form)

        assert buyer.session.get("after_top_up") is None

    def test_a_page_of_ours_is_kept(self, market, buyer):
        form = {"kind": "person", "legal_name": "Zebra", "country": "FR", "next": review_address()}

        answer = buyer.post(address_of("billing:profile"), form)

        assert answer.url == review_address()

    def test_the_links_of_a_top_up_page_lead_within_the_site(self, market, buyer):
        for address in ("//evil.example", "javascript:alert(1)"):
            page = buyer.get(
                address_of("billing:top_up", "EUR"), {"next": address}
            ).content.decode()
            assert 'name="next" value=""' in page or 'name="next" id' in page
            assert f'href="{address}' not in page


class TestWebhook:
    EVENT = {
        "id": "evt_1",
        "object": "event",
        "type": "checkout.session.completed",
        "created": 1_800_000_000,
        "livemode": False,
        "data": {"object": {"id": "cs_1"}},
    }

    def send(self, client, stripe_double, event, *, secret: str | None = None, **headers: str):
        secret = stripe_double.webhook_secret if secret is None else secret
        signed = sign(event=event, secret=secret, now=int(time()))
        given = {"stripe-signature": signed.signature} | headers
        return client.post(
            WEBHOOK, signed.body, content_type="application/json", headers=given
        ).status_code

    def test_keeps_a_signed_event_whatever_its_content_type(self, client, stripe_double):
        signed = sign(event=self.EVENT, secret=stripe_double.webhook_secret, now=int(time()))

        answer = client.post(
            WEBHOOK,
            signed.body,
            content_type="text/plain",
            headers={"stripe-signature": signed.signature},
        )

        assert (answer.status_code, StripeEvent.objects.count()) == (200, 1)

    @pytest.mark.parametrize(
        "signature",
        ["", "t=,v1=", "t=1", "v1=aa", "t=1,v1=aa", "t=x,v1=y", "é", "t=1,v1=é", "," * 5_000],
    )
    def test_refuses_what_is_not_signed(self, client, stripe_double, signature):
        answer = client.post(
            WEBHOOK,
            json.dumps(self.EVENT),
            content_type="application/json",
            headers={"stripe-signature": signature},
        )

        assert (answer.status_code, StripeEvent.objects.count()) == (400, 0)

    def test_refuses_what_was_signed_long_ago(self, client, stripe_double):
        old = sign(event=self.EVENT, secret=stripe_double.webhook_secret, now=int(time()) - 3_600)

        answer = client.post(
            WEBHOOK,
            old.body,
            content_type="application/json",
            headers={"stripe-signature": old.signature},
        )

        assert (answer.status_code, StripeEvent.objects.count()) == (400, 0)

    def test_refuses_the_other_mode_and_the_wrong_secret(self, client, stripe_double):
        assert self.send(client, stripe_double, self.EVENT | {"livemode": True}) == 400
        assert self.send(client, stripe_double, self.EVENT, secret="whsec_other") == 400
        assert StripeEvent.objects.count() == 0

    def test_an_empty_secret_is_no_secret(self, client, stripe_double, settings):
        settings.STRIPE_WEBHOOK_SECRET = ""

        assert self.send(client, stripe_double, self.EVENT, secret="") == 400
        assert StripeEvent.objects.count() == 0

    @pytest.mark.parametrize(
        "event",
        [
            [],
            ["evt_1"],
            None,
            1,
            "evt_1",
            {},
            {"object": "event"},
            EVENT | {"id": None},
            EVENT | {"id": "x" * 200},
            EVENT | {"id": 7},
            EVENT | {"type": None},
            EVENT | {"created": "yesterday"},
            EVENT | {"created": 10**30},
            EVENT | {"data": {"object": {"id": "nul \0 inside"}}},
            EVENT | {"livemode": "false"},
        ],
    )
    def test_signed_bodies_that_are_no_event_are_refused(self, client, stripe_double, event):
        assert self.send(client, stripe_double, event) == 400
        assert StripeEvent.objects.count() == 0

    @pytest.mark.parametrize("data", [None, [], "x", {"object": []}, {"object": {"id": "c" * 999}}])
    def test_an_event_about_nothing_we_know_is_kept(self, client, stripe_double, data):
        assert self.send(client, stripe_double, self.EVENT | {"data": data}) == 200
        assert StripeEvent.objects.count() == 1

    def test_a_megabyte_is_refused(self, client, stripe_double):
        event = self.EVENT | {"padding": "x" * 1_000_000}

        assert self.send(client, stripe_double, event) == 413
        assert StripeEvent.objects.count() == 0

    def test_the_same_event_is_kept_once(self, client, stripe_double):
        assert [self.send(client, stripe_double, self.EVENT) for _time in range(3)] == [200] * 3
        assert StripeEvent.objects.count() == 1


class TestApi:
    @pytest.mark.parametrize("currency", ["CHF", "eur", "", "💩", "x" * 3_000])
    def test_an_unknown_currency_is_a_problem_of_that_field(self, client, market, currency):
        for url in ("/api/v1/gpus/", "/api/v1/use-cases/fine-tuning/"):
            answer = client.get(url, {"currency": currency})
            assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
            assert list(answer.json()["errors"]) == ["currency"]

    @pytest.mark.parametrize("path", ["nope/", "use-cases/nope/", "gpus", "gpus/nope/", ""])
    def test_an_unknown_address_is_a_problem(self, client, path):
        answer = client.get(f"/api/v1/{path}")

        if path == "gpus":
            assert answer.status_code in {301, 404}
        else:
            assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")

    def test_other_methods_are_a_problem(self, client):
        for method in ("post", "put", "patch", "delete"):
            answer = getattr(client, method)("/api/v1/gpus/", b"[", content_type="application/json")
            assert answer["Content-Type"] == "application/problem+json"
            assert answer.status_code in {403, 405}

    def test_wild_headers_are_no_server_error(self, client, market, settings):
        settings.METRICS_TOKEN = "token"

        for headers in (
            {"accept-language": "x" * 9_000},
            {"accept-language": "\x00"},
            {"authorization": "Bearer é"},
            {"authorization": "Token "},
            {"x-forwarded-for": "zz, é"},
            {"referer": "http://["},
            {"hx-request": "true", "hx-current-url": "http://["},
            {"if-none-match": "\x00"},
            {"accept": "x/y"},
            {"cookie": "sessionid=" + "a" * 5_000},
        ):
            for url in ("/en/", "/en/dashboard/", "/metrics", "/api/v1/gpus/", "/health/live"):
                answer = client.get(url, headers=headers)
                assert (headers, url, answer.status_code < 500) == (headers, url, True)
