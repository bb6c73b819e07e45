"""Memory tests: the prediction, an hour on the card to check it, and both side by side."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop
from django.views.decorators.http import require_POST, require_safe

from catalog.models import GpuModel
from marketplace.accounts.http import SignedInRequest, client_now, form_page, signed_in, trading
from marketplace.accounts.rate_limits import Limit, count_act
from marketplace.forms.memory_tests import CreateForm, MemoryTestForm, ResultForm, new_create_form
from marketplace.models import Bid, MemoryTest
from marketplace.operations.memory_tests import (
    KeyReused,
    MemoryTestRefused,
    create_memory_test,
    expected_of,
    record_measurement,
)
from marketplace.queries.memory_tests import (
    WORK_NAMES,
    error_share,
    gigabytes,
    grouped,
    memory_tests_of,
)
from marketplace.views.refused import add_refusal
from sizing.estimates import Estimate, verdict_on
from sizing.fits import Verdict
from sizing.measure.on_card import INSTALL
from sizing.measure.results import MOST_FILE_BYTES, ResultError, result_of
from sizing.measure.script import script_text
from sizing.units import GB

PAGE_SIZE = 50
VERDICT_WORDS = {
    Verdict.COMFORTABLE: ("ok", gettext_lazy("Comfortable")),
    Verdict.TIGHT: ("tight", gettext_lazy("Tight")),
    Verdict.NO: ("no", gettext_lazy("Does not fit")),
}
# The sentences of `sizing.measure.results.PROBLEMS`, for readers of both languages.
RESULT_PROBLEMS = {
    "too_large": gettext_noop(
        "The file has more than %(most)s kB: choose the result that the script wrote."
    ),
    "not_text": gettext_noop(
        "The file is not text: choose the result that the script wrote, a .json file."
    ),
    "not_json": gettext_noop(
        "The file is not JSON: choose the result that the script wrote, unchanged."
    ),
    "other_format": gettext_noop(
        "The file is not a result of this script (%(format)s): choose the file that the script "
        "wrote, or take the script anew and run it again."
    ),
    "broken": gettext_noop(
        "The file lacks %(field)s or has a value there that cannot be: run the script again and "
        "choose the file that it writes."
    ),
    "other_job": gettext_noop(
        "The file is the result of another test: choose the one of this page’s script."
    ),
    "rehearsed": gettext_noop(
        "The script was only rehearsed, without a card: run it on the rented card."
    ),
}


@require_safe
@signed_in
def memory_tests(request: SignedInRequest) -> HttpResponse:
    """List the organisation's tests, each with what was expected and what was measured."""
    rows = memory_tests_of(organisation_id=request.organisation.pk)
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {"page": page, "rows": [_figures(test) for test in page.object_list]}
    return render(request, "marketplace/memory_tests.html", context)


@form_page
@trading
def memory_test_new(request: SignedInRequest) -> HttpResponse:
    """Show what is expected of the job in the address; keep it as a test when that is asked."""
    form = MemoryTestForm.from_address(request.GET.dict())
    if not request.GET:
        return _new_page(request, MemoryTestForm(initial=MemoryTestForm.FIRST_VALUES))
    expected = _expected(form)
    if expected is None:
        return _new_page(request, form)
    create = new_create_form(request.POST or None)
    if request.method == "POST" and create.is_valid():
        test = _create(request, form, create)
        if test is not None:
            messages.success(request, _("The test is kept. Nothing is ordered yet."))
            return redirect("marketplace:memory_test", pk=test.pk)
    return _new_page(request, form, create=create, expected=expected)


def _expected(form: MemoryTestForm) -> Estimate | None:
    """Return what the engine expects, or nothing once the form says why there is no such job."""
    if not form.is_valid():
        return None
    try:
        return expected_of(form.run())
    except MemoryTestRefused as refusal:
        add_refusal(form, refusal)
        return None


def _create(
    request: SignedInRequest, form: MemoryTestForm, create: CreateForm
) -> MemoryTest | None:
    key = create.cleaned_data["key"]
    count_act(limit=Limit.MEMORY_TEST, who=request.organisation.pk, key=key)
    try:
        return create_memory_test(
            organisation_id=request.organisation.pk,
            gpu_model_slug=form.cleaned_data["card"],
            run=form.run(),
            actor_id=request.user.pk,
            key=key,
            now=client_now(),
        )
    except MemoryTestRefused as refusal:
        add_refusal(create, refusal)
    except KeyReused:
        create.add_error(None, _("This form was sent before with other values: open it again."))
    return None


