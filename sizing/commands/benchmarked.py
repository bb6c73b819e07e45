"""Answers about work that is judged by benchmarks, as lines of text."""

from collections.abc import Iterable
from typing import Any

from sizing.units import GB


def memory_lines(content: dict[str, Any]) -> Iterable[str]:
    yield job_line(content)
    if content["needed_bytes"] is None:
        yield "Nobody has measured this setting: try another size or other weights."
        return
    yield f"Memory of the card: {_gb(content['needed_bytes'])} GB, {content['standing']}."
    if content["source"]:
        yield f"Source: {content['source']['url']}, of {content['source']['held_on']}."


def verdict_lines(content: dict[str, Any]) -> Iterable[str]:
    yield job_line(content)
    yield f"{'card':<28}{'memory GB':>10}{'needs GB':>10}  {'verdict':<13}{'speed':>26}  standing"
    yield from (_row_text(row) for row in content["cards"])


def cost_lines(content: dict[str, Any]) -> Iterable[str]:
    yield job_line(content)
    yield (
        f"{'card':<28}{'memory GB':>10}{'needs GB':>10}  {'verdict':<13}{'speed':>26}  "
        f"{'standing':<11}{'per hour':>9}{'total':>11}"
    )
    for row in content["rows"]:
        price, total = row["price_per_gpu_hour"] or "-", row["total"] or ""
        yield f"{_row_text(row):<102}{price:>9}{total:>11}".rstrip()


def job_line(content: dict[str, Any]) -> str:
    """Return the job in one line: its task, then what was told of it."""
    fields = {name: text for name, text in content["job"].items() if name != "task"}
    told = ", ".join(f"{name} {text}" for name, text in fields.items())
    return f"{content['job']['task']}: {told}"


def _row_text(row: dict[str, Any]) -> str:
    figure = row["figure"]
    speed = "" if figure is None else f"{figure['value']:,g} {figure['unit']}"
    standing = row["standing"] or "" if figure is None else figure["standing"]
    needed = "" if row["needed_bytes"] is None else _gb(row["needed_bytes"])
    text = (
        f"{row['card']:<28}{_gb(row['memory_bytes']):>10}{needed:>10}  "
        f"{row['verdict'] or 'not known':<13}{speed:>26}  {standing}"
    )
    return text.rstrip()


def _gb(size_bytes: int) -> str:
    return f"{size_bytes / GB:.2f}"
