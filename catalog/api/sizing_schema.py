"""How the machine-readable description tells the fields of a job and the refusals."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, inline_serializer
from rest_framework import serializers

from billing.money import Currency
from sizing.plain.benchmarked import BENCHMARKED_FIELDS, BenchmarkedTask
from sizing.plain.field_help import FIELD_HELP
from sizing.plain.jobs import JOB_FIELDS, Task, field_names

# Fields that are not whole numbers and whose choices are too many to list, or of no fixed number.
_TEXTS = frozenset(
    {"model", "config", "recipe", "weight_format", "lora_targets", "diffusion_model", "code"}
)
_FLAG = ("true", "false")
CARD = OpenApiParameter(
    "card", str, many=True, description="Only this card, by its slug; may be repeated."
)
CURRENCY = OpenApiParameter(
    "currency", str, enum=[each.value for each in Currency], description="Currency of the prices."
)
TOP = OpenApiParameter("top", int, description="Only so many of the first rows.")
GPUS_TO_TRY = OpenApiParameter("gpus", str, description="Only these numbers of cards, as 1,2,4,8.")


class SizingProblem(serializers.Serializer[dict[str, Any]]):
    """A refusal: the field, a stable key of what is wrong, and a sentence that says what to try."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    code = serializers.CharField()
    field = serializers.CharField()
    problem = serializers.CharField()
    detail = serializers.CharField()


def job_parameters(*, without: tuple[str, ...] = ()) -> list[OpenApiParameter]:
    """Return the fields of every task as they stand in an address."""
    return [
        OpenApiParameter(name, _type(name), enum=_enum(name), description=_about(name))
        for name in _names()
        if name not in without
    ]


def job_body(name: str, *, extra: tuple[OpenApiParameter, ...] = ()) -> serializers.Serializer[Any]:
    """Return the same fields as a body, where a configuration may also be an object."""
    fields: dict[str, serializers.Field[Any, Any, Any, Any]] = {
        each: _field(each) for each in _names()
    }
    for parameter in extra:
        fields[parameter.name] = serializers.CharField(
            required=False, help_text=str(parameter.description)
        )
    return inline_serializer(name, fields)


def _names() -> list[str]:
    models = (name for task in Task for name in field_names(task))
    others = (name for fields in BENCHMARKED_FIELDS.values() for name in fields)
    return list(dict.fromkeys((*models, *others)))


def _choices(name: str) -> tuple[str, ...]:
    if name == "task":
        return tuple(task.value for task in (*Task, *BenchmarkedTask))
    known = (each.get(name) for each in (*JOB_FIELDS.values(), *BENCHMARKED_FIELDS.values()))
    found = (choice for field in known if field is not None for choice in field.choices)
    return tuple(dict.fromkeys(found))


def _enum(name: str) -> list[str] | None:
    choices = () if name in _TEXTS else _choices(name)
    return list(choices) if choices and choices != _FLAG else None


def _type(name: str) -> Any:
    if name in {"parameters_billions", "scene_gb"}:
        return OpenApiTypes.FLOAT
    if name == "has_tied_embeddings" or _choices(name) == _FLAG:
        return OpenApiTypes.BOOL
    return OpenApiTypes.STR if name in _TEXTS or _choices(name) else OpenApiTypes.INT


def _about(name: str) -> str:
    text = FIELD_HELP[name]
    return f"{text[0].upper()}{text[1:]}."


def _field(name: str) -> serializers.Field[Any, Any, Any, Any]:
    options: dict[str, Any] = {"required": False, "help_text": _about(name)}
    if name == "config":
        return serializers.JSONField(**options)
    kinds: dict[Any, type[serializers.Field[Any, Any, Any, Any]]] = {
        OpenApiTypes.INT: serializers.IntegerField,
        OpenApiTypes.BOOL: serializers.BooleanField,
        OpenApiTypes.FLOAT: serializers.FloatField,
    }
    kind = kinds.get(_type(name))
    if kind is not None:
        return kind(**options)
    choices = _enum(name)
    if choices:
        options["help_text"] += f" One of {', '.join(choices)}."
    return serializers.CharField(**options)
