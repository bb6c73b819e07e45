"""Who gets which page: every address of the site, tried by everybody."""

from dataclasses import dataclass
from itertools import chain

import pytest
from django.core import signing
from django.db import transaction
from django.http import HttpResponseBase
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import translation

from marketplace.accounts.models import Membership
from marketplace.accounts.operations.unsubscribing import SALT
from tests.functional.whole_market import (
    BUYERS_SECRETS,
    SELLERS_SECRETS,
    SHARED_SECRETS,
    SLUG,
    WholeMarket,
    address_of,
    counted,
    make_whole_market,
)

pytestmark = pytest.mark.django_db

PEOPLE = ("nobody", "stranger", "buyer", "trader", "billing", "viewer", "seller", "staff")

# Who is let in; nobody else but the unknown visitor, who is sent to sign in, gets 404.
EVERYBODY = frozenset(PEOPLE)
SIGNED_IN = EVERYBODY - {"nobody"}
TRADING = SIGNED_IN - {"billing", "viewer"}
PAYING = SIGNED_IN - {"trader", "viewer"}
OWNING = SIGNED_IN - {"trader", "billing", "viewer"}
BUYERS = frozenset({"buyer", "trader", "billing", "viewer"})
SELLER = frozenset({"seller"})
NO_ONE: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Rule:
    """Who may use an address, and what they get: for reading, and for sending an empty form."""

    who: frozenset[str]
    get: int
    post: int
    # What the unknown visitor gets where others are let in.
    nobody: int = 302


def page(who: frozenset[str]) -> Rule:
    return Rule(who, get=200, post=405)


def form(who: frozenset[str], *, refused: int = 200) -> Rule:
    return Rule(who, get=200, post=refused)


def button(who: frozenset[str]) -> Rule:
    return Rule(who, get=405, post=302)


