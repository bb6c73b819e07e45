"""Files of measurements: what is read, what is refused, what is counted and why."""

import csv
from collections import Counter
from contextlib import suppress
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizing.csv_tables import table_rows
from sizing.measurements import (
    COLUMNS,
    MOST_FILE_BYTES,
    MOST_ROWS,
    REASON_TEXTS,
    Measurement,
    MeasurementsFileError,
    Metric,
    NotJudged,
    Reason,
    measurement_sources,
    measurements_of,
    own_measurements,
    source_name,
)
from sizing.units import GIB, MIB

LORA_RUN = {
    "id": "x1",
    "task": "fine-tuning",
    "model": "Llama 2 7B",
    "method": "LoRA",
    "precision": "bf16",
    "optimizer": "AdamW",
    "seq_len": "1024",
    "micro_batch": "1",
    "gpus": "1",
    "metric": "peak_memory",
    "value": "16.5",
    "unit": "GB",
    "source": "https://example.org/a/b",
    "model_slug": "llama-2-7b-hf",
}


def file_of(*rows: dict[str, str], columns: tuple[str, ...] = COLUMNS) -> bytes:
    lines = [",".join(columns)]
    lines += [",".join(f'"{row.get(column, "")}"' for column in columns) for row in rows]
    return "\n".join(lines).encode()


def only_row(**changes: str) -> Measurement | NotJudged:
    table = measurements_of(content=file_of(LORA_RUN | changes))
    (row,) = (*table.measurements, *table.not_judged)
    return row


def reason_of(**changes: str) -> tuple[Reason, str]:
    row = only_row(**changes)
    assert isinstance(row, NotJudged)
    return row.reason, row.detail


class TestOwnTable:
    def test_every_row_can_be_judged(self) -> None:
        table = own_measurements()

        assert (table.rows, table.not_judged, table.missing_columns) == (399, (), ())

    def test_no_row_is_lost_between_the_table_and_those_left_out(self) -> None:
        kept = [row.id for row in own_measurements().measurements]
        left_out = [row["id"] for row in table_rows("measured_left_out.csv")]

        assert len(kept) + len(left_out) == len({*kept, *left_out}) == 529

    def test_the_reasons_of_the_rows_left_out_are_those_of_the_reader(self) -> None:
        table = files("sizing.tables").joinpath("measured_left_out.csv").read_bytes()

        read = {row.id: row.reason.value for row in measurements_of(content=table).not_judged}

        rows = table_rows("measured_left_out.csv")
        assert read == {row["id"]: row["reason"] for row in rows}
        assert Counter(read.values()) == {
            "other_task": 95,
            "other_metric": 15,
            "approximate": 11,
            "unknown_model": 4,
            "no_length": 3,
            "no_precision": 2,
        }

    def test_every_row_has_a_known_source(self) -> None:
        used = {row.source for row in own_measurements().measurements}

        assert used == set(measurement_sources())

    def test_every_source_has_a_licence_or_says_that_none_was_read(self) -> None:
        assert all(source.licence for source in measurement_sources().values())


