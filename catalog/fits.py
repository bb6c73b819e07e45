"""Which well-known language models fit a card, for the list's filter and the card page."""

from dataclasses import dataclass
from decimal import Decimal

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from sizing.fits import Job, Verdict, needed_bytes, verdict
from sizing.shapes.architecture import LanguageModel
from sizing.shapes.language_models import all_language_models
from sizing.units import GB

# Few enough to choose from at a glance: the sizes that people train and serve, smallest first.
WELL_KNOWN = (
    "llama-3.2-3b",
    "llama-2-7b-hf",
    "mistral-7b-v0.3",
    "qwen2.5-7b",
    "llama-3.1-8b",
    "mistral-nemo-12b",
    "llama-2-13b-hf",
    "qwen2.5-14b",
    "gemma-3-27b-it",
    "qwen2.5-32b",
    "mixtral-8x7b-v0.1",
    "llama-3.1-70b",
    "qwen2.5-72b",
)
JOB_LABELS: dict[Job, str | Promise] = {
    Job.QLORA: _("QLoRA, 4 bits"),
    Job.LORA16: _("LoRA, 16 bits"),
    Job.FULL: _("Training of every weight"),
    Job.INFERENCE16: _("Inference, 16 bits"),
}
KINDS = {Verdict.COMFORTABLE: "ok", Verdict.TIGHT: "tight", Verdict.NO: "no"}
# Where a whole card ends in a bar: what is too large still shows that it is.
CARD_PERCENT = 80
# The list's filter leaves full training out: one card rarely holds it.
FILTER_JOBS = (Job.QLORA, Job.LORA16, Job.INFERENCE16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A model, and what is to be done with it."""

    model: LanguageModel
    job: Job

    @property
    def label(self) -> str | Promise:
        return JOB_LABELS[self.job]

    @property
    def needed_gb(self) -> Decimal:
        """Return the memory that the rule counts, in GB with one decimal, rounded up."""
        tenths = -(-needed_bytes(parameters=self.model.parameters, job=self.job) * 10 // GB)
        return Decimal(tenths) / 10

    def on(self, *, memory_gb: int) -> "Fit":
        return Fit(wanted=self, memory_gb=memory_gb)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How a model and a job stand to a card's memory."""

    wanted: Wanted
    memory_gb: int

    @property
    def verdict(self) -> Verdict:
        parameters, job = self.wanted.model.parameters, self.wanted.job
        needed = needed_bytes(parameters=parameters, job=job)
        return verdict(needed_bytes=needed, memory_bytes=self.memory_gb * GB)

    @property
    def fits(self) -> bool:
        return self.verdict is not Verdict.NO

    @property
    def kind(self) -> str:
        """Return the kind that ``components/status.html`` draws: ok, tight or no."""
        return KINDS[self.verdict]

    @property
    def bar_percent(self) -> int:
        """Return the length of a bar in which the whole card is `CARD_PERCENT` long."""
        share = self.wanted.needed_gb * CARD_PERCENT / self.memory_gb
        return min(int(share), 100)

    @property
    def word(self) -> str:
        words = {
            Verdict.COMFORTABLE: gettext("Comfortable"),
            Verdict.TIGHT: gettext("Tight"),
            Verdict.NO: gettext("Does not fit"),
        }
        return words[self.verdict]


def well_known_models() -> list[LanguageModel]:
    """Return the models that pages offer to choose from, smallest first."""
    models = all_language_models()
    return [models[slug] for slug in WELL_KNOWN]
