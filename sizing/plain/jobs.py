"""Jobs from plain values and back: one set of field names for addresses, the API and commands.

Reading is strict: a field that is not known, that belongs to the other task, or that has no meaning
beside the others is refused, never dropped. What is left out takes the default of its framework;
without a framework, full training is in mixed precision with AdamW and 16 bytes per parameter.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from enum import StrEnum
from functools import partial
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from sizing.bounds import InputError
from sizing.nearest import nearest
from sizing.plain.values import (
    is_given,
    read_choice,
    read_flag,
    read_number,
    read_whole,
    unknown_choice,
    unknown_name,
)
from sizing.serving.formats import KvFormat, WeightFormat, weight_format_by_slug
from sizing.serving.job import Cache, Engine, ServingJob, Split, check_serving_job
from sizing.serving.job import Counted as ServingCounted
from sizing.shapes.architecture import LanguageModel
from sizing.shapes.by_hand import Dimensions, model_by_hand, model_of_size
from sizing.shapes.config_json import parse_config
from sizing.shapes.language_models import all_language_models
from sizing.training.choices import (
    RECIPES,
    TARGET_SETS,
    Adapter,
    Attention,
    Checkpointing,
    Counted,
    Loss,
    Method,
    Offload,
    Optimizer,
    Precision,
    Quantization,
    Sharding,
    Target,
)
from sizing.training.job import TrainingJob, check_training_job, job_of, recipe_of, with_recipe
from sizing.training.profiles import Profile

DEFAULT_CONTEXT_TOKENS: Final = 8_192
DEFAULT_WEIGHT_FORMAT: Final = "bf16"


class Task(StrEnum):
    """What is done with the model: it learns, or it answers."""

    TRAINING = "training"
    SERVING = "serving"


class JobField(NamedTuple):
    """A field of a job: its attribute, how it is read, and what may be chosen, if it is a choice."""

    attribute: str
    read: Callable[[str, object], Any]
    choices: tuple[str, ...] = ()


def _whole(attribute: str, *, bounds: str = "") -> JobField:
    return JobField(attribute, partial(read_whole, bounds=bounds))


def _flag(attribute: str) -> JobField:
    return JobField(attribute, read_flag, ("true", "false"))


def _choice(attribute: str, kind: type[StrEnum]) -> JobField:
    return JobField(attribute, partial(read_choice, kind=kind), tuple(each.value for each in kind))


def _read_targets(field: str, value: object) -> tuple[Target, ...]:
    """Return the targets of a named set, or of a list of matrices divided by commas."""
    if isinstance(value, str) and value.strip() in TARGET_SETS:
        return TARGET_SETS[value.strip()]
    parts = value.split(",") if isinstance(value, str) else value
    known = {each.value: each for each in Target}
    if not isinstance(parts, list):
        raise unknown_choice(field, value, (*TARGET_SETS, *known))
    targets = []
    for part in parts:
        name = part.strip() if isinstance(part, str) else ""
        if name not in known:
            raise unknown_choice(field, part, (*TARGET_SETS, *known))
        targets.append(known[name])
    return tuple(targets)


def _read_weights(field: str, value: object) -> WeightFormat:
    if not isinstance(value, str):
        raise unknown_name(field, value, ())
    return weight_format_by_slug(value.strip().lower())


# What describes a model that is not in the table.
DIMENSION_FIELDS: Final = tuple(field.name for field in fields(Dimensions))
NEEDED_DIMENSIONS: Final = ("layers", "hidden", "intermediate", "heads", "vocabulary")
MODEL_FIELDS: Final = ("model", "config", "parameters_billions", *DIMENSION_FIELDS)
# How much there is to do: not part of the job, but given beside it.
WORK_FIELDS: Final[Mapping[Task, str]] = MappingProxyType(
    {Task.TRAINING: "training_tokens", Task.SERVING: "generated_tokens"}
)
_RECIPE: Final = "recipe"
TRAINING_FIELDS: Final[Mapping[str, JobField]] = MappingProxyType(
    {
        "method": _choice("method", Method),
        "profile": _choice("profile", Profile),
        "sequence_tokens": _whole("sequence_tokens"),
        "micro_batch": _whole("micro_batch"),
        "accumulation_steps": _whole("accumulation"),
        "lora_rank": _whole("lora_rank"),
        "lora_targets": JobField("lora_targets", _read_targets, tuple(TARGET_SETS)),
        "quantization": _choice("quantization", Quantization),
        "precision": _choice("precision", Precision),
        "optimizer": _choice("optimizer", Optimizer),
        "is_fused_step": _flag("is_fused_step"),
        "galore_rank": _whole("galore_rank"),
        "adapter": _choice("adapter", Adapter),
        "adapter_precision": _choice("adapter_precision", Precision),
        "has_lora_dropout": _flag("has_lora_dropout"),
        "is_packed": _flag("is_packed"),
        "longest_percent": _whole("longest_percent"),
        "checkpointing": _choice("checkpointing", Checkpointing),
        "attention": _choice("attention", Attention),
        "loss": _choice("loss", Loss),
        "is_compiled": _flag("is_compiled"),
        "gpus": _whole("cards"),
        "sharding": _choice("sharding", Sharding),
        "tensor_parallel": _whole("tensor_parallel"),
        "pipeline_parallel": _whole("pipeline_parallel"),
        "offload": _choice("offload", Offload),
        "counted": _choice("counted", Counted),
    }
)
SERVING_FIELDS: Final[Mapping[str, JobField]] = MappingProxyType(
    {
        "weight_format": JobField("weights", _read_weights),
        "context_tokens": _whole("context_tokens"),
        "concurrency": _whole("requests"),
        "kv_format": _choice("kv_format", KvFormat),
        "engine": _choice("engine", Engine),
        "output_tokens": _whole("output_tokens"),
        "prefill_chunk_tokens": _whole("prefill_chunk_tokens"),
        "gpus": _whole("gpus"),
        "split": _choice("split", Split),
        "cache": _choice("cache", Cache),
        "utilization_percent": _whole("utilization_percent"),
        "counted": _choice("counted", ServingCounted),
    }
)
JOB_FIELDS: Final[Mapping[Task, Mapping[str, JobField]]] = MappingProxyType(
    {Task.TRAINING: TRAINING_FIELDS, Task.SERVING: SERVING_FIELDS}
)
_ADAPTERS: Final = (Method.LORA, Method.QLORA)
# Fields that mean nothing unless another one has one of these values.
_ONLY_WITH: Final[Mapping[str, tuple[str, tuple[object, ...]]]] = MappingProxyType(
    {
        _RECIPE: ("method", (Method.FULL,)),
        "precision": ("method", (Method.FULL,)),
        "is_fused_step": ("method", (Method.FULL,)),
        "lora_rank": ("method", _ADAPTERS),
        "lora_targets": ("method", _ADAPTERS),
        "adapter": ("method", _ADAPTERS),
        "adapter_precision": ("method", _ADAPTERS),
        "has_lora_dropout": ("method", _ADAPTERS),
        "quantization": ("method", (Method.QLORA,)),
        "galore_rank": ("optimizer", (Optimizer.GALORE,)),
        "longest_percent": ("is_packed", (False,)),
    }
)
_OF_RECIPES: Final = ("precision", "optimizer", "is_fused_step")


def field_names(task: Task) -> tuple[str, ...]:
    """Return every field that a task takes, in the order in which they are told."""
    recipe = (_RECIPE,) if task is Task.TRAINING else ()
    return ("task", *MODEL_FIELDS, *JOB_FIELDS[task], *recipe, WORK_FIELDS[task])


def task_from(values: Mapping[str, object]) -> Task:
    """Return the task that is named, training where none is."""
    given = values.get("task")
    return read_choice("task", given, Task) if is_given(given) else Task.TRAINING


def job_from(values: Mapping[str, object]) -> TrainingJob | ServingJob:
    """Return the job of either task; see `training_job_from` and `serving_job_from`."""
    if task_from(values) is Task.SERVING:
        return serving_job_from(values)
    return training_job_from(values)


def training_job_from(values: Mapping[str, object]) -> TrainingJob:
    """Return a checked training job.

    Raises
    ------
    InputError
        With the field as it is spelled here, what is wrong with it and what to try.
    """
    given = _given(values, task=Task.TRAINING)
    model = model_from(given)
    job = _training_job(model, given)
    check_training_job(job)
    return job


def serving_job_from(values: Mapping[str, object]) -> ServingJob:
    """Return a checked serving job.

    Raises
    ------
    InputError
        With the field as it is spelled here, what is wrong with it and what to try.
    """
    given = _given(values, task=Task.SERVING)
    job = _serving_job(model_from(given), given)
    try:
        check_serving_job(job)
    except InputError as error:
        if error.field != "tensor_parallel":
            raise
        # The cards that share a copy are asked for by their number.
        raise error.named("gpus") from None
    return job


def usual_engine(weights: WeightFormat) -> Engine:
    """Return the engine that serves these weights where nobody named one."""
    return Engine.LLAMA_CPP if weights.is_gguf else Engine.VLLM


def work_tokens_from(values: Mapping[str, object]) -> int | None:
    """Return how many tokens there are to train on, or to write; None where nobody said."""
    field = WORK_FIELDS[task_from(values)]
    given = values.get(field)
    return read_whole(field, given) if is_given(given) else None


def model_from(values: Mapping[str, object]) -> LanguageModel:
    """Return the model of the table, of a configuration, of a size, or of dimensions.

    Raises
    ------
    InputError
        None or several are given, or the one given is refused.
    """
    given = {name: values[name] for name in MODEL_FIELDS if is_given(values.get(name))}
    if not given:
        choices = ("model", "config", "parameters_billions")
        raise InputError(field="model", problem="missing_one", values={"choices": choices})
    first, *others = given
    if first in DIMENSION_FIELDS:
        return _model_of_dimensions(given)
    if others:
        raise InputError(field=first, problem="two_models", values={"other": others[0]})
    value = given[first]
    if first == "config":
        return parse_config(_config_text(value))
    if first == "parameters_billions":
        return model_of_size(parameters_billions=read_number(first, value))
    models = all_language_models()
    name = value.strip().lower() if isinstance(value, str) else ""
    if name not in models:
        raise unknown_name("model", value, models)
    return models[name]


def job_values(job: TrainingJob | ServingJob) -> dict[str, str]:
    """Return the texts that give this job again, only what differs from the defaults.

    A model that is not in the table is left out: whoever read it keeps the texts it came from.
    """
    task = Task.TRAINING if isinstance(job, TrainingJob) else Task.SERVING
    own = {"task": task.value} | ({"model": job.model.slug} if job.model.slug else {})
    if isinstance(job, TrainingJob):
        return own | _training_values(job)
    return own | _serving_values(job)


def _given(values: Mapping[str, object], *, task: Task) -> dict[str, object]:
    """Return what was given a value, all of it known to the task."""
    known = field_names(task)
    given = {name: value for name, value in values.items() if is_given(value)}
    for name in given:
        if name not in known:
            raise _unknown_field(name, task)
    return given


def _unknown_field(name: str, task: Task) -> InputError:
    for other in Task:
        if name in field_names(other):
            values = {"given": task.value, "other_given": other.value}
            return InputError(field=name, problem="other_task", values=values)
    known = field_names(task)
    near = nearest(name.replace("_", "-"), known=[each.replace("_", "-") for each in known])
    if near:
        names = tuple(each.replace("-", "_") for each in near)
        return InputError(field=name, problem="unknown_field_nearest", values={"nearest": names})
    told = ("task", *MODEL_FIELDS[:3], *JOB_FIELDS[task])
    return InputError(field=name, problem="unknown_field", values={"choices": told})


def _model_of_dimensions(given: Mapping[str, object]) -> LanguageModel:
    read: dict[str, Any] = {
        name: (read_flag if name == "has_tied_embeddings" else read_whole)(name, value)
        for name, value in given.items()
    }
    for name in NEEDED_DIMENSIONS:
        if name not in read:
            raise InputError(field=name, problem="missing")
    return model_by_hand(Dimensions(**read))


def _config_text(value: object) -> str:
    """Return the text of a configuration that came as text or, inside JSON, as an object."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value)
    except RecursionError:
        raise InputError(
            field="config.json", problem="config_too_deep", values={"most": 32}
        ) from None