def _new_page(
    request: SignedInRequest,
    form: MemoryTestForm,
    *,
    create: CreateForm | None = None,
    expected: Estimate | None = None,
) -> HttpResponse:
    context: dict[str, Any] = {"form": form, "create": create, "query": request.GET.urlencode()}
    if expected is not None:
        gpu = get_object_or_404(GpuModel, slug=form.cleaned_data["card"], is_listed=True)
        context |= {
            "gpu": gpu,
            "parts": grouped(expected.terms),
            "peak_gb": gigabytes(expected.peak_bytes),
            "low_gb": gigabytes(expected.low_bytes),
            "high_gb": gigabytes(expected.high_bytes),
            "verdict": _verdict(expected.peak_bytes, gpu=gpu),
        }
    return render(request, "marketplace/memory_test_new.html", context)


def _verdict(peak_bytes: int, *, gpu: GpuModel) -> dict[str, object]:
    memory_bytes = gpu.memory_gb * GB
    verdict = verdict_on(peak_bytes=peak_bytes, memory_bytes=memory_bytes)
    kind, label = VERDICT_WORDS[verdict]
    is_too_close = verdict is Verdict.NO and peak_bytes <= memory_bytes
    return {"kind": kind, "label": label, "is_too_close": is_too_close}


@require_safe
@signed_in
def memory_test(request: SignedInRequest, pk: int) -> HttpResponse:
    """Show one test: what was expected, how to check it, and what the card said."""
    test = _own(request, pk)
    context = _figures(test) | {
        "form": ResultForm(),
        "parts": grouped(test.terms),
        "verdict": _verdict(test.predicted_peak_bytes, gpu=test.gpu_model),
        "allocated_gb": gigabytes(test.measurement.get("allocated_bytes")),
        "reserved_gb": gigabytes(test.measurement.get("reserved_bytes")),
        "device_gb": gigabytes(test.measurement.get("device_bytes")),
        "ticket": _ticket(),
        "script": _script(test),
        "packages": INSTALL[test.job["work"]],
        "may_trade": request.membership.may_trade,
    }
    return render(request, "marketplace/memory_test.html", context)


def _own(request: SignedInRequest, pk: int) -> MemoryTest:
    return get_object_or_404(memory_tests_of(organisation_id=request.organisation.pk), pk=pk)


def _figures(test: MemoryTest) -> dict[str, Any]:
    job = test.job
    return {
        "test": test,
        "work": WORK_NAMES[job["work"]],
        "model_name": job["model"]["name"],
        "peak_gb": gigabytes(test.predicted_peak_bytes),
        "low_gb": gigabytes(test.predicted_low_bytes),
        "high_gb": gigabytes(test.predicted_high_bytes),
        "measured_gb": gigabytes(test.measured_bytes),
        "error": error_share(test),
        "is_out_of_memory": test.outcome == MemoryTest.Outcome.OUT_OF_MEMORY,
        "is_within": test.measured_bytes is not None
        and test.predicted_low_bytes <= test.measured_bytes <= test.predicted_high_bytes,
    }


def _ticket() -> str:
    """Return the query of the order form: one hour on one card, at once."""
    return urlencode({"kind": Bid.Kind.BUY_NOW.value, "gpus": 1, "hours": 1})


def _script(test: MemoryTest) -> str:
    return script_text(test.job | {"test": test.name})


@require_safe
@signed_in
def memory_test_script(request: SignedInRequest, pk: int) -> HttpResponse:
    """Give the script of this test as a file."""
    answer = HttpResponse(_script(_own(request, pk)), content_type="text/x-python; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="memory_test.py"'
    return answer


@require_POST
@trading
def memory_test_upload(request: SignedInRequest, pk: int) -> HttpResponse:
    """Take the file that the script wrote; what is refused changes nothing and says why."""
    test = _own(request, pk)
    count_act(limit=Limit.MEMORY_TEST, who=request.organisation.pk)
    try:
        _record(request, test)
    except ResultError as problem:
        messages.error(request, _(RESULT_PROBLEMS[problem.problem]) % dict(problem.values))
    except MemoryTestRefused as refusal:
        messages.error(request, str(refusal.message))
    except MemoryTest.DoesNotExist:
        raise Http404 from None
    return redirect("marketplace:memory_test", pk=pk)


def _record(request: SignedInRequest, test: MemoryTest) -> None:
    form = ResultForm(request.POST, request.FILES)
    if not form.is_valid():
        messages.error(request, " ".join(str(error) for error in form.errors["result"]))
        return
    # One byte more than is read tells a file that is too large.
    result = result_of(content=form.cleaned_data["result"].read(MOST_FILE_BYTES + 1))
    record_measurement(
        test_id=test.pk,
        organisation_id=request.organisation.pk,
        result=result,
        actor_id=request.user.pk,
        now=client_now(),
    )
    messages.success(request, _("The measurement is kept beside the prediction."))
