"""Tables read by blocks of rows: products and moments equal dense NumPy, from every kind of source."""

import numpy as np
import polars as pl
import pytest

from contracts import assert_near
from garrote.designs import ChunkedDesign, DenseDesign, StandardizedDesign
from garrote.designs.blocks.reading import read_ahead

ROWS, COLUMNS = 157, 9
NAMES = [f"gene_{j}" for j in range(COLUMNS)]


class Sliced:
    """An array of Zarr's or HDF5's kind: it has chunks, and slices of it are read."""

    chunks = (16, 4)

    def __init__(self, values):
        self._values, self.shape, self.dtype = values, values.shape, values.dtype

    def __getitem__(self, key):
        return self._values[key].copy()


def sample():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((ROWS, COLUMNS)) + rng.standard_normal((ROWS, 1))
    X[:, 2] += 1e4
    X[:, 5] = 0.1  # constant, and no sum of powers of 2
    return X


def as_frame(X):
    return pl.DataFrame({name: X[:, j] for j, name in enumerate(NAMES)})


def npy(X, folder):
    np.save(folder / "rows.npy", X)
    return ChunkedDesign(folder / "rows.npy", block_rows=40)


def memory_mapped(X, folder):
    np.save(folder / "turned.npy", np.asfortranarray(X))
    return ChunkedDesign(np.load(folder / "turned.npy", mmap_mode="r"), block_rows=31)


def sliced(X, folder):
    return ChunkedDesign(Sliced(X), block_rows=40)


def parquet(X, folder):
    as_frame(X).write_parquet(folder / "rows.parquet", row_group_size=50)
    return ChunkedDesign(folder / "rows.parquet", block_rows=40)


def folder_of_parquet(X, folder):
    (folder / "parts").mkdir(exist_ok=True)
    as_frame(X[:60]).write_parquet(folder / "parts" / "a.parquet")
    as_frame(X[60:]).write_parquet(folder / "parts" / "b.parquet")
    return ChunkedDesign(str(folder / "parts"), block_rows=100)


def arrow(X, folder):
    as_frame(X).write_ipc(folder / "rows.arrow")
    return ChunkedDesign(folder / "rows.arrow", block_rows=64)


def blocks(X, folder):
    return ChunkedDesign(lambda: (X[k : k + 23] for k in range(0, ROWS, 23)), block_rows=40)


SOURCES = [npy, memory_mapped, sliced, parquet, folder_of_parquet, arrow, blocks]
sources = pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.__name__)


@sources
def test_products_and_rows_equal_dense(source, tmp_path):
    X, rng = sample(), np.random.default_rng(0)
    design, columns = source(X, tmp_path), np.array([7, 2, 4])
    coef, left = rng.standard_normal((3, 2)), rng.standard_normal((4, ROWS))
    mean = X.mean(axis=0)
    assert design.shape == X.shape
    assert_near(design.dot(columns, coef), X[:, columns] @ coef)
    assert_near(design.tdot(left), left @ X)
    assert_near(design.tdot_from(3, left.T), X[:, 3:].T @ left.T)
    assert_near(design.take(columns, mean), X[:, columns] - mean[columns])
    assert_near(design.some_rows([150, 3, 3]), X[[150, 3, 3]])
    assert_near(design.row_lengths(), (X**2).sum(axis=1))
    assert_near(design.pick(columns).tdot(left), left @ X[:, columns])


@sources
def test_moments_and_cross_products_equal_dense(source, tmp_path):
    X, weights = sample(), np.random.default_rng(1).integers(0, 4, ROWS).astype(float)
    ours, plain = (
        StandardizedDesign(design, weights, covariates=np.array([1]))
        for design in (source(X, tmp_path), DenseDesign(X))
    )
    assert_near(ours.mean, plain.mean)
    assert_near(ours.scale, plain.scale)
    assert_near(ours.whole_gram(), plain.whole_gram())
    some, others = np.array([0, 8, 2]), np.array([2, 3])
    assert_near(ours.gram(some, others), plain.gram(some, others))


