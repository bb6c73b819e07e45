"""The hosted page at work: what its forms do, and where the browser goes next."""

import re
import time
from dataclasses import dataclass
from urllib.parse import parse_qsl

from billing.gateways.stripe_double import pages, payments
from billing.gateways.stripe_double.cards import Card, find_card
from billing.gateways.stripe_double.parts import Parts
from billing.gateways.stripe_double.payments import Act, Outcome
from billing.gateways.stripe_double.store import Document
from billing.gateways.stripe_double.texts import Texts, texts_for
from billing.gateways.stripe_double.web import Reply, Request, redirect

FIELDS_AT_MOST = 20

_PATH = re.compile(r"/c/pay/(?P<id>[A-Za-z0-9_]+)(?P<bank>/authenticate)?")
_EXPIRY = re.compile(r"(?P<month>0[1-9]|1[0-2]) ?/ ?(?:20)?(?P<year>\d\d)", re.ASCII)
_CVC = re.compile(r"\d{3,4}", re.ASCII)
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")

_FAILURES = {
    "insufficient_funds": "insufficient_funds",
    "live_mode_test_card": "live_mode_test_card",
}


@dataclass(frozen=True, kw_only=True)
class Visit:
    """One look at, or one post to, the page of an open session."""

    act: Act
    session: Document
    texts: Texts
    form: dict[str, str]


def answer_page(*, parts: Parts, request: Request) -> Reply:
    """Answer a browser under ``/c/``."""
    if request.path == pages.STYLE_PATH:
        return pages.style_sheet()
    accept_language = request.headers.get("accept-language", "")
    found = _PATH.fullmatch(request.path)
    with parts.acting() as act:
        session = act.store.find("checkout_sessions", found["id"]) if found else None
        if found is None or session is None:
            return pages.missing_page(texts=texts_for(locale=None, accept_language=accept_language))
        texts = texts_for(locale=session["locale"], accept_language=accept_language)
        visit = Visit(act=act, session=session, texts=texts, form=_form(request))
        if session["status"] != "open":
            return _closed(visit, method=request.method)
        if found["bank"]:
            return _at_the_bank(visit, method=request.method)
        return _at_the_form(visit, method=request.method)


def _form(request: Request) -> dict[str, str]:
    try:
        return dict(parse_qsl(request.body, max_num_fields=FIELDS_AT_MOST))
    except ValueError:
        return {}


def _closed(visit: Visit, *, method: str) -> Reply:
    if visit.session["status"] == "expired":
        return pages.expired_page(session=visit.session, texts=visit.texts)
    if method == "POST":
        return redirect(_success_url(visit.session))
    return pages.paid_page(texts=visit.texts, back_url=_success_url(visit.session))


def _at_the_form(visit: Visit, *, method: str) -> Reply:
    if method != "POST":
        return _form_page(visit, values={}, errors={}, failure=_last_failure(visit))
    errors = _errors(visit)
    card = find_card(visit.form.get("card_number", ""))
    if errors or card is None:
        kept = {name: text for name, text in visit.form.items() if name != "cvc"}
        return _form_page(visit, values=kept, errors=errors, failure=None)
    return _after_card(visit, card=card)


def _after_card(visit: Visit, *, card: Card) -> Reply:
    outcome = payments.submit_card(
        act=visit.act, session=visit.session, card=card, billing=_billing(visit)
    )
    page = f"/c/pay/{visit.session['id']}"
    if outcome is Outcome.PAID:
        return redirect(_success_url(visit.session))
    if outcome is Outcome.NEEDS_AUTHENTICATION:
        return redirect(f"{page}/authenticate")
    return redirect(page)


def _at_the_bank(visit: Visit, *, method: str) -> Reply:
    page = f"/c/pay/{visit.session['id']}"
    intent = visit.act.store.find("payment_intents", visit.session["payment_intent"] or "")
    if intent is None or intent["status"] != "requires_action":
        return redirect(page)
    outcome = visit.form.get("outcome")
    if method != "POST" or outcome not in {"authenticate", "fail"}:
        return pages.authentication_page(session=visit.session, texts=visit.texts)
    ended = payments.answer_authentication(
        act=visit.act, session=visit.session, is_authenticated=outcome == "authenticate"
    )
    return redirect(_success_url(visit.session) if ended is Outcome.PAID else page)


def _form_page(
    visit: Visit, *, values: dict[str, str], errors: dict[str, str], failure: str | None
) -> Reply:
    return pages.payment_page(
        session=visit.session, texts=visit.texts, values=values, errors=errors, failure=failure
    )


def _last_failure(visit: Visit) -> str | None:
    intent = visit.act.store.find("payment_intents", visit.session["payment_intent"] or "")
    error = intent["last_payment_error"] if intent else None
    if error is None:
        return None
    if error["code"] == "payment_intent_authentication_failure":
        return "authentication_failed"
    return _FAILURES.get(error["decline_code"], "generic_decline")


def _errors(visit: Visit) -> dict[str, str]:
    form = {name: text.strip() for name, text in visit.form.items()}
    errors = {}
    if not visit.session["customer_email"] and not _EMAIL.fullmatch(form.get("email", "")):
        errors["email"] = "email_wrong"
    if find_card(form.get("card_number", "")) is None:
        errors["card_number"] = "card_number_wrong"
    expiry = _EXPIRY.fullmatch(form.get("expiry", ""))
    if expiry is None:
        errors["expiry"] = "expiry_wrong"
    elif _is_past(year=2000 + int(expiry["year"]), month=int(expiry["month"]), now=visit.act.now):
        errors["expiry"] = "expiry_past"
    if not _CVC.fullmatch(form.get("cvc", "")):
        errors["cvc"] = "cvc_wrong"
    if not form.get("name"):
        errors["name"] = "name_wrong"
    return errors


def _is_past(*, year: int, month: int, now: int) -> bool:
    today = time.gmtime(now)
    return (year, month) < (today.tm_year, today.tm_mon)


def _billing(visit: Visit) -> Document:
    return {
        "address": {
            "city": None,
            "country": "FR",
            "line1": None,
            "line2": None,
            "postal_code": None,
            "state": None,
        },
        "email": visit.session["customer_email"] or visit.form["email"].strip(),
        "name": visit.form["name"].strip(),
        "phone": None,
        "tax_id": None,
    }


def _success_url(session: Document) -> str:
    url: str = session["success_url"]
    return url.replace("{CHECKOUT_SESSION_ID}", session["id"])
