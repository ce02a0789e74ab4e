"""Tables on disk, or made on demand, that are read block by block in this process."""

from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np

from garrote.arrays import Array
from garrote.designs.blocks.base import BlockDesign, Pass, block_height
from garrote.designs.blocks.reading import read_blocks
from garrote.designs.blocks.sources import as_rows


class ChunkedDesign(BlockDesign):
    """A table that is larger than memory, read a block of rows at a time.

    Parameters
    ----------
    source : path, array or function
        A ``.npy``, Parquet or Arrow file, or a folder of Parquet or Arrow files with the same columns; a
        memory-mapped array, one of Zarr or of HDF5, or any other that is sliced by rows; or a function
        that returns an iterator of blocks of rows, a new one each time it is called.
    columns : sequence of str, optional
        The columns of files to use, by names or patterns such as "gene_*"; by default all.
    exclude : sequence of str, optional
        Columns of files to leave out.
    shape : (rows, columns), optional
        Of what a function gives, where it is known; it is called once to count rows else.
    block_rows : int, optional
        How many rows are held at once; by default some 64 MB of them.

    Attributes
    ----------
    shape : tuple of int
    names : tuple of str, or None
        Of the columns of files.

    Notes
    -----
    Regressions of numbers on up to 20,000 columns take one pass: rows are replaced by a small table
    with the same moments (`condense`), on which every method runs as it is. Where y has ties, a pass
    before it decides on folds. Labels, counts and wider tables take a pass for each product with X.

    Files that change while they are read, blocks of unlike columns and missing values are refused.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote import SparseRegressor
    >>> from garrote.designs import ChunkedDesign
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2000, 8))
    >>> y = X[:, 1] - X[:, 4] + rng.standard_normal(2000)
    >>> np.save("rows.npy", X)
    >>> model = SparseRegressor(rule="1se").fit(ChunkedDesign("rows.npy"), y)
    >>> model.get_support(indices=True)
    array([1, 4])
    """

    def __init__(
        self,
        source: Any,
        *,
        columns: Sequence[str] | None = None,
        exclude: Sequence[str] = (),
        shape: tuple[int | None, int] | None = None,
        block_rows: int | None = None,
    ):
        exclude = [exclude] if isinstance(exclude, str) else exclude
        self._rows = as_rows(source, columns, exclude, shape)
        self.shape, self.dtype, self.names = (
            self._rows.shape,
            self._rows.dtype,
            self._rows.names,
        )
        if not all(self.shape):
            raise ValueError(f"X has shape {self.shape}: it needs rows and columns")
        if block_rows is not None and block_rows < 1:
            raise ValueError(f"block_rows must be at least 1, got {block_rows}")
        self.block_rows = block_rows or block_height(self.shape)
        self.nbytes = self.shape[0] * self.shape[1] * self.dtype.itemsize

    def column(self, name: str) -> Array:
        """Return one column of a file, which need not be among those in use: the response, say."""
        return self._rows.column(name)

    def each(self, work: Pass, columns: Array | None = None) -> Generator[Any]:
        wanted = np.arange(self.shape[1]) if columns is None else np.asarray(columns)
        for start, block in read_blocks(self._rows, wanted, self.block_rows):
            yield work.task(block, *work.parts(start, start + len(block)))

    def fold(
        self,
        work: Pass,
        join: Callable[[Any, Any], Any],
        columns: Array | None = None,
        tell: Callable[[int, int], None] | None = None,
    ) -> Any:
        wanted = np.arange(self.shape[1]) if columns is None else np.asarray(columns)
        state = None
        for start, block in read_blocks(self._rows, wanted, self.block_rows):
            state = work.task(state, block, *work.parts(start, start + len(block)))
            if tell is not None:
                tell(start + len(block), self.shape[0])
        return state
