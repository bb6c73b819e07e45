"""The API: who may ask, what is asked, what is answered."""

import hmac
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus

from billing.gateways.stripe_double import objects, payments, sessions
from billing.gateways.stripe_double.chaos import ApiChaos, ApiFault
from billing.gateways.stripe_double.config import API_VERSION, LIVE_KEY_PREFIXES
from billing.gateways.stripe_double.errors import ApiError, bad_parameter, resource_missing
from billing.gateways.stripe_double.idempotency import Answer, Ask
from billing.gateways.stripe_double.listing import PAGING, expand, list_page
from billing.gateways.stripe_double.params import Params, decode
from billing.gateways.stripe_double.parts import Parts
from billing.gateways.stripe_double.payments import Act
from billing.gateways.stripe_double.store import Document, new_id
from billing.gateways.stripe_double.web import Reply, Request, json_reply

# Versions of one release train only add to one another; another train may change shapes.
RELEASE = API_VERSION.partition(".")[2]

REFUND_REASONS = frozenset({"duplicate", "fraudulent", "requested_by_customer"})
REFUND_PARAMS = frozenset({"amount", "charge", "metadata", "payment_intent", "reason"})
CUSTOMER_PARAMS = frozenset({"description", "email", "metadata", "name"})

_NO_PARAMS: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Call:
    """One API call, past the door."""

    act: Act
    values: Document
    origin: str
    object_id: str


Endpoint = Callable[[Call], Document]


@dataclass(frozen=True, kw_only=True)
class Resource:
    """How objects of one kind are found. ``filters`` are the fields that a list may be cut by."""

    collection: str
    noun: str
    filters: frozenset[str] = frozenset()


SESSIONS = Resource(
    collection="checkout_sessions",
    noun="checkout.session",
    filters=frozenset({"customer", "payment_intent", "status"}),
)
RESOURCES = {
    "checkout/sessions": SESSIONS,
    "payment_intents": Resource(
        collection="payment_intents", noun="payment_intent", filters=frozenset({"customer"})
    ),
    "charges": Resource(
        collection="charges", noun="charge", filters=frozenset({"customer", "payment_intent"})
    ),
    "balance_transactions": Resource(
        collection="balance_transactions",
        noun="balance transaction",
        filters=frozenset({"currency", "source", "type"}),
    ),
    "refunds": Resource(
        collection="refunds", noun="refund", filters=frozenset({"charge", "payment_intent"})
    ),
    "customers": Resource(collection="customers", noun="customer", filters=frozenset({"email"})),
    "events": Resource(collection="events", noun="event", filters=frozenset({"type"})),
}


def answer_api(*, parts: Parts, request: Request) -> Reply:
    """Answer one call to ``/v1/``, errors included."""
    request_id = new_id("req")
    fault = parts.chaos.take_api(request.path)
    headers = {"request_id": request_id, "stripe_version": API_VERSION}
    try:
        answer = _answer(parts=parts, request=request, request_id=request_id, fault=fault)
    except ApiError as refused:
        headers["stripe_should_retry"] = (
            "true" if refused.status == HTTPStatus.CONFLICT else "false"
        )
        return json_reply(refused.body(), status=refused.status, **headers)
    if answer.is_replayed:
        headers["idempotent_replayed"] = "true"
    if answer.status >= HTTPStatus.BAD_REQUEST:
        retry = answer.status == HTTPStatus.SERVICE_UNAVAILABLE
        headers["stripe_should_retry"] = "true" if retry else "false"
    if fault is not None and fault.fault is ApiFault.LOST_REPLY:
        return Reply(is_lost=True)
    return json_reply(answer.body, status=answer.status, **headers)


def check_key(*, parts: Parts, request: Request) -> None:
    """Refuse a caller without this double's key, and above all one with a live key."""
    key = request.headers.get("authorization", "").removeprefix("Bearer ")
    if key.startswith(LIVE_KEY_PREFIXES):
        raise _unauthorised("This is a test double: never send it a live API key.")
    if not key:
        raise _unauthorised("You did not provide an API key.")
    if not hmac.compare_digest(key.encode(), parts.config.api_key.encode()):
        raise _unauthorised(f"Invalid API Key provided: {key[:8]}***")


