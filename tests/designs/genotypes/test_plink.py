"""Genotypes of 2 bits each, through every way to look at them, equal plain dense NumPy."""

from typing import NamedTuple

import numpy as np
import pytest

from contracts import Plain, View, assert_near, frozen, sweep_once
from garrote import Problem, SparseRegressor
from garrote.designs import PlinkDesign, StandardizedDesign
from garrote.designs.genotypes.codes import columns_per_call
from garrote.rules import shrink
from genotype_files import drawn, filled, write_plink
from pairwise import pairwise

COUNT = 13
SOME, OTHERS = np.array([4, 0, 11, 3]), np.array([11, 6, 7, 8, 9])


class FollowLeastSquares(NamedTuple):
    """No shrinkage at all: shows what the column functions compute."""

    nothing: float = 0.0


@shrink.register
def _(rule: FollowLeastSquares, j, z, curvature):
    return z


def sample(n, missing=0.15, seed=0):
    """Column 3 is constant, column 7 missing everywhere, column 9 has no gap."""
    copies = drawn(n, COUNT, seed, missing)
    copies[:, 3], copies[:, 7] = 1, -1
    copies[:, 9] = np.arange(n) % 3
    return copies


def stored(folder, rows="all", files=1, n=41):
    """Return a design and the dense matrix that it stands for."""
    copies, first, paths = sample(n), 0, []
    for k, part in enumerate(np.array_split(np.arange(COUNT), files)):
        path = folder / f"part{k}.bed"
        paths.append(write_plink(path, copies[:, part], chromosome=str(k + 1), first=first))
        first += len(part)
    keep = {
        "all": None,
        "most, in another order": np.random.default_rng(1).permutation(n)[: n - 4],
        "few": np.array([5, 3, 20, 17]),
        "very few, copied": np.array([7, 30, 2]) if n > 24 else np.array([1, 0]),
    }[rows]
    design = PlinkDesign(paths if files > 1 else paths[0], keep=keep)
    return design, filled(copies if keep is None else copies[keep])


ROWS = ["all", "most, in another order", "few", "very few, copied"]
kinds = pytest.mark.parametrize(
    ("rows", "files"), [(rows, files) for rows in ROWS for files in (1, 3)]
)


@kinds
def test_products_equal_dense(tmp_path, rows, files):
    design, X = stored(tmp_path, rows, files)
    rng = np.random.default_rng(0)
    assert design.shape == X.shape
    for count in (1, 2, 3, 8):
        left = rng.standard_normal((count, len(X)))
        assert_near(design.tdot(left), left @ X)
        assert_near(design.tdot(left[:, ::-1]), left[:, ::-1] @ X)
        coef = rng.standard_normal((4, count))
        assert_near(design.dot(SOME, coef), X[:, SOME] @ coef)
    left = rng.standard_normal((3, len(X)))
    assert_near(design.tdot_from(5, left.T), X[:, 5:].T @ left.T)
    assert design.dot(np.zeros(0, int), np.zeros((0, 2))).shape == (len(X), 2)


@kinds
def test_copies_of_columns_and_rows_equal_dense(tmp_path, rows, files):
    design, X = stored(tmp_path, rows, files)
    mean = X.mean(axis=0)
    assert_near(design.take(SOME, mean), X[:, SOME] - mean[SOME])
    assert_near(design.some_rows(np.array([2, 0])), X[[2, 0]])
    picked = design.pick(SOME)
    assert picked.names == tuple(design.names[j] for j in SOME)
    assert_near(picked.take(np.arange(4), np.zeros(4)), X[:, SOME])
    assert_near(picked.pick([1]).take([0], np.zeros(1)), X[:, [0]])