class TestReading:
    @pytest.mark.parametrize(
        ("value", "unit", "expected"),
        [
            ("16.5", "GB", 16_500_000_000),
            ("16.5", "GiB", 16.5 * GIB),
            ("3412", "MiB", 3412 * MIB),
            ("3412", "mb", 3_412_000_000),
            ("7", "B", 7),
        ],
    )
    def test_takes_the_unit_of_the_row(self, value: str, unit: str, expected: float) -> None:
        row = only_row(value=value, unit=unit)

        assert isinstance(row, Measurement)
        assert row.value == expected

    def test_gives_the_cells_as_they_were_read(self) -> None:
        row = only_row(seq_len="1024.0", gpus="", note=" batch 1 ")

        assert isinstance(row, Measurement)
        assert (row.line, row.metric, row.gpus) == (2, Metric.PEAK_MEMORY, 1)
        assert row.cells["seq_len"] == "1024"
        assert row.cells["note"] == "batch 1"
        assert set(row.cells) == set(COLUMNS)

    @pytest.mark.parametrize(
        ("model", "slug"),
        [("Llama 2 7B", ""), ("anything", "llama-2-7b-hf"), ("LLAMA-2-7B-HF", "")],
    )
    def test_finds_a_model_by_its_slug_or_its_whole_name(self, model: str, slug: str) -> None:
        row = only_row(model=model, model_slug=slug)

        assert isinstance(row, Measurement)
        assert row.model_slug == row.cells["model_slug"] == "llama-2-7b-hf"

    def test_accepts_a_mark_of_byte_order_other_columns_and_blank_lines(self) -> None:
        content = b"\xef\xbb\xbf" + file_of(
            LORA_RUN | {"seen by": "me"}, columns=(*COLUMNS, "seen by")
        )

        table = measurements_of(content=content + b"\n\n\n")

        assert (len(table.measurements), table.rows) == (1, 1)

    def test_names_columns_that_are_missing_and_may_be(self) -> None:
        columns = tuple(column for column in COLUMNS if column not in {"gpu", "note"})

        table = measurements_of(content=file_of(LORA_RUN, columns=columns))

        assert table.missing_columns == ("gpu", "note")
        assert len(table.measurements) == 1

    def test_a_file_with_a_first_line_only_has_no_rows(self) -> None:
        assert measurements_of(content=file_of()).rows == 0


class TestRowsCountedOnly:
    @pytest.mark.parametrize(
        ("changes", "reason", "detail"),
        [
            ({"task": "image generation"}, Reason.OTHER_TASK, "image generation"),
            ({"task": ""}, Reason.OTHER_TASK, "no task"),
            ({"metric": "step_time"}, Reason.OTHER_METRIC, "step_time"),
            ({"metric": ""}, Reason.OTHER_METRIC, "no metric"),
            ({"metric": "decode_speed"}, Reason.OTHER_METRIC, "decode_speed of fine-tuning"),
            ({"value": "6,7"}, Reason.BROKEN_NUMBER, "value: 6,7"),
            ({"value": ""}, Reason.BROKEN_NUMBER, "value: none"),
            ({"value": "nan"}, Reason.BROKEN_NUMBER, "value: nan"),
            ({"value": "inf"}, Reason.BROKEN_NUMBER, "value: inf"),
            ({"value": "-3"}, Reason.BROKEN_NUMBER, "value: -3"),
            ({"value": "0"}, Reason.BROKEN_NUMBER, "value: 0"),
            ({"value": "1e99"}, Reason.BROKEN_NUMBER, "value: 1e99"),
            ({"seq_len": "long"}, Reason.BROKEN_NUMBER, "seq_len: long"),
            ({"seq_len": "0"}, Reason.BROKEN_NUMBER, "seq_len: 0"),
            ({"micro_batch": "-1"}, Reason.BROKEN_NUMBER, "micro_batch: -1"),
            ({"lora_rank": "9" * 400}, Reason.BROKEN_NUMBER, "lora_rank: " + "9" * 400),
            ({"gpus": "²"}, Reason.BROKEN_NUMBER, "gpus: ²"),
            ({"unit": "parsecs"}, Reason.UNKNOWN_UNIT, "parsecs for peak_memory"),
            ({"unit": ""}, Reason.UNKNOWN_UNIT, "none for peak_memory"),
            ({"unit": "tokens/s"}, Reason.UNKNOWN_UNIT, "tokens/s for peak_memory"),
            (
                {"model_slug": "llama-2-8b"},
                Reason.UNKNOWN_MODEL,
                "llama-2-8b; nearest: llama-3-8b, llama-3.2-3b, llama-3.2-1b",
            ),
            ({"model_slug": "", "model": ""}, Reason.UNKNOWN_MODEL, "no model"),
            ({"seq_len": ""}, Reason.NO_LENGTH, "LoRA"),
            ({"task": "inference", "precision": ""}, Reason.NO_PRECISION, "LoRA"),
            ({"note": "Approximately"}, Reason.APPROXIMATE, "Approximately"),
            ({"note": "documentation figure"}, Reason.APPROXIMATE, "documentation figure"),
            ({"note": "from a compilation page"}, Reason.COMPILATION, "from a compilation page"),
            ({"method": "full", "value": "53"}, Reason.BELOW_STATES, "53.0 GB, states 53.9 GB"),
            (
                {"method": "full", "value": "40", "note": "optimizer in backward"},
                Reason.BELOW_STATES,
                "40.0 GB, states 40.4 GB",
            ),
        ],
    )
    def test_a_row_is_counted_with_its_reason(
        self, changes: dict[str, str], reason: Reason, detail: str
    ) -> None:
        assert reason_of(**changes) == (reason, detail)

    @pytest.mark.parametrize(
        "changes",
        [
            {"value": "54"},
            {"value": "30", "optimizer": "AdamW 8-bit"},
            {"value": "30", "gpus": "2"},
            {"value": "30", "metric": "peak_memory_total"},
            {"value": "30", "note": "states offloaded"},
            {"value": "41", "note": "optimizer in backward"},
        ],
    )
    def test_a_full_run_that_may_be_as_small_is_judged(self, changes: dict[str, str]) -> None:
        assert isinstance(only_row(**{"method": "full"} | changes), Measurement)

    @pytest.mark.parametrize("cells", ["x1", "x1," * 40])
    def test_a_row_of_another_width_is_counted(self, cells: str) -> None:
        content = file_of(LORA_RUN) + b"\n" + cells.encode()

        table = measurements_of(content=content)

        assert [row.reason for row in table.not_judged] == [Reason.WRONG_CELLS]
        assert len(table.measurements) == 1

    def test_every_reason_has_its_words(self) -> None:
        assert set(REASON_TEXTS) == set(Reason)