def _unauthorised(message: str) -> ApiError:
    return ApiError(message, status=HTTPStatus.UNAUTHORIZED, is_recorded=False)


def _answer(*, parts: Parts, request: Request, request_id: str, fault: ApiChaos | None) -> Answer:
    check_key(parts=parts, request=request)
    _check_version(request)
    if fault is not None and fault.fault is ApiFault.UNAVAILABLE:
        return _failure(HTTPStatus.SERVICE_UNAVAILABLE)
    endpoint, object_id = _route(request)
    values = decode(request.query if request.method == "GET" else request.body)

    def act() -> Answer:
        return _perform(
            parts=parts,
            request=request,
            fault=fault,
            request_id=request_id,
            perform=lambda acting: _shown(
                endpoint,
                Call(act=acting, values=values, origin=request.origin, object_id=object_id),
            ),
        )

    key = request.headers.get("idempotency-key", "")
    if request.method == "GET" or not key:
        return act()
    ask = Ask(
        key=key, method=request.method, path=request.path, params=values, now=int(time.time())
    )
    return parts.keys.answer(ask=ask, act=act)


def _perform(
    *,
    parts: Parts,
    request: Request,
    fault: ApiChaos | None,
    request_id: str,
    perform: Callable[[Act], Document],
) -> Answer:
    if fault is not None and fault.fault is ApiFault.SLOW:
        time.sleep(fault.delay_seconds)
    if fault is not None and fault.fault is ApiFault.ERROR:
        return _failure(HTTPStatus.INTERNAL_SERVER_ERROR)
    note = {"id": request_id, "idempotency_key": request.headers.get("idempotency-key")}
    try:
        with parts.acting(request=note) as acting:
            body = perform(acting)
    except ApiError as refused:
        return Answer(status=refused.status, body=refused.body(), is_recorded=refused.is_recorded)
    # A copy, since what is remembered must not follow later changes of the object.
    return Answer(status=HTTPStatus.OK, body=json.loads(json.dumps(body)))


def _failure(status: HTTPStatus) -> Answer:
    error = ApiError(
        "An error occurred in this double, on demand.", status=status, kind="api_error"
    )
    is_recorded = status is HTTPStatus.INTERNAL_SERVER_ERROR
    return Answer(status=status, body=error.body(), is_recorded=is_recorded)


def _check_version(request: Request) -> None:
    version = request.headers.get("stripe-version", API_VERSION)
    if version.partition(".")[2] != RELEASE:
        message = f"This double speaks version {API_VERSION} only, not {version}."
        raise ApiError(message, is_recorded=False)


def _shown(endpoint: Endpoint, call: Call) -> Document:
    paths = Params({"expand": call.values.get("expand", [])}, known=_NO_PARAMS).sequence("expand")
    document = endpoint(call)
    if document["object"] != "list":
        return expand(store=call.act.store, document=document, paths=paths)
    inner = [str(path).removeprefix("data.") for path in paths]
    shown = [expand(store=call.act.store, document=item, paths=inner) for item in document["data"]]
    return {**document, "data": shown}


def _route(request: Request) -> tuple[Endpoint, str]:
    for method, pattern, endpoint in _ROUTES:
        found = pattern.fullmatch(request.path)
        if found and method == request.method:
            return endpoint, found.groupdict().get("id", "")
    raise ApiError(
        f"Unrecognized request URL ({request.method}: {request.path}).",
        status=HTTPStatus.NOT_FOUND,
        is_recorded=False,
    )


def _retrieve(resource: Resource) -> Endpoint:
    def endpoint(call: Call) -> Document:
        Params(call.values, known=_NO_PARAMS)
        return _found(call, resource)

    return endpoint