@sources
def test_condensed_table_has_the_moments_of_all_rows(source, tmp_path):
    X, rng = sample(), np.random.default_rng(2)
    y, weights = rng.standard_normal((ROWS, 2)), rng.integers(0, 3, ROWS).astype(float)
    part = rng.integers(0, 3, ROWS)
    small = source(X, tmp_path).condense(y, weights, part, 3, kept=np.array([5, 90]))
    table = small.design.some_rows(np.arange(len(small.weights)))
    level = X.mean(axis=0)
    for number in range(3):
        rows, few = part == number, small.part == number
        assert small.weights[few].sum() == pytest.approx(weights[rows].sum(), rel=1e-14)
        large = np.hstack([X[rows] - level, y[rows]])
        tiny = np.hstack([table[few] - level, small.y[few]])
        assert_near(small.weights[few] @ tiny, weights[rows] @ large)
        products = (tiny.T * small.weights[few]) @ tiny
        assert_near(products, (large.T * weights[rows]) @ large)
    assert_near(small.kept.X, X[[5, 90]])


def test_digits_survive_an_offset_of_a_billion_deviations():
    rng = np.random.default_rng(3)
    fine = rng.integers(-512, 512, (4000, 3)) / 256  # exact beside the offset
    X = fine + np.array([2.0**30, -(2.0**40), 0.0])
    design = ChunkedDesign(lambda: (X[k : k + 500] for k in range(0, 4000, 500)), block_rows=300)
    small = design.condense(fine[:, 0])
    view = StandardizedDesign(small.design, small.weights)
    expected = np.corrcoef(fine, rowvar=False) * 4000
    assert_near(view.whole_gram(), expected, 1e-9)
    np.testing.assert_allclose(view.mean, X.mean(axis=0), rtol=1e-14)


def test_columns_of_tiny_and_huge_numbers_keep_their_correlations():
    fine = np.random.default_rng(3).standard_normal((500, 3))
    X = fine * np.array([1e-140, 1.0, 1e140])
    small = ChunkedDesign(lambda: iter([X[:200], X[200:]])).condense(fine[:, 0])
    gram = StandardizedDesign(small.design, small.weights).whole_gram()
    assert_near(gram / 500, np.corrcoef(fine, rowvar=False), 1e-12)


def test_same_question_has_the_same_digits_each_time(tmp_path):
    X = sample()
    design, left = parquet(X, tmp_path), np.random.default_rng(0).standard_normal((3, ROWS))
    assert all((design.tdot(left) == design.tdot(left)).all() for _ in range(3))


def test_patterns_choose_columns_of_a_file(tmp_path):
    frame = as_frame(sample()).with_columns(y=pl.lit(1.5), city=pl.lit("Ulm"))
    frame.write_parquet(tmp_path / "t.parquet")
    design = ChunkedDesign(tmp_path / "t.parquet", columns=["gene_*"], exclude=["gene_3"])
    assert design.names == tuple(name for name in NAMES if name != "gene_3")
    assert (design.column("y") == 1.5).all()


def test_single_precision_and_whole_numbers_are_read_as_they_are(tmp_path):
    X = np.round(sample()[:, 6:] * 4)
    frame = pl.DataFrame({"a": X[:, 0].astype(np.int16), "b": X[:, 1] > 0, "c": X[:, 2]})
    frame.write_parquet(tmp_path / "mixed.parquet")
    mixed = ChunkedDesign(tmp_path / "mixed.parquet")
    assert_near(
        mixed.take(np.arange(3), np.zeros(3)), np.column_stack([X[:, 0], X[:, 1] > 0, X[:, 2]])
    )
    single = ChunkedDesign(X.astype(np.float32))
    assert single.dtype == np.float32
    assert_near(single.tdot(np.ones((1, ROWS)))[0], X.sum(axis=0))


# --- bad input


def refused(match, source, **settings):
    with pytest.raises((ValueError, TypeError, FileNotFoundError), match=match):
        summed(source, **settings)


def summed(source, **settings):
    design = ChunkedDesign(source, **settings)
    return design.tdot(np.ones((1, design.shape[0])))


