"""The table of a use case as a template reads it: rows of cells, each with its column."""

from collections.abc import Sequence
from dataclasses import dataclass

from catalog.queries import GpuRow
from catalog.use_cases.cells import Cell
from catalog.use_cases.columns import Column, Kind
from catalog.use_cases.rows import CaseRow


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCell:
    """A cell with its column and, for sizes of models, the largest of the column."""

    column: Column
    cell: Cell
    largest_b: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRow:
    row: GpuRow
    cells: tuple[ShownCell, ...]


def shown_rows(*, cases: Sequence[CaseRow], columns: Sequence[Column]) -> list[ShownRow]:
    """Return the rows of the table; a size of a model is drawn against the largest of its column."""
    filled = [[column.cell(case) for column in columns] for case in cases]
    largest = [
        max((_size_b(cells[place]) for cells in filled), default=0)
        if column.kind == Kind.BILLIONS
        else 0
        for place, column in enumerate(columns)
    ]
    return [
        ShownRow(
            row=case.row,
            cells=tuple(
                ShownCell(column=column, cell=cell, largest_b=top)
                for column, cell, top in zip(columns, cells, largest, strict=True)
            ),
        )
        for case, cells in zip(cases, filled, strict=True)
    ]


def _size_b(cell: Cell) -> int:
    return cell.value if isinstance(cell.value, int) else 0