def _found(call: Call, resource: Resource) -> Document:
    document = call.act.store.find(resource.collection, call.object_id)
    if document is None:
        raise resource_missing(noun=resource.noun, object_id=call.object_id)
    return document


def _list(resource: Resource, url: str) -> Endpoint:
    def endpoint(call: Call) -> Document:
        is_typed = "type" in resource.filters
        known = PAGING | resource.filters | ({"types"} if is_typed else set())
        params = Params(call.values, known=known)
        documents = call.act.store.newest_first(resource.collection)
        for name in resource.filters:
            wanted = params.text(name)
            documents = [d for d in documents if wanted is None or d[name] == wanted]
        types = params.sequence("types")
        documents = [d for d in documents if not types or d["type"] in types]
        return list_page(documents=documents, params=params, url=url)

    return endpoint


def _create_session(call: Call) -> Document:
    return sessions.create_session(act=call.act, values=call.values, origin=call.origin)


def _expire_session(call: Call) -> Document:
    Params(call.values, known=_NO_PARAMS)
    session = _found(call, SESSIONS)
    if session["status"] != "open":
        message = (
            'Only Checkout Sessions with a status in ["open"] can be expired. This Checkout '
            f"Session has a status of {session['status']}."
        )
        raise ApiError(message)
    payments.expire(act=call.act, session=session)
    return session


def _create_customer(call: Call) -> Document:
    params = Params(call.values, known=CUSTOMER_PARAMS)
    fields = {name: params.text(name) for name in ("description", "email", "name")}
    document = objects.customer(now=call.act.now, fields={**fields, "metadata": params.metadata()})
    call.act.store.save("customers", document)
    call.act.announce("customer.created", document)
    return document


def _create_refund(call: Call) -> Document:
    params = Params(call.values, known=REFUND_PARAMS)
    amount = params.integer("amount")
    if amount is not None and amount < 1:
        message = "This value must be greater than or equal to 1."
        raise bad_parameter(message, param="amount", code="parameter_invalid_integer")
    fields = {
        "metadata": params.metadata(),
        "reason": params.one_of("reason", REFUND_REASONS),
    }
    charge = _charge_to_refund(call.act, params)
    return payments.refund(act=call.act, charge=charge, amount=amount, fields=fields)


def _charge_to_refund(act: Act, params: Params) -> Document:
    intent_id, charge_id = params.text("payment_intent"), params.text("charge")
    if (intent_id is None) == (charge_id is None):
        message = "One of the following params should be provided for this request: payment_intent or charge."
        raise bad_parameter(message, param="payment_intent")
    if intent_id is not None:
        intent = act.store.find("payment_intents", intent_id)
        if intent is None:
            raise resource_missing(
                noun="payment_intent", object_id=intent_id, param="payment_intent"
            )
        charge_id = intent["latest_charge"]
    charge = act.store.find("charges", charge_id or "")
    if charge is None and params.text("charge"):
        raise resource_missing(noun="charge", object_id=charge_id or "", param="charge")
    if charge is None or not charge["paid"]:
        message = f"This PaymentIntent ({intent_id}) does not have a successful charge to refund."
        raise ApiError(message, code="payment_intent_unexpected_state")
    return charge


def _routes() -> list[tuple[str, re.Pattern[str], Endpoint]]:
    routes: list[tuple[str, str, Endpoint]] = [
        ("POST", "/v1/checkout/sessions", _create_session),
        ("POST", "/v1/checkout/sessions/(?P<id>[^/]+)/expire", _expire_session),
        ("POST", "/v1/customers", _create_customer),
        ("POST", "/v1/refunds", _create_refund),
    ]
    for name, resource in RESOURCES.items():
        routes.append(("GET", f"/v1/{name}", _list(resource, f"/v1/{name}")))
        routes.append(("GET", f"/v1/{name}/(?P<id>[^/]+)", _retrieve(resource)))
    return [(method, re.compile(pattern), endpoint) for method, pattern, endpoint in routes]


_ROUTES = _routes()
