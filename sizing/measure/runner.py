"""Running jobs on this machine's card, each in a process of its own so that its peaks are clean."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from sizing.measure import on_card
from sizing.measure.on_card import INSTALL, asked_devices
from sizing.measure.results import Result, result_of
from sizing.measure.runs import MeasuredRun, Work, job_of

# A full model is built and run in minutes; what takes an hour hangs.
MOST_SECONDS: Final = 3600
MOST_TOLD_LINES: Final = 3


class RunFailedError(Exception):
    """A run ended without a result; the message is what it said last."""


def missing_for(work: Work) -> str:
    """Return one line on what this machine lacks to measure, or nothing."""
    lacking = [name for name in INSTALL[work.value].split() if find_spec(name) is None]
    if lacking:
        return (
            f"{' and '.join(lacking)} not found, so nothing was measured: "
            f"pip install 'gpubourse[measure]' or pip install {INSTALL[work.value]}"
        )
    if not asked_devices():
        return (
            "no NVIDIA card found with nvidia-smi, so nothing was measured: run this on a machine "
            "with one"
        )
    return ""


def measured(run: MeasuredRun) -> Result:
    """Return what one run takes.

    Raises
    ------
    RunFailedError
        It ended without a result.
    """
    with TemporaryDirectory() as folder:
        job, out = Path(folder, "job.json"), Path(folder, "result.json")
        job.write_text(json.dumps(job_of(run)), encoding="utf-8")
        command = [sys.executable, on_card.__file__, "--job", str(job), "--out", str(out)]
        try:
            ended = subprocess.run(
                command, capture_output=True, check=False, text=True, timeout=MOST_SECONDS
            )
        except subprocess.TimeoutExpired:
            raise RunFailedError(f"no result after {MOST_SECONDS} seconds") from None
        if ended.returncode or not out.exists():
            told = ended.stderr.strip().splitlines()[-MOST_TOLD_LINES:]
            raise RunFailedError(" ".join(told) or f"exit status {ended.returncode}")
        return result_of(content=out.read_bytes())
