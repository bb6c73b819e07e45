"""docs/algorithms/planning.md tells what the engine computes."""

import re
from pathlib import Path

from sizing.planning.changes import smallest_change
from sizing.planning.placing import Sharing, place
from sizing.planning.ranking import rank
from sizing.planning.work import Work, rates_of, training_flops_per_token, training_load
from sizing.training.job import TrainingJob
from tests.unit.sizing.planning_jobs import A100, FULL, L40S, SERVING

DOCS = Path(__file__).resolve().parents[3] / "docs" / "algorithms" / "planning.md"


def told() -> dict[str, str]:
    """Return the last column of every table by its first."""
    rows = re.findall(r"^\| (.+?) \| .+ \| (.+?) \|$", DOCS.read_text("utf-8"), re.MULTILINE)
    return dict(rows)


def test_tells_the_time_and_cost_of_training() -> None:
    prices, work = {("a100-sxm-80", 8): 1_500_000}, Work(100_000_000)

    (row,) = rank(FULL, cards=(A100,), prices=prices, work=work, counts=(8,))

    job = row.placed.job
    assert isinstance(job, TrainingJob)
    assert row.placed.split is Sharing.FSDP
    assert row.hours is not None
    assert row.total_micro is not None
    load = training_load(job)
    rates = rates_of(A100)
    computed = {
        "operations per token": f"{training_flops_per_token(job):,.0f}",
        "work, seconds": f"{load.flops / (rates.peak * 0.45):.4f}",
        "bytes exchanged": f"{load.carried_bytes:,.0f}",
        "exchange, seconds": f"{load.carried_bytes / (rates.link * 0.7):.4f}",
        "tokens per hour": f"{work.tokens / row.hours.middle:,.0f}",
        "hours": f"{row.hours.middle:.2f}",
        "cost": f"{row.total_micro.middle / 1e6:.2f}",
    }
    assert {name: told()[name] for name in computed} == computed


def test_tells_what_a_card_misses_and_the_change_that_helps() -> None:
    placed = place(SERVING, L40S, gpus=1)
    change = smallest_change(SERVING, L40S, gpus=1)

    assert change is not None
    computed = {
        "peak": f"{placed.estimate.peak_bytes:,}",
        "needed memory": f"{placed.missing_bytes + L40S.memory_bytes:,}",
        "missing": f"{placed.missing_bytes:,}",
        "change": change.key,
    }
    assert {name: told()[name] for name in computed} == computed