def _training_job(model: LanguageModel, given: Mapping[str, object]) -> TrainingJob:
    if "method" not in given:
        choices = TRAINING_FIELDS["method"].choices
        raise InputError(field="method", problem="missing_one", values={"choices": choices})
    method = read_choice("method", given["method"], Method)
    profile = read_choice("profile", given.get("profile", Profile.GENERIC.value), Profile)
    read = {
        name: TRAINING_FIELDS[name].read(name, given[name])
        for name in given
        if name in TRAINING_FIELDS
    }
    job = _usual_job(model, method, profile)
    if _RECIPE in given:
        job = _with_recipe(job, given, read)
    job = replace(job, **{TRAINING_FIELDS[name].attribute: value for name, value in read.items()})
    if "sharding" not in read and job.data_parallel > 1:
        # Several cards that share nothing are no run; this is what frameworks offer first.
        job = replace(job, sharding=Sharding.FSDP)
    _refuse_meaningless(job, given)
    return job


def _usual_job(model: LanguageModel, method: Method, profile: Profile) -> TrainingJob:
    if profile is Profile.GENERIC:
        return TrainingJob(model=model, method=method)
    return job_of(model=model, method=method, profile=profile)


def _with_recipe(
    job: TrainingJob, given: Mapping[str, object], read: Mapping[str, object]
) -> TrainingJob:
    """Return the job with a named recipe, which nothing beside it may contradict."""
    value = given[_RECIPE]
    recipe = RECIPES.get(value.strip().upper()) if isinstance(value, str) else None
    if recipe is None:
        raise unknown_choice(_RECIPE, value, RECIPES)
    for name in _OF_RECIPES:
        own = getattr(recipe, name)
        if name in read and read[name] != own:
            values = {
                "given": given[name],
                "other": _RECIPE,
                "other_given": recipe.key,
                "choices": (_text(own),),
            }
            raise InputError(field=name, problem="not_together", values=values)
    return with_recipe(job, recipe)


