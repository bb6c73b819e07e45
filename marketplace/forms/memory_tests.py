"""Forms of memory tests. The job travels in the address, so that a calculator can link to it."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl
from uuid import uuid4

from django import forms
from django.utils.translation import gettext_lazy as _

from catalog.models import GpuModel
from marketplace.forms.sent_once import SentOnceForm
from marketplace.queries.memory_tests import WORK_NAMES
from sizing.bounds import BOUNDS
from sizing.measure.runs import MOST_NEW_TOKENS, MeasuredRun, Targets, Work, is_measurable
from sizing.shapes.language_models import all_language_models, model_by_slug

# More than any job has parameters; the rest of a longer address is not read.
MOST_PARAMETERS = 40
MOST_DIGITS = 9


def _models() -> list[tuple[str, str]]:
    models = [each for each in all_language_models().values() if is_measurable(each)]
    return [(each.slug, each.name) for each in models]


def _cards() -> list[tuple[str, str]]:
    listed = GpuModel.objects.filter(is_listed=True).order_by("name", "pk")
    return list(listed.values_list("slug", "name"))


class MemoryTestForm(forms.Form):
    """The job and the card, by the names that the sizing engine uses everywhere."""

    card = forms.ChoiceField(label=_("Card"))
    work = forms.ChoiceField(label=_("What is done"), choices=list(WORK_NAMES.items()))
    model = forms.ChoiceField(label=_("Model"), choices=_models)
    sequence_tokens = forms.IntegerField(
        label=_("Tokens per sequence or prompt"),
        min_value=int(BOUNDS["sequence_tokens"].least),
        max_value=int(BOUNDS["sequence_tokens"].most),
    )
    micro_batch = forms.IntegerField(
        label=_("Sequences or prompts at once"),
        min_value=int(BOUNDS["micro_batch"].least),
        max_value=int(BOUNDS["micro_batch"].most),
    )
    lora_rank = forms.IntegerField(
        label=_("Rank of the adapters"),
        min_value=int(BOUNDS["lora_rank"].least),
        max_value=int(BOUNDS["lora_rank"].most),
        help_text=_("For LoRA and QLoRA, on all linear layers."),
    )
    output_tokens = forms.IntegerField(
        label=_("Tokens written after the prompt"),
        min_value=0,
        max_value=MOST_NEW_TOKENS,
        help_text=_("For inference."),
    )

    FIRST_VALUES = {
        "work": Work.LORA.value,
        "model": "llama-3.1-8b",
        "sequence_tokens": 2048,
        "micro_batch": 1,
        "lora_rank": 16,
        "output_tokens": 128,
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["card"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = _cards()

    @classmethod
    def from_address(cls, query: Mapping[str, str]) -> "MemoryTestForm":
        """Return the form filled in with what the address says, and with usual values else.

        A calculator gives the card, and the job as a query of its own.
        """
        try:
            job = dict(parse_qsl(query.get("job", ""), max_num_fields=MOST_PARAMETERS))
        except ValueError:  # More parameters than any job has.
            job = {}
        return cls(cls.FIRST_VALUES | _in_our_words(job) | dict(query))

    def run(self) -> MeasuredRun:
        data = self.cleaned_data
        work = Work(data["work"])
        return MeasuredRun(
            model=model_by_slug(data["model"]),
            work=work,
            sequence_tokens=data["sequence_tokens"],
            micro_batch=data["micro_batch"],
            lora_rank=data["lora_rank"],
            targets=Targets.ALL_LINEAR,
            new_tokens=data["output_tokens"] if work is Work.INFERENCE else 0,
        )


def _in_our_words(job: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters of a calculator's job by the names of this form."""
    named = dict(job)
    if "method" in job:
        named["work"] = job["method"]
    if "context_tokens" in job:
        # A calculator of inference gives prompt and answer together, and the requests at once.
        context, written = _whole(job["context_tokens"]), _whole(job.get("output_tokens", "0"))
        named["work"] = Work.INFERENCE.value
        named["sequence_tokens"] = str(context - written)
        named["micro_batch"] = job.get("concurrency", "1")
        named["output_tokens"] = str(written)
    return named


def _whole(text: str) -> int:
    """Return the number that a few digits write; its field refuses 0 where it is none."""
    is_number = text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS
    return int(text) if is_number else 0


class CreateForm(SentOnceForm):
    """The button under the prediction."""


def new_create_form(data: Mapping[str, Any] | None) -> CreateForm:
    """Return the button as it was pressed, or with a new key."""
    return CreateForm(data, initial={"key": uuid4().hex})


class ResultForm(forms.Form):
    """The file that the script wrote."""

    result = forms.FileField(
        label=_("Result of the script"),
        help_text=_("The file memory_test_result.json, at most 64 kB."),
    )
