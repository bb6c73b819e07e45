"""The report on accuracy, on judgements made by hand."""

import pytest

from sizing.accuracy.judging import Judgement, Kind
from sizing.accuracy.plain import report_object
from sizing.accuracy.report import (
    AccuracyReport,
    Comparison,
    Group,
    ReasonCount,
    VerdictCount,
    meets,
    report_on,
)
from sizing.measurements import NotJudged, Reason
from sizing.rivals import Run, Tuning
from sizing.shapes.language_models import model_by_slug
from sizing.units import GB

LORA_RUN = Run(
    model=model_by_slug("llama-2-7b-hf"),
    tuning=Tuning.LORA,
    sequence_tokens=1024,
    micro_batch=1,
    has_checkpointing=True,
    is_pure_bf16=False,
)


def judgement(
    name: str = "a",
    *,
    kind: Kind = Kind.TRAINING_ONE_CARD,
    method: str = "LoRA",
    source: str = "https://example.org/x/one",
    measured_gb: float = 20,
    estimate_gb: float = 21,
    left_out_gb: float = 22,
    rival_run: Run | None = None,
    is_one_card: bool = True,
) -> Judgement:
    return Judgement(
        id=name,
        kind=kind,
        method=method,
        source=source,
        is_one_card=is_one_card,
        measured=measured_gb * GB,
        estimate=estimate_gb * GB,
        left_out_estimate=left_out_gb * GB,
        rival_run=rival_run,
    )


def labels(report: AccuracyReport) -> list[tuple[Kind, str | None, str | None, int]]:
    return [(g.kind, g.method, g.source, g.in_sample.rows) for g in report.groups]


class TestGroups:
    def test_sums_up_by_kind_method_and_source(self) -> None:
        report = report_on(
            judgements=[
                judgement("a", source="s1"),
                judgement("b", source="s2"),
                judgement("c", method="full", source="s1"),
                judgement("d", kind=Kind.DECODE_SPEED, method="llama.cpp", source="s3"),
            ]
        )

        one, decode = Kind.TRAINING_ONE_CARD, Kind.DECODE_SPEED
        assert labels(report) == [
            (one, None, None, 3),
            (one, "LoRA", None, 2),
            (one, "LoRA", "s1", 1),
            (one, "LoRA", "s2", 1),
            (one, "full", None, 1),
            (one, "full", "s1", 1),
            (decode, None, None, 1),
            (decode, "llama.cpp", None, 1),
            (decode, "llama.cpp", "s3", 1),
        ]

    def test_gives_the_errors_with_and_without_the_source(self) -> None:
        (whole, *_) = report_on(judgements=[judgement()]).groups

        assert whole.in_sample.median_percent == pytest.approx(5)
        assert whole.left_out.median_percent == pytest.approx(10)

    @pytest.mark.parametrize(
        ("kind", "estimate_gb", "left_out_gb", "expected"),
        [
            (Kind.TRAINING_ONE_CARD, 21.38, 21.9, True),
            (Kind.TRAINING_ONE_CARD, 21.5, 21.9, False),
            (Kind.TRAINING_ONE_CARD, 21, 22.1, False),
            (Kind.INFERENCE_QUANTIZED, 20.58, 40, True),
            (Kind.INFERENCE_QUANTIZED, 20.7, 20, False),
            (Kind.PREFILL_SPEED, 20, 20, None),
        ],
    )
    def test_says_whether_a_kind_meets_its_target(
        self, kind: Kind, estimate_gb: float, left_out_gb: float, expected: bool | None
    ) -> None:
        whole, method, *_ = report_on(
            judgements=[judgement(kind=kind, estimate_gb=estimate_gb, left_out_gb=left_out_gb)]
        ).groups

        assert (meets(whole), meets(method)) == (expected, None)

    def test_a_single_bad_row_misses_the_target_of_the_worst(self) -> None:
        judgements = [judgement(str(row)) for row in range(9)]
        judgements.append(judgement("bad", estimate_gb=28))

        whole: Group = report_on(judgements=judgements).groups[0]

        assert (meets(whole), whole.in_sample.worst_id) == (False, "bad")
        assert whole.in_sample.worst_percent == pytest.approx(40)


