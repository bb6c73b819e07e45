"""The calculator's form: what is shown for a task, read from the address as plain text.

Values are checked by the engine, which knows every bound; the form holds the texts and says at the
field what the engine refused.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from django import forms
from django.forms import BoundField
from django.utils.translation import gettext_lazy as _

from catalog.calculator import choices
from catalog.calculator.choices import Choices, Words
from catalog.sizing_words import problem_text
from sizing.bounds import InputError
from sizing.plain.jobs import DIMENSION_FIELDS, Task, field_names, usual_engine
from sizing.serving.formats import weight_format_by_slug
from sizing.shapes.language_models import all_language_models
from sizing.training.choices import Method
from sizing.training.profiles import PROFILES, Profile

LENGTH_STOPS: Final = (128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072)
BATCH_STOPS: Final = (1, 2, 4, 8, 16, 32, 64)
REQUEST_STOPS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)
# Spaces and marks that people put between groups of three digits.
GROUPING: Final = re.compile(r"(?<=\d)[\s\u00a0\u202f\u2009,.’'](?=\d{3}(?!\d))")
MAX_TYPED_LENGTH: Final = 60
# What belongs to a model that was pasted has no field of its own in this form.
MODEL_FIELDS: Final = ("config", "parameters_billions", "model")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """One field: its name in the address, its words, and the value it has when nobody says."""

    name: str
    label: Words
    default: str = ""
    choices: Choices | None = None
    stops: tuple[int, ...] = ()
    help_text: Words = ""
    is_main: bool = False
    methods: tuple[Method, ...] = tuple(Method)


_ADAPTERS: Final = (Method.LORA, Method.QLORA)
_TRAINING: Final = (
    Spec(
        name="sequence_tokens",
        label=_("Sequence length, tokens"),
        default="2048",
        stops=LENGTH_STOPS,
        is_main=True,
    ),
    Spec(name="micro_batch", label=_("Micro-batch"), default="1", stops=BATCH_STOPS, is_main=True),
    Spec(
        name="accumulation_steps",
        label=_("Gradient accumulation"),
        default="1",
        stops=BATCH_STOPS,
        is_main=True,
    ),
    Spec(
        name="training_tokens",
        label=_("Tokens to train on"),
        help_text=_("Optional: for hours and the total price."),
        is_main=True,
    ),
    Spec(
        name="recipe",
        label=_("Recipe"),
        choices=choices.RECIPE_CHOICES,
        methods=(Method.FULL,),
    ),
    Spec(name="lora_rank", label=_("LoRA rank"), default="16", methods=_ADAPTERS),
    Spec(
        name="lora_targets",
        label=_("LoRA on"),
        default="all_linear",
        choices=choices.TARGETS,
        methods=_ADAPTERS,
    ),
    Spec(
        name="quantization",
        label=_("Frozen weights"),
        default="nf4_double",
        choices=choices.QUANTIZATIONS,
        methods=(Method.QLORA,),
    ),
    Spec(
        name="optimizer",
        label=_("Optimizer"),
        default="adamw",
        choices=choices.OPTIMIZERS,
        methods=_ADAPTERS,
    ),
    Spec(name="loss", label=_("Loss"), default="eager", choices=choices.LOSSES),
    Spec(
        name="checkpointing",
        label=_("Checkpointing"),
        default="full",
        choices=choices.CHECKPOINTINGS,
    ),
    Spec(name="attention", label=_("Attention"), default="flash", choices=choices.ATTENTIONS),
    Spec(name="profile", label=_("Framework"), default="generic", choices=choices.PROFILES),
)
_SERVING: Final = (
    Spec(
        name="context_tokens",
        label=_("Context of a request, tokens"),
        default="8192",
        stops=LENGTH_STOPS,
        is_main=True,
    ),
    Spec(
        name="concurrency",
        label=_("Requests at once"),
        default="1",
        stops=REQUEST_STOPS,
        is_main=True,
    ),
    Spec(
        name="weight_format",
        label=_("Weights"),
        default="bf16",
        choices=choices.weight_formats(),
        is_main=True,
    ),
    Spec(
        name="kv_format",
        label=_("Keys and values"),
        default="16",
        choices=choices.KV_FORMATS,
        is_main=True,
    ),
    Spec(name="engine", label=_("Engine"), choices=choices.ENGINES, is_main=True),
    Spec(
        name="generated_tokens",
        label=_("Tokens to generate"),
        help_text=_("Optional: for hours and the total price."),
        is_main=True,
    ),
    Spec(
        name="output_tokens",
        label=_("Tokens of the answer"),
        help_text=_("Optional: part of the context. Left out, speed holds at the full context."),
    ),
)


_SIZE: Final = Spec(
    name="parameters_billions",
    label=_("Or its size in billions of parameters"),
    help_text=_("A typical shape of this size is taken; the answer says so."),
)
_DESCRIBED: Final = ("config", "parameters_billions")


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """A field as the page draws it; ``stops`` make it a slider that stands at ``place``."""

    field: BoundField
    stops: str = ""
    last: int = 0
    place: int = 0


def specs_of(*, task: Task, method: Method) -> tuple[Spec, ...]:
    """Return the fields of a task, in the order of the page."""
    if task is Task.SERVING:
        return _SERVING
    return tuple(spec for spec in _TRAINING if method in spec.methods)


class CalculatorForm(forms.Form):
    """The fields of one task and method, filled with texts of the address.

    ``extra`` holds fields of the job that the page has no box for; they are kept as they came.
    ``refusal`` is what the engine refused, if it did.
    """

    refusal: InputError | None = None

    def __init__(self, values: Mapping[str, str], *, task: Task, method: Method) -> None:
        self.task, self.method = task, method
        self.specs = specs_of(task=task, method=method)
        usual = _usual(values.get("profile", ""))
        given = {
            spec.name: values.get(spec.name) or usual.get(spec.name, spec.default)
            for spec in self.specs
        }
        kept = {name: values.get(name, "") for name in MODEL_FIELDS}
        self.extra = _extra(values, task=task, method=method, shown=given)
        own = {"task": task.value, "method": method.value, "was": f"{task}-{method}"}
        super().__init__(given | kept | own, use_required_attribute=False)
        self.fields["task"] = _choice(_("Job"), choices.TASKS)
        self.fields["method"] = _choice(_("Method"), choices.METHODS)
        self.fields["model"] = _choice(_("Model"), {})
        self.fields["model"].widget.choices = model_groups()
        self.fields["model"].required = not (kept["parameters_billions"] or self.own)
        self.fields["parameters_billions"] = _text(_SIZE, inputmode="decimal")
        for name in ("config", "was"):
            self.fields[name] = forms.CharField(
                label="config.json", required=False, widget=forms.HiddenInput
            )
        for spec in self.specs:
            self.fields[spec.name] = (
                _text(spec) if spec.choices is None else _choice(spec.label, spec.choices)
            )

    def texts(self) -> dict[str, str]:
        """Return what is asked for, as the engine reads it: digits without marks between them."""
        given = {name: str(self.data.get(name, "")).strip() for name in self.fields}
        del given["was"]
        if self.task is Task.SERVING:
            del given["method"]
        for spec in self.specs:
            if spec.choices is None:
                given[spec.name] = without_grouping(given[spec.name])
        given["parameters_billions"] = given["parameters_billions"].replace(",", ".")
        told = {name: text for name, text in given.items() if text} | self.extra
        dropped = _beside_the_model(told)
        return {name: text for name, text in told.items() if name not in dropped}

    @property
    def own(self) -> str:
        """Say how a model that is not in the list is told here: "config", "dimensions" or not."""
        if self.data.get("config"):
            return "config"
        return "dimensions" if any(name in self.extra for name in DIMENSION_FIELDS) else ""

    def refuse(self, error: InputError) -> None:
        """Say at the field what the engine refused; above the form what has no field in it."""
        self.refusal = error
        name = error.field if error.field in self.fields else None
        if name is None:
            name = next((each for each in _DESCRIBED if self.data.get(each)), None)
        self.add_error(name, problem_text(error))

    @property
    def method_words(self) -> str:
        return str(choices.METHODS[self.method])

    @property
    def settings_in_words(self) -> list[tuple[Words, Words]]:
        """Return the settings chosen from lists, in words; the engine that is counted, not "usual"."""
        texts = self.texts()
        if self.task is Task.SERVING:
            weights = weight_format_by_slug(texts["weight_format"])
            texts.setdefault("engine", usual_engine(weights).value)
        return [
            (spec.label, spec.choices.get(texts.get(spec.name, ""), texts.get(spec.name, "")))
            for spec in self.specs
            if spec.choices is not None
        ]

    @property
    def main(self) -> list[Control]:
        return [self._control(spec) for spec in self.specs if spec.is_main]

    @property
    def in_short(self) -> list[Control]:
        """Return what blocks on other pages ask for: the two sliders that weigh most."""
        return [self._control(spec) for spec in self.specs if spec.stops][:2]

    @property
    def further(self) -> list[Control]:
        return [self._control(spec) for spec in self.specs if not spec.is_main]

    @property
    def further_has_errors(self) -> bool:
        return any(control.field.errors for control in self.further)

    @property
    def shape(self) -> str:
        """Return what the set of fields depends on: the page draws them anew when it changes."""
        refused = "+".join(sorted(str(name) for name in self.errors))
        return f"{self.task}-{self.method}-{self.own or 'list'}-{refused}"

    def _control(self, spec: Spec) -> Control:
        field = self[spec.name]
        if not spec.stops:
            return Control(field=field)
        return Control(
            field=field,
            stops=",".join(str(stop) for stop in spec.stops),
            last=len(spec.stops) - 1,
            place=_place(spec.stops, self.texts().get(spec.name, "")),
        )


def without_grouping(text: str) -> str:
    """Return a typed number without the marks between its digits."""
    return GROUPING.sub("", text)


def _beside_the_model(told: Mapping[str, str]) -> set[str]:
    """Return what names a second model: one that is described stands before one of the list."""
    described = [name for name in _DESCRIBED if name in told]
    dimensions = [name for name in DIMENSION_FIELDS if name in told]
    if described:
        return {"model", *described[1:], *dimensions}
    return {"model"} if dimensions else set()


def _usual(profile: str) -> dict[str, str]:
    """Return what a framework takes when nobody says otherwise, as far as the form shows it."""
    if profile not in {each.value for each in Profile}:
        return {}
    facts = PROFILES[Profile(profile)]
    return {"loss": facts.loss.value, "checkpointing": facts.checkpointing.value}


def _extra(
    values: Mapping[str, str], *, task: Task, method: Method, shown: Mapping[str, str]
) -> dict[str, str]:
    """Return the job's fields without a box; what only the form before had a box for is dropped."""
    before = values.get("was", "")
    known = {spec.name for spec in (*_TRAINING, *_SERVING)}
    is_redrawn = before not in {"", f"{task}-{method}"}
    told = {name: text for name, text in values.items() if text and name not in shown}
    never = {"was", "task", "method", *MODEL_FIELDS}
    return {
        name: text
        for name, text in told.items()
        if name not in never and not (is_redrawn and name in known)
    }