RULES = {
    "health-live": Rule(EVERYBODY, 200, 405),
    "health-ready": Rule(EVERYBODY, 200, 405),
    "metrics": Rule(NO_ONE, 404, 405),
    "robots": page(EVERYBODY),
    "sitemap": page(EVERYBODY),
    "gallery": Rule(NO_ONE, 404, 405),
    "stripe-webhook": Rule(EVERYBODY, 405, 400),
    "api-me": Rule(SIGNED_IN, get=200, post=405, nobody=401),
    "api-gpus": page(EVERYBODY),
    "api-use-case": page(EVERYBODY),
    # Without a job there is nothing to reckon; a form is no JSON.
    "sizing-estimate": Rule(EVERYBODY, get=400, post=415),
    "sizing-fit": Rule(EVERYBODY, get=400, post=415),
    "sizing-rank": Rule(EVERYBODY, get=400, post=415),
    "sizing-capacity": page(EVERYBODY),
    "sizing-accuracy": page(EVERYBODY),
    "api-docs": page(EVERYBODY),
    "api-schema": page(EVERYBODY),
    "api_page": page(EVERYBODY),
    "marketplace:rule": page(EVERYBODY),
    "marketplace:method": page(EVERYBODY),
    "marketplace:sell": page(EVERYBODY),
    "marketplace:status": page(EVERYBODY),
    "catalog:home": page(EVERYBODY),
    "catalog:gpu_list": page(EVERYBODY),
    "catalog:gpu_list_csv": page(EVERYBODY),
    "catalog:compare": page(EVERYBODY),
    "catalog:compare_csv": page(EVERYBODY),
    "catalog:gpu": page(EVERYBODY),
    "catalog:guides": page(EVERYBODY),
    "catalog:guide": page(EVERYBODY),
    "catalog:guide_preview": Rule(frozenset({"staff"}), get=200, post=405, nobody=404),
    "catalog:calculator": form(EVERYBODY),
    "catalog:accuracy": page(EVERYBODY),
    "catalog:figures": page(EVERYBODY),
    "catalog:use_cases": page(EVERYBODY),
    "catalog:use_case fine-tuning": page(EVERYBODY),
    "catalog:use_case llm-training": page(EVERYBODY),
    "catalog:use_case llm-inference": page(EVERYBODY),
    "catalog:use_case image-video": page(EVERYBODY),
    "catalog:use_case rendering": page(EVERYBODY),
    "catalog:use_case scientific": page(EVERYBODY),
    "accounts:profile": form(SIGNED_IN),
    "accounts:keys": form(SIGNED_IN),
    "accounts:key_remove": button(frozenset({"buyer"})),
    "accounts:devices": page(SIGNED_IN),
    "accounts:device_end": button(frozenset({"buyer"})),
    "accounts:devices_end_others": button(SIGNED_IN),
    # Who sends this form is asked first whether it is them.
    "accounts:tokens": form(SIGNED_IN, refused=302),
    "accounts:token_revoke": button(frozenset({"buyer"})),
    "accounts:notifications": form(SIGNED_IN),
    "accounts:export": form(SIGNED_IN, refused=302),
    "accounts:close": form(SIGNED_IN, refused=302),
    "accounts:accept_terms": form(SIGNED_IN),
    "accounts:legal terms": page(EVERYBODY),
    "accounts:legal sale": page(EVERYBODY),
    "accounts:legal sellers": page(EVERYBODY),
    "accounts:legal privacy": page(EVERYBODY),
    "accounts:legal notice": page(EVERYBODY),
    "accounts:contact": form(EVERYBODY),
    "accounts:contact_sent": page(EVERYBODY),
    "accounts:organisations": form(SIGNED_IN),
    "accounts:switch": button(BUYERS),
    "accounts:members": form(OWNING),
    "accounts:member_remove": button(frozenset({"buyer"})),
    "accounts:invitation_accept": button(frozenset({"invited"})),
    "accounts:invitation_decline": button(frozenset({"invited"})),
    "accounts:invitation_withdraw": button(frozenset({"buyer"})),
    "accounts:outbox": page(EVERYBODY),
    "accounts:outbox_mail": page(EVERYBODY),
    # Who has the signed address may use it: mail programs do so for their readers.
    "accounts:unsubscribe": form(EVERYBODY),
    "billing:wallets": page(PAYING),
    "billing:statement": page(PAYING),
    "billing:statement_csv": page(PAYING),
    "billing:top_up": Rule(PAYING, 302, 405),
    "billing:top_up EUR": form(PAYING, refused=422),
    "billing:top_up_status": page(frozenset({"buyer", "billing"})),
    "billing:profile": form(PAYING),
    "api-market": page(EVERYBODY),
    "api-gpu-market": page(EVERYBODY),
    "marketplace:market": page(EVERYBODY),
    "marketplace:market_csv": page(EVERYBODY),
    "marketplace:market_gpu": page(EVERYBODY),
    "marketplace:fills_csv": page(EVERYBODY),
    "marketplace:price_history": page(EVERYBODY),
    "marketplace:dashboard": page(SIGNED_IN),
    "marketplace:order_new": page(EVERYBODY),
    "marketplace:order_review": form(TRADING),
    "marketplace:orders": page(SIGNED_IN),
    "marketplace:order": page(BUYERS),
    "marketplace:order_cancel": button(frozenset({"buyer", "trader"})),
    "marketplace:intentions": page(SIGNED_IN),
    "marketplace:memory_tests": page(SIGNED_IN),
    "marketplace:memory_test_new": form(TRADING),
    "marketplace:memory_test": page(BUYERS),
    "marketplace:memory_test_script": page(BUYERS),
    "marketplace:memory_test_upload": button(frozenset({"buyer", "trader"})),
    # The market of these tests is open: there the form leads on to the order's.
    "marketplace:intention_new": Rule(TRADING, get=302, post=200),
    "marketplace:intention_withdraw": button(frozenset({"buyer", "trader"})),
    "marketplace:demand": page(SELLER),
    "marketplace:mail_samples": page(EVERYBODY),
    "marketplace:rentals": page(SIGNED_IN),
    "marketplace:rental": page(BUYERS),
    "marketplace:rental_stop": button(frozenset({"buyer", "trader"})),
    "marketplace:rental_wait": button(frozenset({"buyer", "trader"})),
    "marketplace:seller_home": page(SIGNED_IN),
    "marketplace:seller_apply": button(TRADING),
    "marketplace:servers": page(SIGNED_IN),
    "marketplace:server_add": form(TRADING),
    "marketplace:server": page(SELLER),
    "marketplace:offer_add": form(SELLER),
    "marketplace:offers": page(SIGNED_IN),
    "marketplace:offer_withdraw": button(SELLER),
    "marketplace:sales": page(SIGNED_IN),
    "marketplace:sale": form(SELLER),
}
# allauth's own pages: about the person alone, with rules of allauth's that its tests hold.
OF_ALLAUTH = ("account_", "mfa_")
OF_ADMIN = "admin:"
OF_API = ("api-", "sizing-")
TAKES_FOREIGN_POSTS = {"stripe-webhook", "accounts:unsubscribe"}


@pytest.fixture
def market() -> WholeMarket:
    return make_whole_market()


