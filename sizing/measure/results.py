"""Reading what the script measured. Files come from anywhere, so they are read strictly."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, NoReturn

from sizing.measure.on_card import RESULT_FORMAT

# A result has some fifty lines; more was meant for something else.
MOST_FILE_BYTES: Final = 64 * 1024
MOST_BYTES: Final = 10**15
MOST_TOKENS_PER_S: Final = 10**9
MOST_NAME_CHARACTERS: Final = 120
MOST_PACKAGES: Final = 20

PROBLEMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "too_large": "The file has more than {most} kB: choose the result that the script wrote.",
        "not_text": "The file is not text: choose the result that the script wrote, a .json file.",
        "not_json": "The file is not JSON: choose the result that the script wrote, unchanged.",
        "other_format": "The file is not a result of this script ({format}): choose the file that "
        "the script wrote, or take the script anew and run it again.",
        "broken": "The file lacks {field} or has a value there that cannot be: run the script "
        "again and choose the file that it writes.",
        "other_job": "The file is the result of another test: choose the one of this page’s script.",
        "rehearsed": "The script was only rehearsed, without a card: run it on the rented card.",
    }
)


class ResultError(ValueError):
    """A file that is no result; ``problem`` is a key of `PROBLEMS`."""

    def __init__(self, problem: str, **values: object) -> None:
        self.problem = problem
        self.values: Mapping[str, object] = MappingProxyType(values)
        super().__init__(PROBLEMS[problem].format(**values))


class Outcome(StrEnum):
    MEASURED = "measured"
    OUT_OF_MEMORY = "out_of_memory"
    REHEARSED = "rehearsed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What was measured, in bytes and tokens per second; None where it was not.

    ``device_bytes`` is all that the run added to the card, the driver's context included.
    ``allocated_bytes`` are tensors, ``reserved_bytes`` what PyTorch held for them.
    ``prompt_bytes`` are the tensors of reading a prompt, of inference only; the others are then
    of writing. Where memory ran out the peaks are how far it came.
    """

    job: Mapping[str, Any]
    outcome: Outcome
    allocated_bytes: int | None
    reserved_bytes: int | None
    device_bytes: int | None
    others_bytes: int | None
    prompt_bytes: int | None
    prefill_tokens_per_s: float | None
    decode_tokens_per_s: float | None
    step_seconds: float | None
    gpu: str
    memory_bytes: int | None
    driver: str
    packages: Mapping[str, str]

    @property
    def peak_bytes(self) -> int | None:
        """What the card must have for this run, as near as it was measured."""
        tensors = (self.reserved_bytes, self.allocated_bytes, self.prompt_bytes)
        return self.device_bytes or max((size for size in tensors if size), default=None)


def result_of(*, content: bytes) -> Result:
    """Read a result file.

    Raises
    ------
    ResultError
        It is no such file, or says what cannot be.
    """
    content_of_file = _object(content)
    if content_of_file.get("format") != RESULT_FORMAT:
        raise ResultError("other_format", format=RESULT_FORMAT)
    outcome = _outcome(content_of_file)
    peaks, speeds = _part(content_of_file, "peaks"), _part(content_of_file, "speeds")
    machine = _part(content_of_file, "machine")
    result = Result(
        job=MappingProxyType(_part(content_of_file, "job")),
        outcome=outcome,
        allocated_bytes=_bytes(peaks, "allocated_bytes"),
        reserved_bytes=_bytes(peaks, "reserved_bytes"),
        device_bytes=_bytes(peaks, "device_bytes"),
        others_bytes=_bytes(peaks, "others_bytes"),
        prompt_bytes=_bytes(speeds, "prompt_bytes") or None,
        prefill_tokens_per_s=_speed(speeds, "prefill_tokens_per_s"),
        decode_tokens_per_s=_speed(speeds, "decode_tokens_per_s"),
        step_seconds=_speed(speeds, "step_seconds"),
        gpu=_name(machine, "gpu"),
        memory_bytes=_bytes(machine, "memory_bytes"),
        driver=_name(machine, "driver"),
        packages=_packages(machine),
    )
    _check_whole(result)
    return result


def _check_whole(result: Result) -> None:
    """Refuse a measurement without its figures, or with figures that contradict each other."""
    if result.outcome is not Outcome.MEASURED:
        return
    if not result.allocated_bytes or not result.reserved_bytes:
        _broken("allocated_bytes")
    if not result.memory_bytes or (result.peak_bytes or 0) > result.memory_bytes:
        _broken("memory_bytes")
    if not result.gpu:
        _broken("gpu")


def _object(content: bytes) -> dict[str, Any]:
    if len(content) > MOST_FILE_BYTES:
        raise ResultError("too_large", most=MOST_FILE_BYTES // 1024)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ResultError("not_text") from None
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        raise ResultError("not_json") from None
    if not isinstance(whole, dict):
        raise ResultError("other_format", format=RESULT_FORMAT)
    return whole


def _outcome(whole: Mapping[str, Any]) -> Outcome:
    try:
        return Outcome(str(whole.get("outcome")))
    except ValueError:
        _broken("outcome")


def _broken(field: str) -> NoReturn:
    raise ResultError("broken", field=field)


def _part(whole: Mapping[str, Any], field: str) -> dict[str, Any]:
    part = whole.get(field)
    if not isinstance(part, dict):
        _broken(field)
    return part


def _bytes(part: Mapping[str, Any], field: str) -> int | None:
    size = part.get(field)
    if size is None:
        return None
    if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size <= MOST_BYTES:
        _broken(field)
    return size


def _speed(part: Mapping[str, Any], field: str) -> float | None:
    speed = part.get(field)
    if speed is None:
        return None
    is_number = isinstance(speed, int | float) and not isinstance(speed, bool)
    if not is_number or not 0 < speed <= MOST_TOKENS_PER_S:
        _broken(field)
    return float(speed)


def _name(part: Mapping[str, Any], field: str) -> str:
    name = part.get(field, "")
    if not isinstance(name, str) or len(name) > MOST_NAME_CHARACTERS or not name.isprintable():
        _broken(field)
    return name


def _packages(machine: Mapping[str, Any]) -> Mapping[str, str]:
    versions = machine.get("packages", {})
    if not isinstance(versions, dict) or len(versions) > MOST_PACKAGES:
        _broken("packages")
    return MappingProxyType(
        {name: _name(versions, name) for name in versions if _name({"n": name}, "n")}
    )