@kinds
@pytest.mark.parametrize("weights", ["equal", "some zero"])
def test_moments_and_cross_products_equal_dense(tmp_path, rows, files, weights):
    design, X = stored(tmp_path, rows, files)
    w = View(True, True, weights).weights_for(len(X))
    mean, scale = w @ X / w.sum(), np.linspace(0.5, 2.0, COUNT)
    found = design.moments(w)
    assert_near(found.mean, mean)
    assert_near(found.deviation, np.sqrt(w @ (X - mean) ** 2 / w.sum()))
    assert found.deviation[3] == found.deviation[7] == 0.0
    Z = (X - mean) / scale
    expected = Z[:, SOME].T @ (w[:, None] * Z[:, OTHERS])
    assert_near(design.gram(SOME, OTHERS, mean, scale, w), expected)


VIEWS = pairwise(
    {
        "rows": ROWS[:2],
        "files": [1, 3],
        "center": [True, False],
        "scale": [True, False],
        "weights": ["equal", "some zero"],
        "covariates": [(), (2, 5)],
    }
)


@pytest.mark.parametrize("row", VIEWS, ids=lambda row: ", ".join(map(str, row.values())))
def test_views_equal_dense(tmp_path, row):
    row = dict(row)
    design, X = stored(tmp_path, row.pop("rows"), row.pop("files"))
    view = View(**row)
    plain, seen = Plain(X, view), view.of(design)
    coef = np.random.default_rng(0).standard_normal((4, 2))
    usable = np.array([4, 0, 11, 8])
    assert_near(seen.dot(usable, coef), plain.Z[:, usable] @ coef)
    assert_near(seen.block(usable), plain.Z[:, usable])
    left = plain.residualised_rows(
        np.random.default_rng(3).standard_normal((3, len(X))), view.covariates
    )
    used = ~plain.constant
    assert_near(seen.tdot(left)[:, used], ((left * plain.weights) @ plain.Z)[:, used])
    assert_near(seen.curvature, plain.curvature)
    assert_near(seen.whole_gram(), plain.Z.T @ (plain.weights[:, None] * plain.Z))


@kinds
@pytest.mark.parametrize("weights", ["equal", "some zero"])
def test_loops_over_columns_read_what_is_stored(tmp_path, rows, files, weights):
    design, X = stored(tmp_path, rows, files)
    w = frozen(View(True, True, weights).weights_for(len(X)))
    seen, plain = StandardizedDesign(design, w), Plain(X, View(True, True, weights))
    y = np.random.default_rng(5).standard_normal(len(X))
    order = [j for j in range(COUNT) if seen.curvature[j] > 0]
    coef, target = sweep_once(
        seen.columns(), FollowLeastSquares(), np.zeros(COUNT), y, w, seen.curvature, order
    )
    left, expected = y.copy(), np.zeros(COUNT)
    for j in order:
        column = plain.Z[:, j]
        expected[j] = column @ (w * left) / plain.curvature[j]
        left -= expected[j] * column
    assert_near(coef, expected)
    assert_near(target[order], expected[order])


def test_blocks_of_bytes_are_added_up(tmp_path):
    """More rows than are read before the next column is turned to."""
    copies = drawn(33_001, 3, missing=0.01)
    design, X = PlinkDesign(write_plink(tmp_path / "tall.bed", copies)), filled(copies)
    left = np.random.default_rng(0).standard_normal((3, len(X)))
    assert_near(design.tdot(left), left @ X)
    assert_near(design.dot(np.arange(3), left[:, :3].T), X @ left[:, :3].T)
    assert_near(design.moments(left[0] ** 2).mean, left[0] ** 2 @ X / (left[0] @ left[0]))


def test_a_call_of_a_kernel_takes_milliseconds_however_long_columns_are():
    assert columns_per_call(10**9) == 4
    assert columns_per_call(5000) * 20_000 <= 2**24