def all_addresses(market: WholeMarket, *, language: str = "en") -> dict[str, str]:
    """Return every address of the site but the administration's, by its name."""
    numbers = market.numbers()
    found = {}
    for name, pattern in _walk(get_resolver()):
        if name.startswith(OF_ADMIN):
            continue
        given: dict[str, object] = {
            "pk": numbers.get(name, 0),
            "currency": "EUR",
            "slug": SLUG,
            "key": "fine-tuning",
            "token": signing.dumps([market.people["viewer"].pk, "opening"], salt=SALT),
        }
        if pattern.default_args:
            found[f"{name} {pattern.default_args['key']}"] = _named(
                name, pattern.default_args, language
            )
            continue
        needed = [key for key in pattern.pattern.converters if key != "pk" or name in numbers]
        values = [given[key] for key in needed]
        label = f"{name} EUR" if name == "billing:top_up" and values else name
        found[label] = address_of(name, *values, language=language)
    return found


def _named(name: str, arguments: dict[str, object], language: str) -> str:
    """Return one address of several that share a name and differ in what they hand on."""
    with translation.override(language):
        return reverse(name, kwargs=arguments)


def _walk(resolver: URLResolver, prefix: str = ""):
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLPattern):
            yield f"{prefix}{pattern.name}", pattern
        else:
            inner = f"{prefix}{pattern.namespace}:" if pattern.namespace else prefix
            yield from _walk(pattern, inner)


def undone(client: Client, method: str, url: str) -> HttpResponseBase:
    """Ask for a page, and take back what that changed."""
    before = transaction.savepoint()
    answer = getattr(client, method)(url)
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    answer.text_read = body.decode()
    transaction.savepoint_rollback(before)
    return answer


def leaks(name: str, text: str, person: str) -> list[str]:
    """Return what the text says that this person must not read."""
    if name == "accounts:outbox":
        # The demo's page of mails is everybody's; a real site has none.
        return []
    if person == "seller":
        kept: tuple[str, ...] = BUYERS_SECRETS
    elif person in BUYERS:
        kept = SELLERS_SECRETS
    else:
        kept = (*BUYERS_SECRETS, *SHARED_SECRETS, *SELLERS_SECRETS)
    return [secret for secret in kept if secret in text]


def expected(rule: Rule, person: str, *, method: str) -> int:
    status = rule.get if method == "get" else rule.post
    if person == "nobody" and rule.nobody == 401:
        # The API asks who it is before anything else.
        return rule.nobody
    # A method that an address does not know is refused before it is asked who sends it.
    if status == 405 or person in rule.who:
        return status
    return rule.nobody if person == "nobody" and rule.who else 404


def test_every_address_has_its_rule(market):
    named = {name for name in all_addresses(market) if not name.startswith(OF_ALLAUTH)}

    assert named == set(RULES)


@pytest.mark.parametrize("person", PEOPLE)
def test_every_address_answers_as_its_rule_says_and_tells_nothing_of_others(market, person):
    client = market.browser_of(person)
    before = counted()

    for language, method in (("en", "get"), ("en", "post"), ("fr", "get")):
        for name, url in all_addresses(market, language=language).items():
            if name.startswith(OF_ALLAUTH):
                continue
            answer = undone(client, method, url)
            asked = (person, language, method, name)
            status = expected(RULES[name], person, method=method)
            assert (asked, answer.status_code) == (asked, status)
            assert (asked, leaks(name, answer.text_read, person)) == (asked, [])

    assert counted() == before


@pytest.mark.parametrize("person", PEOPLE)
def test_the_pages_of_sign_in_and_second_factor_never_fail(market, person):
    client = market.browser_of(person)

    for method in ("get", "post"):
        for name, url in all_addresses(market).items():
            if name.startswith(OF_ALLAUTH):
                answer = undone(client, method, url)
                assert (name, answer.status_code in {200, 302, 404, 405, 429}) == (name, True)


def test_the_secrets_are_such_that_a_leak_would_show(market):
    pages = {
        (who, language): "".join(
            undone(market.browser_of(who), "get", url).text_read
            for url in all_addresses(market, language=language).values()
        )
        for who, language in (("buyer", "en"), ("buyer", "fr"), ("seller", "en"))
    }
    text = "".join(pages.values())

    secrets = chain(BUYERS_SECRETS, SHARED_SECRETS, SELLERS_SECRETS)
    assert [secret for secret in secrets if secret not in text] == []


def test_a_form_without_its_token_changes_nothing(market):
    before = counted()

    for person in ("nobody", "buyer", "seller"):
        client = market.browser_of(person, checks_csrf=True)
        for name, url in all_addresses(market).items():
            if name in TAKES_FOREIGN_POSTS or name.startswith(OF_API):
                continue
            assert (name, client.post(url).status_code) == (name, 403)

    assert counted() == before


