"""Lists and expansion: the parts of the API that look the same for every object."""

import operator
from collections.abc import Callable
from typing import Any

from billing.gateways.stripe_double.errors import bad_parameter, resource_missing
from billing.gateways.stripe_double.objects import public
from billing.gateways.stripe_double.params import Params, whole_number
from billing.gateways.stripe_double.store import COLLECTIONS, Document, Store

LIMIT_DEFAULT = 10
LIMIT_AT_MOST = 100
EXPANSION_DEPTH_AT_MOST = 4

PAGING = frozenset({"created", "ending_before", "limit", "starting_after"})

_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
}


def list_page(*, documents: list[Document], params: Params, url: str) -> Document:
    """Return one page, newest first, as Stripe cuts it."""
    bounds = _bounds(params)
    within = [
        document
        for document in documents
        if all(compare(document["created"], bound) for compare, bound in bounds)
    ]
    limit = _limit(params)
    ending_before = params.text("ending_before")
    if ending_before is not None:
        earlier = within[: _place_of(within, ending_before, "ending_before")]
        return _page(earlier[-limit:], has_more=len(earlier) > limit, url=url)
    starting_after = params.text("starting_after")
    if starting_after is not None:
        within = within[_place_of(within, starting_after, "starting_after") + 1 :]
    return _page(within[:limit], has_more=len(within) > limit, url=url)


def expand(*, store: Store, document: Document, paths: list[Any]) -> Document:
    """Return a public copy in which the named ids are replaced by their objects."""
    shown = public(document)
    for path in paths:
        _expand_path(store=store, shown=shown, path=str(path))
    return shown


def _expand_path(*, store: Store, shown: Document, path: str) -> None:
    node: Any = shown
    steps = path.split(".")
    if len(steps) > EXPANSION_DEPTH_AT_MOST:
        message = "You cannot expand more than 4 levels of a property"
        raise bad_parameter(message, param="expand")
    for step in steps:
        if not isinstance(node, dict) or step not in node:
            raise bad_parameter(f"This property cannot be expanded ({step}).", param="expand")
        if isinstance(node[step], str):
            node[step] = _referred(store=store, object_id=node[step], step=step)
        if node[step] is None:
            return
        node = node[step]


def _referred(*, store: Store, object_id: str, step: str) -> Document:
    collection = COLLECTIONS.get(object_id.split("_", maxsplit=1)[0])
    found = store.find(collection, object_id) if collection else None
    if found is None:
        raise bad_parameter(f"This property cannot be expanded ({step}).", param="expand")
    return public(found)


def _page(documents: list[Document], *, has_more: bool, url: str) -> Document:
    return {"object": "list", "data": documents, "has_more": has_more, "url": url}


def _limit(params: Params) -> int:
    limit = params.integer("limit")
    if limit is None:
        return LIMIT_DEFAULT
    if not 1 <= limit <= LIMIT_AT_MOST:
        message = f"This value must be between 1 and {LIMIT_AT_MOST}."
        raise bad_parameter(message, param="limit")
    return limit


def _bounds(params: Params) -> list[tuple[Callable[[int, int], bool], int]]:
    created = params.raw("created")
    if created is None:
        return []
    if not isinstance(created, dict):
        return [(operator.eq, whole_number(created, param="created"))]
    for name in created:
        if name not in _COMPARISONS:
            raise bad_parameter(f"Received unknown parameter: created[{name}]", param="created")
    return [
        (_COMPARISONS[name], whole_number(bound, param=f"created[{name}]"))
        for name, bound in created.items()
    ]


def _place_of(documents: list[Document], object_id: str, param: str) -> int:
    for place, document in enumerate(documents):
        if document["id"] == object_id:
            return place
    raise resource_missing(noun="object", object_id=object_id, param=param)