def test_missing_calls_and_frequencies_are_counted_among_the_rows(tmp_path):
    copies = sample(41)
    path = write_plink(tmp_path / "a.bed", copies)
    for keep in (None, np.array([4, 8, 15, 16, 23, 31]), np.array([1, 2])):
        kept = copies if keep is None else copies[keep]
        design = PlinkDesign(path, keep=keep)
        np.testing.assert_array_equal(design.missing, (kept < 0).sum(axis=0))
        with np.errstate(invalid="ignore"):
            known = (kept >= 0).sum(axis=0)
            np.testing.assert_allclose(
                design.frequency, np.where(kept < 0, 0, kept).sum(axis=0) / known / 2
            )


def test_rows_and_variants_are_chosen_by_name_region_and_frequency(tmp_path):
    copies = drawn(40, 12)
    path = write_plink(tmp_path / "a.bed", copies, chromosome="chr6")
    design = PlinkDesign(path, keep=["p7", "p3", ("f11", "p11")], variants=["rs4", "rs2"])
    np.testing.assert_array_equal(
        design.take(np.arange(2), np.zeros(2)), copies[[7, 3, 11]][:, [4, 2]]
    )
    assert design.people.individual.tolist() == ["p7", "p3", "p11"]
    assert PlinkDesign(path, region="6:3000-5000").names == ("rs2", "rs3", "rs4")
    assert PlinkDesign(path, region=["CHR6:1,000-2,000", "6:12000-13000"]).names == (
        "rs0", "rs1", "rs11",
    )  # fmt: skip
    assert PlinkDesign(path, region="chr6").shape == (40, 12)
    whole = PlinkDesign(path)
    rarer = np.minimum(whole.frequency, 1 - whole.frequency)
    some = PlinkDesign(path, min_frequency=float(np.median(rarer)))
    assert some.names == tuple(np.array(whole.names)[rarer >= np.median(rarer)])
    assert PlinkDesign(str(path).removesuffix(".bed")).shape == (40, 12)


def test_variants_without_a_name_of_their_own_are_called_by_their_place(tmp_path):
    lines = [
        "1 . 0 100 A G",
        "1 rs1 0 200 A G",
        "1 rs1 0 300 C G",
        "1 . 0 100 A G",
        "1 rs2 0 9 T C",
    ]
    path = write_plink(tmp_path / "a.bed", drawn(8, 5), bim=lines)
    assert PlinkDesign(path).names == (
        "1:100:G:A#1",
        "1:200:G:A",
        "1:300:G:C",
        "1:100:G:A#2",
        "rs2",
    )


def test_columns_carry_their_names_into_a_fit(tmp_path):
    copies = drawn(60, 8)
    design = PlinkDesign(write_plink(tmp_path / "a.bed", copies))
    y = copies[:, 2] + 0.1 * np.random.default_rng(0).standard_normal(60)
    model = SparseRegressor("lasso", alpha=0.2).fit(design, y)
    assert model.selection_.table().columns["variable"] == ["rs2"]


def test_a_problem_of_genotypes_leaves_files_as_they_are(tmp_path):
    path = write_plink(tmp_path / "a.bed", drawn(60, 8))
    before = path.read_bytes()
    problem = Problem.from_rows(PlinkDesign(path), np.arange(60.0))
    assert not problem.table.stored._files[0].flags.writeable
    assert path.read_bytes() == before


def test_real_genotypes_equal_those_read_bit_by_bit(shared_data):
    for name, n, count in (("bigsnpr_example", 517, 4542), ("bigsnpr_example-missing", 200, 500)):
        design = PlinkDesign(shared_data / f"{name}.bed")
        assert design.shape == (n, count)
        data = np.fromfile(shared_data / f"{name}.bed", dtype=np.uint8)[3:].reshape(count, -1)
        codes = np.stack([data >> shift & 3 for shift in (0, 2, 4, 6)], axis=2).reshape(count, -1)
        X = filled(np.array([2, -1, 1, 0])[codes[:, :n].T])
        left = np.random.default_rng(0).standard_normal((2, n))
        assert_near(design.tdot(left), left @ X)
        assert_near(design.moments(np.ones(n)).deviation, X.std(axis=0))
        assert (name == "bigsnpr_example") == (design.missing.sum() == 0)