def _refuse_meaningless(job: TrainingJob, given: Mapping[str, object]) -> None:
    for name, (other, allowed) in _ONLY_WITH.items():
        if name in given and getattr(job, other) not in allowed:
            values = {
                "given": given[name],
                "other": other,
                "choices": tuple(_text(each) for each in allowed),
            }
            raise InputError(field=name, problem="only_with", values=values)


def _serving_job(model: LanguageModel, given: Mapping[str, object]) -> ServingJob:
    read = {
        SERVING_FIELDS[name].attribute: SERVING_FIELDS[name].read(name, given[name])
        for name in given
        if name in SERVING_FIELDS
    }
    weights = read.setdefault("weights", weight_format_by_slug(DEFAULT_WEIGHT_FORMAT))
    read.setdefault("engine", usual_engine(weights))
    most = model.max_context or DEFAULT_CONTEXT_TOKENS
    read.setdefault("context_tokens", min(DEFAULT_CONTEXT_TOKENS, most))
    return ServingJob(model=model, **read)


def _training_values(job: TrainingJob) -> dict[str, str]:
    texts = _texts_of(job, TRAINING_FIELDS)
    drivers = {
        name: texts[name]
        for name, usual in (
            ("profile", Profile.GENERIC.value),
            ("gpus", "1"),
            ("tensor_parallel", "1"),
            ("pipeline_parallel", "1"),
        )
        if texts[name] != usual
    }
    usual_job = _training_job(job.model, {"method": texts["method"], **drivers})
    changed = _changed(texts, _texts_of(usual_job, TRAINING_FIELDS))
    kept = {
        name: text
        for name, text in changed.items()
        if name not in _ONLY_WITH or getattr(job, _ONLY_WITH[name][0]) in _ONLY_WITH[name][1]
    }
    recipe = recipe_of(job)
    if job.method is Method.FULL and recipe is not None and set(_OF_RECIPES) & set(kept):
        kept = {name: text for name, text in kept.items() if name not in _OF_RECIPES}
        kept[_RECIPE] = recipe.key
    return {"method": texts["method"]} | drivers | kept


def _serving_values(job: ServingJob) -> dict[str, str]:
    texts = _texts_of(job, SERVING_FIELDS)
    drivers = {"weight_format": texts["weight_format"]}
    usual_job = _serving_job(job.model, drivers)
    changed = _changed(texts, _texts_of(usual_job, SERVING_FIELDS))
    return ({} if drivers["weight_format"] == DEFAULT_WEIGHT_FORMAT else drivers) | changed


def _texts_of(job: object, known: Mapping[str, JobField]) -> dict[str, str]:
    return {name: _text(getattr(job, field.attribute)) for name, field in known.items()}


def _changed(texts: Mapping[str, str], usual: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in texts.items() if text != usual[name]}


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, WeightFormat):
        return value.slug
    if isinstance(value, tuple):
        named = (name for name, targets in TARGET_SETS.items() if targets == value)
        return next(named, ",".join(str(each) for each in value))
    return str(value)
