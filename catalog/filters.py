"""The filters of the list of GPU models: read from the address, applied, and relaxed.

The address is the whole state: nothing is remembered elsewhere. A value that means nothing is
left out and named, so that a mistyped link still shows a list; unknown parameters do nothing.
Every active filter is a `Criterion`, and a model is shown when all criteria accept it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from billing.money import Currency
from catalog.content.use_cases import cards_of, use_case_keys
from catalog.fits import FILTER_JOBS, WELL_KNOWN, Wanted
from catalog.forms import read_price
from catalog.models import GpuModel
from catalog.ordering import DEFAULT_SORT, Order, read_order
from catalog.queries_listed import ListedGpu
from sizing.fits import Job
from sizing.shapes.language_models import all_language_models

MAX_MEMORY_GB = 1_000  # Above every card; a longer number is a mistake.
MAX_TYPED_LENGTH = 40  # Enough to recognise one's own text.
SEGMENT_LABELS: dict[str, str | Promise] = {
    "data-centre": _("Data centre"),
    "workstation": _("Workstation"),
    "consumer": _("Consumer"),
}
SHOW_OFFERED, SHOW_ALL = "offered", "all"


@dataclass(frozen=True, slots=True)
class Ignored:
    """A value of the address that was left out: whose, what was typed, and why if it helps."""

    label: str | Promise
    typed: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One active filter: the parameters that set it, and which models it accepts."""

    key: str
    parameters: tuple[str, ...]
    accepts: Callable[[ListedGpu], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What the address asks for. ``show`` is empty when it leaves that to the market."""

    use_case: str
    memory_gb: int | None
    architecture: str
    vendor: str
    segments: tuple[str, ...]
    price_micro: int | None
    price_typed: str
    price_refusal: str
    wanted: Wanted | None
    job: Job
    has_nvlink: bool
    show: str
    order: Order
    ignored: tuple[Ignored, ...]

    def shows_only_offered(self, rows: Iterable[ListedGpu]) -> bool:
        """Tell whether models without an offer are hidden: by choice, or while any has one."""
        if self.show:
            return self.show == SHOW_OFFERED
        return any(row.is_offered for row in rows)

    def criteria(self) -> list[Criterion]:
        """Return the active filters, in the order of the form; "on offer now" apart."""
        chosen = (
            self._use_case(),
            self._wanted(),
            self._memory(),
            self._price(),
            self._segments(),
            self._architecture(),
            self._vendor(),
            self._nvlink(),
        )
        return [criterion for criterion in chosen if criterion is not None]

    def _use_case(self) -> Criterion | None:
        if not self.use_case:
            return None
        cards = frozenset(cards_of(self.use_case))
        return _criterion("cards", lambda row: row.gpu.slug in cards)

    def _wanted(self) -> Criterion | None:
        wanted = self.wanted
        if wanted is None:
            return None
        return _criterion(
            "model",
            lambda row: wanted.on(memory_gb=row.gpu.memory_gb).fits,
            also="method",
        )

    def _memory(self) -> Criterion | None:
        least_gb = self.memory_gb
        if least_gb is None:
            return None
        return _criterion("memory", lambda row: row.gpu.memory_gb >= least_gb)

    def _price(self) -> Criterion | None:
        most_micro = self.price_micro
        if most_micro is None:
            return None
        return _criterion(
            "price", lambda row: row.price_micro is not None and row.price_micro <= most_micro
        )

    def _segments(self) -> Criterion | None:
        if not self.segments:
            return None
        return _criterion("segment", lambda row: row.gpu.segment in self.segments)

    def _architecture(self) -> Criterion | None:
        if not self.architecture:
            return None
        return _criterion("architecture", lambda row: row.gpu.architecture == self.architecture)

    def _vendor(self) -> Criterion | None:
        if not self.vendor:
            return None
        return _criterion("vendor", lambda row: row.gpu.vendor == self.vendor)

    def _nvlink(self) -> Criterion | None:
        if not self.has_nvlink:
            return None
        return _criterion("nvlink", lambda row: row.gpu.has_nvlink)


def read_filters(query: QueryDict, *, gpus: Iterable[GpuModel], currency: Currency) -> Filters:
    """Return what ``query`` asks for; known values are those of ``gpus``."""
    models = list(gpus)
    reader = _Reader(query)
    price_micro, price_refusal = reader.price(currency)
    job = reader.one_of("method", _("Method"), [job.value for job in FILTER_JOBS])
    return Filters(
        use_case=reader.one_of("cards", _("Cards"), use_case_keys()),
        memory_gb=reader.memory(),
        architecture=reader.one_of(
            "architecture", _("Architecture"), {gpu.architecture for gpu in models}
        ),
        vendor=reader.one_of("vendor", _("Vendor"), {gpu.vendor for gpu in models}),
        segments=reader.some_of("segment", _("Segment"), SEGMENT_LABELS),
        price_micro=price_micro,
        price_typed=reader.text("price")[:MAX_TYPED_LENGTH],
        price_refusal=price_refusal,
        wanted=reader.wanted(Job(job or Job.QLORA)),
        job=Job(job or Job.QLORA),
        has_nvlink=reader.one_of("nvlink", "NVLink", ["1"]) == "1",
        show=reader.one_of("show", _("On offer"), [SHOW_OFFERED, SHOW_ALL]),
        order=reader.order(),
        ignored=tuple(reader.ignored),
    )


def _criterion(key: str, accepts: Callable[[ListedGpu], bool], *, also: str = "") -> Criterion:
    return Criterion(key=key, parameters=(key, also) if also else (key,), accepts=accepts)


class _Reader:
    """Reads one address; keeps what it could not read."""

    def __init__(self, query: QueryDict) -> None:
        self._query = query
        self.ignored: list[Ignored] = []

    def one_of(self, key: str, label: str | Promise, known: Iterable[str]) -> str:
        text = self.text(key)
        if not text or text in known:
            return text
        self._ignore(label, text)
        return ""

    def some_of(self, key: str, label: str | Promise, known: Iterable[str]) -> tuple[str, ...]:
        typed = dict.fromkeys(text for text in self._query.getlist(key) if text)
        for text in typed:
            if text not in known:
                self._ignore(label, text)
        return tuple(text for text in known if text in typed)

    def memory(self) -> int | None:
        text = self.text("memory")
        if not text:
            return None
        if text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= MAX_MEMORY_GB:
            return int(text[:9])
        self._ignore(_("Memory"), text)
        return None

    def price(self, currency: Currency) -> tuple[int | None, str]:
        """Return the highest price, or None and the words that refuse what was typed."""
        text = self.text("price")
        micro, refusal = read_price(text, currency=currency)
        if refusal:
            self._ignore(_("Highest price"), text, reason=refusal)
        return micro, refusal

    def wanted(self, job: Job) -> Wanted | None:
        slug = self.one_of("model", _("Model"), WELL_KNOWN)
        return Wanted(model=all_language_models()[slug], job=job) if slug else None

    def order(self) -> Order:
        text = self.text("sort")
        order = read_order(text or DEFAULT_SORT)
        if order is None:
            self._ignore(_("Sort order"), text)
            return Order(DEFAULT_SORT, is_descending=False)
        return order

    def text(self, key: str) -> str:
        return self._query.get(key, "").strip()

    def _ignore(self, label: str | Promise, text: str, *, reason: str = "") -> None:
        self.ignored.append(Ignored(label, text[:MAX_TYPED_LENGTH], reason))