def test_missing_value_is_named_by_file_row_and_column(tmp_path):
    X = sample()
    X[70, 4] = np.nan
    folder_of_parquet(X, tmp_path)
    refused(r"NaN\) at row 10 of b.parquet, column 'gene_4'", tmp_path / "parts")
    refused("at row 70, column 4", lambda: iter([X]))
    as_frame(X).with_columns(gene_4=pl.lit(None, pl.Int32)).write_parquet(tmp_path / "n.parquet")
    refused(r"NaN\) at row 0 of n.parquet, column 'gene_4'", tmp_path / "n.parquet")


def test_words_in_a_file_are_refused_before_it_is_read(tmp_path):
    frame = as_frame(sample()).with_columns(city=pl.lit("Ulm"))
    frame.write_parquet(tmp_path / "w.parquet")
    refused("w.parquet: 'city' holds words, not numbers: leave it out", tmp_path / "w.parquet")


def test_files_of_unlike_columns_are_refused_by_name(tmp_path):
    folder_of_parquet(sample(), tmp_path)
    frame = as_frame(sample())
    frame.drop("gene_2").write_parquet(tmp_path / "parts" / "c.parquet")
    refused("c.parquet lacks 'gene_2', beside a.parquet", tmp_path / "parts")
    frame.select(NAMES[::-1]).write_parquet(tmp_path / "parts" / "c.parquet")
    refused("c.parquet has its columns in another order", tmp_path / "parts")


def test_blocks_of_unlike_columns_are_refused(tmp_path):
    X = sample()
    refused(
        "block 1, from row 50 on, has 8 columns, and those before have 9",
        lambda: iter([X[:50], X[:, :8]]),
    )
    frames = [as_frame(X), as_frame(X).rename({"gene_1": "gene_x"})]
    refused("'gene_x' where the first has 'gene_1'", lambda: iter(frames))


def test_file_that_changes_while_it_is_read_is_refused(tmp_path):
    design = parquet(sample(), tmp_path)
    as_frame(sample()[:99]).write_parquet(tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match=r"rows.parquet has changed since it was opened"):
        design.tdot(np.ones((1, ROWS)))
    (tmp_path / "rows.parquet").unlink()
    with pytest.raises(ValueError, match=r"rows.parquet"):
        design.tdot(np.ones((1, ROWS)))


def test_iterator_that_can_be_read_once_is_refused():
    X = sample()
    refused("a generator can be read only once", (X[k : k + 9] for k in range(0, ROWS, 9)))
    once = iter([X])
    refused("returned the same iterator again", lambda: once)
    state = iter([[X], [X[:40]]])
    refused("the blocks hold 40 rows, and held 157 before", lambda: next(state), block_rows=200)


def test_tables_without_rows_and_unknown_things_are_refused(tmp_path):
    as_frame(sample()[:0]).write_parquet(tmp_path / "empty.parquet")
    refused("empty.parquet has no rows", tmp_path / "empty.parquet")
    refused("gave none", lambda: iter([]))
    refused("no file or folder", tmp_path / "nowhere.parquet")
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    refused("write the table as Parquet first", tmp_path / "x.csv")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 but no more than that PAR1")
    refused("bad.parquet is damaged or cut off", tmp_path / "bad.parquet")
    refused("rows cannot be read from a int", 3)
    refused("must hold numbers, got an array of <U1", np.array([["a", "b"]]))
    refused("two dimensions", np.zeros(4))
    refused(
        "has no column 'weight'", parquet(sample(), tmp_path)._rows._paths[0], exclude=["weight"]
    )


def test_error_in_a_block_reaches_the_reader_and_ends_the_thread():
    def broken():
        yield 1
        raise OSError("the disk is gone")

    items = read_ahead(broken())
    assert next(items) == 1
    with pytest.raises(OSError, match="the disk is gone"):
        next(items)


def test_reader_that_stops_early_lets_the_thread_end():
    closed = []

    def endless():
        try:
            while True:
                yield 0
        finally:
            closed.append(True)

    items = read_ahead(endless())
    assert next(items) == 0
    items.close()
    assert closed == [True]