class TestFilesRefused:
    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"", "the file is empty; its first line must name the columns: id,task"),
            (b" \n\n", "the file is empty"),
            (b"\xff\xfe\x00", "the file is not UTF-8 text; save the table as CSV in UTF-8"),
            (b"hello\nworld", "the first line lacks task, metric, value, unit; the columns are id"),
            (b"id;task;metric;value;unit\n", "separated by semicolons; use commas"),
            (b"task,metric,value,unit,value\n", "the first line names a column twice: value"),
            (b"a" * (MOST_FILE_BYTES + 1), f"at most {MOST_FILE_BYTES} are read; split it"),
            (
                b"task,metric,value,unit\n" + b"a,b,c,d\n" * (MOST_ROWS + 1),
                f"more than {MOST_ROWS} rows",
            ),
            (b'task,metric,value,unit\n"' + b"a" * 200_000, "the file is not CSV: field larger"),
        ],
    )
    def test_says_what_to_do(self, content: bytes, words: str) -> None:
        with pytest.raises(MeasurementsFileError) as caught:
            measurements_of(content=content)

        assert words in str(caught.value)

    @given(st.binary(max_size=200))
    def test_nothing_else_is_ever_raised_for_bytes(self, content: bytes) -> None:
        with suppress(MeasurementsFileError):
            assert measurements_of(content=content).rows >= 0

    @given(st.dictionaries(st.sampled_from(COLUMNS), st.text(max_size=12)))
    def test_every_row_is_judged_or_counted(self, changes: dict[str, str]) -> None:
        # The csv module writes what our own joining cannot.
        content = written(LORA_RUN | changes)

        assert measurements_of(content=content).rows == 1


def written(row: dict[str, str]) -> bytes:
    lines: list[str] = []
    writer = csv.DictWriter(Lines(lines), COLUMNS)
    writer.writeheader()
    writer.writerow(row)
    return "".join(lines).encode("utf-8", errors="replace")


class Lines:
    def __init__(self, lines: list[str]) -> None:
        self.lines = lines

    def write(self, text: str) -> int:
        self.lines.append(text)
        return len(text)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        (
            "https://github.com/hiyouga/LLaMA-Factory/wiki/Performance-comparison",
            "LLaMA-Factory wiki",
        ),
        ("https://example.org/team/runs", "team/runs"),
        ("", "no source"),
    ],
)
def test_names_a_source_shortly(url: str, name: str) -> None:
    assert source_name(url) == name
