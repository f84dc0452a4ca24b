"""A plain table: columns as wide as their longest cell, two blanks between."""

from collections.abc import Sequence

__all__ = ["table"]


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The lines of a table, without blanks at their ends."""
    widths = [max(len(cell) for cell in cells) for cells in zip(columns, *rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (columns, *rows)
    )
    return "\n".join(lines)
