"""The switches under ``/_double/``: chaos, resending, a look inside. Not a part of Stripe.

They take JSON and need the API key, so that no web page a developer visits can throw them.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from billing.gateways.stripe_double import payments
from billing.gateways.stripe_double.api import check_key
from billing.gateways.stripe_double.chaos import (
    ApiChaos,
    ApiFault,
    WebhookChaos,
    WebhookMode,
)
from billing.gateways.stripe_double.errors import ApiError, bad_parameter, resource_missing
from billing.gateways.stripe_double.objects import public
from billing.gateways.stripe_double.parts import Parts
from billing.gateways.stripe_double.store import COLLECTIONS, Document
from billing.gateways.stripe_double.web import Reply, Request, json_reply

# A test of "the same webhook ten times at once" needs ten.
COPIES_AT_MOST = 20
SECONDS_AT_MOST = 60.0
TURNS_AT_MOST = 1_000


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One throw of a switch."""

    parts: Parts
    body: Document
    object_id: str


Hook = Callable[[Turn], Document]


def answer_hook(*, parts: Parts, request: Request) -> Reply:
    """Answer one call under ``/_double/``."""
    try:
        check_key(parts=parts, request=request)
        hook, object_id = _hook(request)
        turn = Turn(parts=parts, body=_body(request), object_id=object_id)
        return json_reply(hook(turn))
    except ApiError as refused:
        return json_reply(refused.body(), status=refused.status)


def _body(request: Request) -> Document:
    try:
        body = json.loads(request.body or "{}")
    except ValueError as broken:
        raise bad_parameter("The body is not JSON.", param="body") from broken
    if not isinstance(body, dict):
        raise bad_parameter("The body is not a JSON object.", param="body")
    return body


def _hook(request: Request) -> tuple[Hook, str]:
    for method, pattern, hook in _HOOKS:
        found = pattern.fullmatch(request.path)
        if found and method == request.method:
            return hook, found.groupdict().get("id", "")
    raise resource_missing(noun="switch", object_id=request.path)


def _set_webhooks(turn: Turn) -> Document:
    turn.parts.chaos.set_webhooks(
        WebhookChaos(
            mode=_word(turn.body, "mode", WebhookMode),
            copies=_number(turn.body, "copies", default=2, most=COPIES_AT_MOST),
            delay_seconds=_seconds(turn.body, "delay_seconds"),
            acts_left=_optional_number(turn.body, "acts"),
        )
    )
    return turn.parts.chaos.describe()


def _set_api(turn: Turn) -> Document:
    path = turn.body.get("path", "/v1/")
    if not isinstance(path, str):
        raise bad_parameter("The path is not a text.", param="path")
    turn.parts.chaos.set_api(
        ApiChaos(
            fault=_word(turn.body, "fault", ApiFault),
            calls_left=_number(turn.body, "calls", default=1, most=TURNS_AT_MOST),
            delay_seconds=_seconds(turn.body, "delay_seconds"),
            path=path,
        )
    )
    return turn.parts.chaos.describe()


def _clear_chaos(turn: Turn) -> Document:
    turn.parts.chaos.set_webhooks(WebhookChaos())
    turn.parts.chaos.set_api(None)
    turn.parts.chaos.set_fees_late(is_late=False)
    return turn.parts.chaos.describe()


def _set_fees(turn: Turn) -> Document:
    turn.parts.chaos.set_fees_late(is_late=turn.body.get("late") is True)
    return turn.parts.chaos.describe()


def _settle_fee(turn: Turn) -> Document:
    with turn.parts.acting() as act:
        charge = _found(turn, "charges", "charge")
        if charge["balance_transaction"] is not None or not charge["paid"]:
            raise ApiError("This charge waits for no fee.")
        return public(payments.settle_fee(act=act, charge=charge))


def _settle_refund(turn: Turn) -> Document:
    status = turn.body.get("status")
    if status not in {"succeeded", "failed"}:
        raise bad_parameter("The status must be succeeded or failed.", param="status")
    with turn.parts.acting() as act:
        refund = _found(turn, "refunds", "refund")
        if refund["status"] == "failed":
            raise ApiError("This refund has failed for good.")
        payments.settle_refund(act=act, document=refund, is_successful=status == "succeeded")
        return public(refund)


def _resend_event(turn: Turn) -> Document:
    with turn.parts.acting():
        event = _found(turn, "events", "event")
    if not turn.parts.sender.url:
        raise ApiError("No webhook address is set.")
    copies = _number(turn.body, "copies", default=1, most=COPIES_AT_MOST)
    return {"statuses": turn.parts.sender.resend(event=event, copies=copies)}


def _wait_until_idle(turn: Turn) -> Document:
    seconds = _seconds(turn.body, "seconds")
    return {"is_idle": turn.parts.sender.wait_until_idle(seconds)}


def _show_state(turn: Turn) -> Document:
    with turn.parts.acting() as act:
        objects = {
            name: [public(document) for document in act.store.newest_first(name)]
            for name in COLLECTIONS.values()
        }
        deliveries = list(turn.parts.sender.deliveries)
    return {"objects": objects, "deliveries": deliveries, "chaos": turn.parts.chaos.describe()}


def _reset(turn: Turn) -> Document:
    turn.parts.sender.forget()
    turn.parts.store.forget_everything()
    return _clear_chaos(turn)


def _found(turn: Turn, collection: str, noun: str) -> Document:
    document = turn.parts.store.find(collection, turn.object_id)
    if document is None:
        raise resource_missing(noun=noun, object_id=turn.object_id)
    return document


def _word(body: Document, name: str, words: Any) -> Any:
    try:
        return words(body.get(name))
    except ValueError as unknown:
        listed = ", ".join(words)
        raise bad_parameter(f"The {name} must be one of {listed}.", param=name) from unknown


def _number(body: Document, name: str, *, default: int, most: int) -> int:
    number = body.get(name, default)
    if not isinstance(number, int) or not 1 <= number <= most:
        raise bad_parameter(f"{name} must be a whole number from 1 to {most}.", param=name)
    return number


def _optional_number(body: Document, name: str) -> int | None:
    return None if body.get(name) is None else _number(body, name, default=1, most=TURNS_AT_MOST)


def _seconds(body: Document, name: str) -> float:
    seconds = body.get(name, 0)
    if not isinstance(seconds, int | float) or not 0 <= seconds <= SECONDS_AT_MOST:
        raise bad_parameter(f"{name} must be from 0 to {SECONDS_AT_MOST:.0f}.", param=name)
    return float(seconds)


_HOOKS: list[tuple[str, re.Pattern[str], Hook]] = [
    (method, re.compile(pattern), hook)
    for method, pattern, hook in (
        ("GET", "/_double/state", _show_state),
        ("POST", "/_double/webhooks", _set_webhooks),
        ("POST", "/_double/api", _set_api),
        ("POST", "/_double/calm", _clear_chaos),
        ("POST", "/_double/fees", _set_fees),
        ("POST", "/_double/charges/(?P<id>[^/]+)/settle", _settle_fee),
        ("POST", "/_double/refunds/(?P<id>[^/]+)/settle", _settle_refund),
        ("POST", "/_double/events/(?P<id>[^/]+)/resend", _resend_event),
        ("POST", "/_double/idle", _wait_until_idle),
        ("POST", "/_double/reset", _reset),
    )
]