@pytest.mark.parametrize("method", ["put", "patch", "delete", "trace"])
def test_no_address_takes_a_method_that_it_does_not_know(market, method):
    client = market.browser_of("buyer")
    before = counted()

    for name, url in all_addresses(market).items():
        if not name.startswith(OF_ALLAUTH):
            assert (name, getattr(client, method)(url).status_code) == (name, 405)

    assert counted() == before


def test_what_answers_get_answers_head_without_a_body(market):
    client = market.browser_of("buyer")

    for name, url in all_addresses(market).items():
        asked, looked = undone(client, "get", url), undone(client, "head", url)
        assert (name, looked.status_code) == (name, asked.status_code)
        assert looked.text_read == ""


class TestAfterSignIn:
    def test_a_reader_comes_back_to_the_page(self, market):
        url = address_of("marketplace:orders") + "?page=2"

        answer = market.browser_of("nobody").get(url)

        assert answer.url == address_of("account_login") + "?next=/en/orders/%3Fpage%3D2"

    def test_who_pressed_a_button_comes_back_to_the_page_that_it_stood_on(self, market):
        client = market.browser_of("nobody")
        order = address_of("marketplace:order", market.waiting.pk)
        button = address_of("marketplace:order_cancel", market.waiting.pk)

        answer = client.post(button, headers={"referer": f"http://testserver{order}?a=1"})

        assert answer.url == address_of("account_login") + f"?next={order}%3Fa%3D1"

    @pytest.mark.parametrize(
        "before", ["", "http://evil.example/en/", "http://[", "//evil.example"]
    )
    def test_a_button_pressed_from_elsewhere_leads_to_no_dead_end(self, market, before):
        """What was posted is lost: the button's own address would answer 405."""
        client = market.browser_of("nobody")

        for name, url in all_addresses(market).items():
            if name in RULES and (RULES[name].get, RULES[name].post) == (405, 302):
                answer = client.post(url, headers={"referer": before})
                assert answer.url == address_of("account_login")


class TestRoles:
    def test_a_person_without_any_membership_finds_no_page_of_an_organisation(self, market):
        Membership.objects.filter(user=market.people["stranger"]).delete()
        client = market.browser_of("stranger")

        for name in ("marketplace:dashboard", "billing:wallets", "marketplace:servers"):
            assert client.get(address_of(name)).status_code == 404

    def test_a_former_member_acts_no_more(self, market):
        client = market.browser_of("viewer")
        client.post(address_of("accounts:switch", market.buyers.pk))
        market.membership.delete()

        answer = client.get(address_of("marketplace:order", market.waiting.pk))

        assert answer.status_code == 404

    def test_an_invited_person_sees_who_invites_and_nothing_more(self, market):
        client = market.browser_of("invited")

        page = client.get(address_of("accounts:organisations")).content.decode()
        order = client.get(address_of("marketplace:order", market.waiting.pk))

        assert "Zebra Research" in page
        assert order.status_code == 404


class TestAdministration:
    def test_lets_nobody_in_without_a_second_factor(self, market):
        statuses = {}
        for person in (*PEOPLE, "admin"):
            client = market.browser_of(person)
            answers = [client.get(url) for url in self.addresses()]
            statuses[person] = {answer.status_code for answer in answers}

        # Everybody is sent to the site's own sign-in, which lets staff alone go on.
        for person in PEOPLE:
            assert (person, statuses[person]) == (person, {302})
        assert statuses["admin"] == {200}

    def test_its_entrance_does_not_exist_for_customers(self, market):
        for person in ("stranger", "buyer", "seller"):
            answer = market.browser_of(person).get(address_of("admin:login"))
            assert answer.status_code == 404

    def test_staff_without_a_second_factor_are_sent_to_set_one_up(self, market):
        answer = market.browser_of("staff").get(address_of("admin:login"))

        assert answer.url == address_of("mfa_activate_totp")

    def test_the_clock_is_moved_by_staff_with_a_second_factor_only(self, market):
        for person in PEOPLE:
            answer = market.browser_of(person).post(address_of("admin:advance", "hour"))
            assert answer.status_code == 302
            assert "/advance/" in answer.url

    @staticmethod
    def addresses() -> list[str]:
        return [
            address_of(f"admin:{name}")
            for name in (
                "index",
                "accounts_user_changelist",
                "billing_journal_changelist",
                "marketplace_bid_changelist",
                "marketplace_seller_changelist",
            )
        ]
