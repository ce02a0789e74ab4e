"""Pieces of any height become blocks of one height, looked at for what is no number, and read ahead."""

from collections.abc import Iterator
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Any, TypeVar

import numpy as np

from garrote.arrays import Array
from garrote.designs.blocks.sources import Rows
from garrote.limits.magnitudes import VALUES

Item = TypeVar("Item")

# Blocks that are ready before they are asked for: one is worked on while the next one is decoded.
_AHEAD = 2
_SECONDS = 0.1


def read_blocks(rows: Rows, columns: Array, height: int) -> Iterator[tuple[int, Array]]:
    """Yield (first row, block) of some columns, all blocks of ``height`` rows but the last.

    The same blocks whatever the pieces were: sums over blocks have the same digits each time.
    """
    # Pieces are a few at a time, not as many as a block of few columns could hold.
    pieces = rows.pieces(columns, height)
    yield from read_ahead(_checked(_even(rows, pieces, height, len(columns)), rows, columns))


def _even(
    rows: Rows, pieces: Iterator[Array], height: int, width: int
) -> Iterator[tuple[int, Array]]:
    total, start, filled = rows.shape[0], 0, 0
    block: Array | None = None
    for piece in pieces:
        taken = 0
        while taken < len(piece):
            if start >= total:
                raise ValueError(f"X has more rows than the {total} that it had when it was opened")
            tall = min(height, total - start)
            if block is None and len(piece) - taken >= tall and not taken and len(piece) == tall:
                yield start, piece  # as it came
                start, taken = start + tall, tall
                continue
            if block is None:
                block, filled = np.empty((tall, width), rows.dtype, order=rows.order), 0
            more = min(tall - filled, len(piece) - taken)
            block[filled : filled + more] = piece[taken : taken + more]
            filled, taken = filled + more, taken + more
            if filled == tall:
                yield start, block
                start, block = start + tall, None
    if start < total:
        raise ValueError(
            f"X has {start + filled * (block is not None)} rows, and had {total} when it was opened"
        )


def _checked(
    blocks: Iterator[tuple[int, Array]], rows: Rows, columns: Array
) -> Iterator[tuple[int, Array]]:
    for start, block in blocks:
        if block.dtype.kind == "f":
            check_block(block, start, columns, rows.names, rows.place)
        yield start, block


def check_block(block: Array, start: int, columns: Array, names: Any, place: Any) -> None:
    """Refuse what is no number, or too large to be squared, with its row and column."""
    flat = block.reshape(-1) if block.flags.c_contiguous else block.T.reshape(-1)
    with np.errstate(over="ignore", invalid="ignore"):
        if float(flat @ flat) <= VALUES.most**2:  # False for what is no number, too
            return
        bad = ~(np.abs(block) <= VALUES.most)
    if not bad.any():
        return  # the sum alone was too large
    row = int(np.argmax(bad.any(axis=1)))
    column = int(np.argmax(bad[row]))
    value = float(block[row, column])
    j = int(columns[column])
    name = str(j) if names is None else repr(names[j])
    where = f"{place(start + row)}, column {name}"
    if np.isnan(value):
        raise ValueError(
            f"X has a missing value (NaN) at {where}: leave that row or column out, or impute it before "
            "the table is written"
        )
    raise ValueError(
        f"X is {value:.3g} at {where}: numbers beyond {VALUES.most:g} are refused, as {VALUES.why}; "
        "rescale that column"
    )


class _Ended:
    """What stands for the end of an iterator, with the error that ended it, if any."""

    def __init__(self, error: BaseException | None):
        self.error = error


def read_ahead(items: Iterator[Item], ahead: int = _AHEAD) -> Iterator[Item]:
    """Yield items that a thread takes from an iterator before they are asked for."""
    ready: Queue[Any] = Queue(ahead)
    stop = Event()

    def offer(item: Any) -> bool:
        while not stop.is_set():
            try:
                ready.put(item, timeout=_SECONDS)
                return True
            except Full:
                continue
        return False

    def work() -> None:
        error: BaseException | None = None
        try:
            for item in items:
                if not offer(item):
                    break
        except BaseException as raised:  # handed on to whoever reads
            error = raised
        finally:
            close = getattr(items, "close", None)
            if close is not None:
                close()
        offer(_Ended(error))

    thread = Thread(target=work, name="garrote-reads-ahead", daemon=True)
    thread.start()
    try:
        while True:
            item = ready.get()
            if isinstance(item, _Ended):
                if item.error is not None:
                    raise item.error
                return
            yield item
    finally:
        stop.set()
        while True:  # let go of what nobody will ask for
            try:
                ready.get_nowait()
            except Empty:
                break
        thread.join()
