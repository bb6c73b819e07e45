"""The cards of a use case over the API: each case with the columns of its page.

A row holds what every card has, then the fields of the page's columns. Figures are decimal strings
with the unit in the name, sizes of models are whole billions, and null stands for a figure that
nobody published, or a price that is not there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from django.conf import settings
from drf_spectacular.utils import PolymorphicProxySerializer, inline_serializer
from rest_framework import serializers

from billing.money import MICRO_PER_UNIT, Currency
from catalog.api.serializers import (
    PRICE_THOUSANDTHS,
    GpuListAnswer,
    GpuRowAnswer,
    bandwidth_number,
    instant_text,
    price_text,
)
from catalog.content.use_cases import columns_of, use_case_keys, use_case_text
from catalog.use_cases import cells
from catalog.use_cases.cells import CellOf
from catalog.use_cases.columns import columns
from catalog.use_cases.rows import CaseRow
from sizing.benchmarked.rendering import Basis, render_score
from sizing.fits import Verdict
from sizing.inference import WeightBits

# Its answer came first and holds all three capacities; it stays as it is.
FIRST = "fine-tuning"
# What the answer says of itself is English, like the names of its fields.
ANSWER_LANGUAGE = "en"
# One name for one set of words in the API's description.
VERDICTS = [(verdict.value, verdict.value) for verdict in Verdict]

AnswerOf = Callable[[CaseRow], object]


@dataclass(frozen=True, slots=True)
class ApiField:
    """A field of a row: how the schema describes it, and what it holds."""

    make: Callable[[], serializers.Field[Any, Any, Any, Any]]
    answer: AnswerOf


def _figure(cell: CellOf) -> ApiField:
    def answer(case: CaseRow) -> str | None:
        value = cell(case).value
        return None if value is None else str(value)

    return ApiField(lambda: serializers.CharField(allow_null=True), answer)


def _size(cell: CellOf) -> ApiField:
    return ApiField(serializers.IntegerField, lambda case: cell(case).value)


def _whole(cell: CellOf) -> ApiField:
    return ApiField(
        lambda: serializers.IntegerField(allow_null=True), lambda case: cell(case).value
    )


def _cost(cell: CellOf) -> ApiField:
    def answer(case: CaseRow) -> str | None:
        value = cell(case).value
        return None if value is None else _to_the_thousandth(int(value))

    return ApiField(lambda: serializers.CharField(allow_null=True), answer)


def _verdict(run_key: str) -> ApiField:
    cell = cells.verdict_on(run_key)
    return ApiField(
        lambda: serializers.ChoiceField(choices=VERDICTS), lambda case: str(cell(case).value)
    )


def _to_the_thousandth(micro: int) -> str | None:
    """Return a compared price as the pages show it: half-up to the thousandth."""
    amount = (Decimal(micro) / MICRO_PER_UNIT).quantize(PRICE_THOUSANDTHS, ROUND_HALF_UP)
    return price_text(int(amount * MICRO_PER_UNIT))


def _score_basis(case: CaseRow) -> str | None:
    score = render_score(case.card)
    return score.basis.value if score else None


def _score_submissions(case: CaseRow) -> int | None:
    score = render_score(case.card)
    return score.submissions if score else None


# Memory, bandwidth and the price of one GPU stand in every row.
FIELDS: dict[str, dict[str, ApiField]] = {
    "price": {},
    "memory": {},
    "bandwidth": {},
    "price8": {"price_per_gpu_hour_on_8_gpus": _cost(cells.price_of_eight)},
    "memory-type": {
        "memory_type": ApiField(serializers.CharField, lambda case: case.row.gpu.memory_type)
    },
    "nvlink": {"nvlink_gb_per_s": _figure(cells.figure("nvlink_gb_per_s"))},
    "bf16": {"bf16_dense_tflops": _figure(cells.figure("bf16_dense_tflops"))},
    "tensor16": {"tensor_16_bit_dense_tflops": _figure(cells.tensor16)},
    "fp32": {"fp32_tflops": _figure(cells.figure("fp32_tflops"))},
    "fp64": {"fp64_tflops": _figure(cells.figure("fp64_tflops"))},
    "rt-cores": {
        "has_rt_cores": ApiField(
            lambda: serializers.BooleanField(allow_null=True),
            lambda case: cells.has_rt_cores(case).value,
        )
    },
    "full": {"full_b": _size(cells.full)},
    "full8": {"full_on_8_gpus_b": _size(cells.full_on_eight)},
    "serve16": {"served_16_bit_b": _size(cells.served_at(WeightBits.SIXTEEN))},
    "serve8": {"served_8_bit_b": _size(cells.served_at(WeightBits.EIGHT))},
    "serve4": {"served_4_bit_b": _size(cells.served_at(WeightBits.FOUR))},
    "decode-bound": {"llama_3_8b_bound_tokens_per_s": _size(cells.decode_bound)},
    "decode-measured": {"llama_3_8b_measured_tokens_per_s": _figure(cells.decode_measured)},
    "run-sd3": {"sd3_medium_16_bit": _verdict("sd3-medium-16")},
    "run-flux": {"flux_1_16_bit": _verdict("flux-16")},
    "run-wan": {"wan_2_1_14b_720p": _verdict("wan21-t2v-14b")},
    "blender": {
        "blender_samples_per_minute": _figure(cells.blender),
        "blender_basis": ApiField(
            lambda: serializers.ChoiceField(choices=[b.value for b in Basis], allow_null=True),
            _score_basis,
        ),
        "blender_submissions": ApiField(
            lambda: serializers.IntegerField(allow_null=True), _score_submissions
        ),
    },
    "million-samples": {"price_per_million_samples": _cost(cells.million_samples)},
    "fluidx3d": {"fluidx3d_mlups": _whole(cells.fluidx3d)},
    "fp64-cost": {"price_per_fp64_tflops_hour": _cost(cells.fp64_cost)},
}
# The first answer's own sizes: the other use cases have their own columns.
ONLY_FIRST = frozenset({"qlora_b", "lora16_b", "full_b"})


class SourceAnswer(serializers.Serializer[dict[str, Any]]):
    """Where the measured figures of a column were read, and the day that they hold for."""

    column = serializers.CharField()
    url = serializers.CharField()
    held_on = serializers.DateField()


def case_answer(*, key: str, cases: Sequence[CaseRow], currency: Currency) -> dict[str, object]:
    """Return what one of the later use cases adds to the list: its basis, sources and rows."""
    return {
        "figures_basis": use_case_text(
            key=key,
            language=ANSWER_LANGUAGE,
            site=settings.SITE_NAME,
            programme=settings.SELLER_PROGRAMME_NAME,
        ).note,
        "sources": [
            {"column": column.key, "url": source.url, "held_on": source.held_on.isoformat()}
            for column in columns(key)
            for source in column.sources()
        ],
        "rows": [_row_answer(case, key, currency) for case in cases],
    }


def answer_schema() -> PolymorphicProxySerializer:
    """Return how the schema describes the answers: one shape for each use case."""
    shapes = {key: _shape(key) for key in use_case_keys()}
    return PolymorphicProxySerializer(
        component_name="UseCaseAnswer",
        serializers=list(shapes.values()),
        resource_type_field_name=None,
    )


def row_fields(key: str) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
    """Return the fields of a row of a later use case, by name."""
    fields = {
        name: field for name, field in GpuRowAnswer().get_fields().items() if name not in ONLY_FIRST
    }
    for column in columns_of(key):
        fields |= {name: field.make() for name, field in FIELDS[column].items()}
    return fields


def _row_answer(case: CaseRow, key: str, currency: Currency) -> dict[str, object]:
    gpu = case.row.gpu
    common = {
        "card": gpu.name,
        "slug": gpu.slug,
        "architecture": gpu.architecture,
        "memory_gb": gpu.memory_gb,
        "bandwidth_gb_per_s": bandwidth_number(gpu.bandwidth_gb_per_s),
        "price_per_gpu_hour": price_text(case.row.price_micro),
        "currency": currency.value,
        "as_of": instant_text(case.row.as_of),
    }
    return common | {
        name: field.answer(case)
        for column in columns_of(key)
        for name, field in FIELDS[column].items()
    }


def _shape(key: str) -> serializers.Serializer[Any]:
    name = "".join(word.title() for word in key.split("-"))
    fields = {"use_case": serializers.ChoiceField(choices=[key]), **GpuListAnswer().get_fields()}
    if key != FIRST:
        fields["figures_basis"] = serializers.CharField()
        fields["sources"] = SourceAnswer(many=True)
        fields["rows"] = inline_serializer(f"{name}Row", row_fields(key), many=True)
    return inline_serializer(f"{name}Answer", fields)