class TestVerdicts:
    def verdicts(self, *judgements: Judgement) -> tuple[VerdictCount, ...]:
        return report_on(judgements=judgements).verdicts

    @pytest.mark.parametrize(
        ("measured_gb", "estimate_gb", "false_fits", "false_refusals"),
        [
            (20, 20, 0, 0),
            # 21.9 GB and a tenth are 24.09 GB, more than 24.
            (20, 21.9, 0, 1),
            (20, 21.8, 0, 0),
            (24.1, 21.8, 1, 0),
            (24.0, 21.8, 0, 0),
            # Refused by five sizes, needed by none; the estimate still fits 141 GB.
            (20, 120, 0, 5),
            (150, 20, 6, 0),
        ],
    )
    def test_counts_false_fits_and_false_refusals(
        self, measured_gb: float, estimate_gb: float, false_fits: int, false_refusals: int
    ) -> None:
        (count,) = self.verdicts(
            judgement(measured_gb=measured_gb, estimate_gb=estimate_gb, left_out_gb=measured_gb)
        )

        assert count.decisions == 6
        assert (count.false_fits, count.false_refusals) == (false_fits, false_refusals)
        assert count.left_out_false_fits == 0

    def test_counts_the_same_with_the_source_left_out(self) -> None:
        (count,) = self.verdicts(
            judgement(measured_gb=20, estimate_gb=20, left_out_gb=23),
            judgement(measured_gb=30, estimate_gb=30, left_out_gb=20),
        )

        assert (count.decisions, count.false_fits, count.false_refusals) == (12, 0, 1)
        assert (count.left_out_false_fits, count.left_out_false_refusals) == (1, 1)

    def test_several_cards_and_speeds_get_no_verdict(self) -> None:
        assert (
            self.verdicts(
                judgement(kind=Kind.TRAINING_MANY_CARDS, is_one_card=False),
                judgement(kind=Kind.INFERENCE_16_BITS, is_one_card=False),
                judgement(kind=Kind.DECODE_SPEED),
            )
            == ()
        )


class TestComparisons:
    def test_sets_each_rule_beside_the_engine_on_the_same_rows(self) -> None:
        full = Run(
            model=LORA_RUN.model,
            tuning=Tuning.FULL,
            sequence_tokens=1024,
            micro_batch=1,
            has_checkpointing=True,
            is_pure_bf16=False,
        )
        report = report_on(
            judgements=[
                judgement("lora", rival_run=LORA_RUN),
                judgement("full", method="full", measured_gb=100, estimate_gb=90, rival_run=full),
                judgement("no word for it", method="LoRA+emb"),
            ]
        )

        rows = [(c.rival.key, c.method, c.rival_errors.rows) for c in report.comparisons]
        assert rows == [
            ("accelerate", None, 1),
            ("accelerate", "full", 1),
            ("eleutherai", None, 1),
            ("eleutherai", "full", 1),
            ("llama_factory", None, 2),
            ("llama_factory", "LoRA", 1),
            ("llama_factory", "full", 1),
            ("indicative", None, 2),
            ("indicative", "LoRA", 1),
            ("indicative", "full", 1),
        ]
        accelerate: Comparison = report.comparisons[0]
        # 8 bytes for each of 6.738 billion parameters, against 100 GB.
        assert accelerate.rival_errors.bias_percent == pytest.approx(-46.1, abs=0.05)
        assert accelerate.engine_errors.bias_percent == pytest.approx(-10)


class TestNotJudged:
    def test_counts_rows_by_reason_with_the_first_details(self) -> None:
        rows = [
            NotJudged(line=line, id="", reason=reason, detail=detail)
            for line, (reason, detail) in enumerate(
                [
                    (Reason.UNKNOWN_MODEL, "x"),
                    (Reason.OTHER_TASK, "rendering"),
                    (Reason.UNKNOWN_MODEL, "y"),
                    (Reason.UNKNOWN_MODEL, "x"),
                    (Reason.UNKNOWN_MODEL, "z"),
                    (Reason.UNKNOWN_MODEL, "w"),
                ]
            )
        ]

        report = report_on(judgements=[judgement()], not_judged=rows)

        assert (report.rows, report.judged) == (7, 1)
        assert report.not_judged == (
            ReasonCount(Reason.OTHER_TASK, 1, ("rendering",)),
            ReasonCount(Reason.UNKNOWN_MODEL, 5, ("x", "y", "z")),
        )

    def test_a_report_on_nothing_is_a_report(self) -> None:
        report = report_on(judgements=[])

        assert (report.rows, report.groups, report.verdicts) == (0, (), ())


def test_as_an_object_errors_have_two_decimals() -> None:
    report = report_on(judgements=[judgement(estimate_gb=20.12345, left_out_gb=21)])

    answer = report_object(report)

    assert answer["groups"][0] == {
        "task": "fine-tuning",
        "kind": "training_one_card",
        "method": None,
        "source": None,
        "source_name": None,
        "rows": 1,
        "in_sample": {
            "median_percent": 0.62,
            "p90_percent": 0.62,
            "worst_percent": 0.62,
            "worst_id": "a",
            "bias_percent": 0.62,
        },
        "left_out": {
            "median_percent": 5.0,
            "p90_percent": 5.0,
            "worst_percent": 5.0,
            "worst_id": "a",
            "bias_percent": 5.0,
        },
        "target": {"median": 7, "left_out_median": 10, "worst": 35},
        "target_met": True,
    }
    assert answer["verdicts"] == {
        "margin_percent": 10,
        "kinds": [
            {
                "kind": "training_one_card",
                "decisions": 6,
                "false_fits": 0,
                "false_refusals": 0,
                "left_out_false_fits": 0,
                "left_out_false_refusals": 0,
                "false_refusals_percent": 0.0,
            }
        ],
    }
