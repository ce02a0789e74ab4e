"""Whether there is memory for what a table states, asked before any of it is taken."""

from garrote.limits.memory import free_memory
from garrote.tables.errors import TableError

_BYTES_A_COLUMN = 7000  # measured: what is kept of a column beside its numbers, at the peak


def refuse_beyond_memory(label: str, needed: float, what: str, remedy: str) -> None:
    """Refuse what needs more memory than is free; where that is unknown, try."""
    free = free_memory()
    if free is not None and needed > free:
        raise TableError(
            f"{label}: {what} need {needed / 1e9:,.1f} GB of memory, and {free / 1e9:,.1f} GB are free: "
            f"{remedy}"
        )


def refuse_too_wide(label: str, columns: int) -> None:
    """Refuse more columns than there is memory to keep their names and what is found of them."""
    refuse_beyond_memory(
        label,
        columns * _BYTES_A_COLUMN,
        f"{columns:,} columns",
        "turn the table, if its rows are in columns, or split it",
    )