def known_names() -> frozenset[str]:
    """Return every name that says something of a job."""
    return frozenset(name for task in Task for name in field_names(task)) | {"was"}


@cache
def model_groups() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the models of the table in groups by family, families in alphabetical order."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for slug, model in all_language_models().items():
        family = re.match(r"[A-Za-z]+", model.name)
        groups.setdefault(family[0] if family else model.name, []).append((slug, model.name))
    return sorted(groups.items(), key=lambda group: group[0].lower())


def _place(stops: Sequence[int], text: str) -> int:
    """Return the last stop that a typed number reaches."""
    value = int(text) if text.isascii() and text.isdigit() and len(text) < MAX_TYPED_LENGTH else 0
    return max((place for place, stop in enumerate(stops) if stop <= value), default=0)


def _text(spec: Spec, *, inputmode: str = "numeric") -> forms.CharField:
    attrs: dict[str, Any] = {"inputmode": inputmode, "autocomplete": "off"}
    words: dict[str, Any] = {"label": spec.label, "help_text": spec.help_text}
    return forms.CharField(
        **words,
        required=bool(spec.default),
        widget=forms.TextInput(attrs=attrs),
    )


def _choice(label: Words, known: Choices) -> forms.CharField:
    """Return a list to choose from whose values the engine checks."""
    is_needed = "" not in known
    words: dict[str, Any] = {"label": label}
    return forms.CharField(
        **words, required=is_needed, widget=forms.Select(choices=list(known.items()))
    )
