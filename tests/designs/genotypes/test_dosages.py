"""Dosages in files of PLINK 2 and BGEN, through every way to look at them, equal plain dense NumPy."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from conftest import NO_GENETICS
from contracts import assert_near
from garrote import SingleEffectsRegressor, SparseRegressor
from garrote.designs import BgenDesign, PgenDesign, PlinkDesign
from garrote.designs.genotypes import open_genotypes
from genotype_files import drawn, write_bgen, write_pgen, write_plink

pytest.importorskip("pgenlib", reason=NO_GENETICS)
cbgen = pytest.importorskip("cbgen", reason=NO_GENETICS)

N, COUNT = 41, 13
SOME, OTHERS = np.array([4, 0, 11, 3]), np.array([11, 6, 7, 8, 9])


def dosages(whole=False, n=N, count=COUNT, missing=0.15):
    """Column 3 is constant, column 7 missing everywhere, column 9 has no gap."""
    rng = np.random.default_rng(0)
    found = drawn(n, count, 0).astype(float)
    if not whole:
        found = np.clip(found + 0.3 * rng.uniform(-1, 1, found.shape), 0, 2)
    found[rng.random(found.shape) < missing] = np.nan
    found[:, 3], found[:, 7], found[:, 9] = 1.0, np.nan, np.arange(n) % 3
    return found


def with_means(values):
    known = ~np.isnan(values)
    means = np.where(known, values, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.where(known, values, means)


KINDS = ["pgen", "pgen of calls", "bgen", "bgen phased", "bgen of calls"]


def stored(folder, kind, keep=None, files=1):
    """Return a design and the dense matrix that it stands for."""
    values, paths, held = dosages("calls" in kind), [], []
    for k, part in enumerate(np.array_split(np.arange(COUNT), files)):
        name, first = f"part{k}.{kind[:4]}", int(part[0])
        paths.append(folder / name)
        chosen = values[:, part]
        if kind.startswith("pgen"):
            held.append(write_pgen(paths[-1], chosen, chromosome=str(k + 1), first=first))
        else:
            held.append(
                write_bgen(paths[-1], chosen, phased="phased" in kind, chromosome=str(k + 1))
            )
    design = (PgenDesign if kind.startswith("pgen") else BgenDesign)(paths, keep=keep)
    X = np.hstack(held)
    return design, with_means(X if keep is None else X[keep])


kinds = pytest.mark.parametrize("kind", KINDS)


@kinds
@pytest.mark.parametrize(("keep", "files"), [(None, 1), (np.array([30, 2, 7, 19, 8]), 3)])
def test_products_copies_and_moments_equal_dense(tmp_path, kind, keep, files):
    design, X = stored(tmp_path, kind, keep, files)
    rng = np.random.default_rng(1)
    left, coef = rng.standard_normal((3, len(X))), rng.standard_normal((4, 2))
    mean, scale, weights = X.mean(axis=0), np.linspace(0.5, 2.0, COUNT), rng.uniform(0, 2, len(X))
    weights[2] = 0.0
    assert design.shape == X.shape
    assert_near(design.tdot(left), left @ X)
    assert_near(design.tdot_from(5, left.T), X[:, 5:].T @ left.T)
    assert_near(design.dot(SOME, coef), X[:, SOME] @ coef)
    assert design.dot(np.zeros(0, int), np.zeros((0, 2))).shape == (len(X), 2)
    assert_near(design.take(SOME, mean), X[:, SOME] - mean[SOME])
    assert_near(design.some_rows(np.array([2, 0])), X[[2, 0]])
    assert_near(design.pick(SOME).pick([1]).take([0], np.zeros(1)), X[:, [0]])
    found, level = design.moments(weights), weights @ X / weights.sum()
    assert_near(found.mean, level)
    assert_near(found.deviation, np.sqrt(weights @ (X - level) ** 2 / weights.sum()))
    assert found.deviation[3] == found.deviation[7] == 0.0
    Z = (X - mean) / scale
    expected = Z[:, SOME].T @ (weights[:, None] * Z[:, OTHERS])
    assert_near(design.gram(SOME, OTHERS, mean, scale, weights), expected)


@kinds
def test_fits_are_those_of_the_dense_matrix(tmp_path, kind):
    design, X = stored(tmp_path, kind)
    y = X[:, 4] - X[:, 9] + 0.1 * np.random.default_rng(0).standard_normal(N)
    for make in (lambda: SparseRegressor(alpha=0.05), SingleEffectsRegressor):
        ours, plain = make().fit(design, y), make().fit(X, y)
        np.testing.assert_allclose(ours.coef_, plain.coef_, atol=1e-8)


@kinds
def test_missing_calls_and_frequencies_are_counted_among_the_rows(tmp_path, kind):
    keep = np.array([30, 2, 7, 19, 8])
    design, X = stored(tmp_path, kind, keep)
    missing = np.isnan(dosages("calls" in kind)[keep]).sum(axis=0)
    np.testing.assert_array_equal(design.missing, missing)
    used = missing < len(keep)
    assert_near(design.frequency[used], X[:, used].mean(axis=0) / 2)
    assert np.isnan(design.frequency[~used]).all()


@pytest.mark.parametrize("kind", ["pgen of calls", "bgen of calls"])
def test_calls_are_packed_into_bits_of_which_products_are_the_same(tmp_path, kind):
    design, X = stored(tmp_path, kind, np.arange(N)[::-1], 2)
    packed = design.packed()
    left = np.random.default_rng(0).standard_normal((2, N))
    assert isinstance(packed, PlinkDesign)
    assert packed.names == design.names
    assert packed.people.individual.tolist() == design.people.individual.tolist()
    assert_near(packed.tdot(left), left @ X)
    assert_near(packed.moments(np.ones(N)).deviation, X.std(axis=0))


def test_what_is_between_calls_is_not_packed(tmp_path, monkeypatch):
    assert stored(tmp_path, "pgen")[0].packed() is None
    calls = stored(tmp_path, "bgen of calls")[0]
    monkeypatch.setattr("garrote.designs.genotypes.dosages.free_memory", lambda: 100)
    assert calls.packed() is None


def test_files_are_opened_by_what_they_are_called(tmp_path):
    write_pgen(tmp_path / "a.pgen", dosages(whole=True))
    write_pgen(tmp_path / "b.pgen", dosages())
    write_plink(tmp_path / "c.bed", drawn(9, 4))
    opened = [type(open_genotypes(tmp_path / name)) for name in ("a.pgen", "b.pgen", "c.bed")]
    assert opened == [PlinkDesign, PgenDesign, PlinkDesign]
    with pytest.raises(
        ValueError, match=r"files of one kind, \.bed, \.pgen, \.bgen, got \['\.bed', '\.pgen"
    ):
        open_genotypes([tmp_path / "a.pgen", tmp_path / "c.bed"])


@pytest.mark.parametrize("kind", ["pgen", "bgen"])
def test_rows_variants_and_regions_are_chosen_by_name(tmp_path, kind):
    write = write_pgen if kind == "pgen" else write_bgen
    path = tmp_path / f"a.{kind}"
    X = with_means(write(path, dosages(), chromosome="chr6"))
    kind_of = PgenDesign if kind == "pgen" else BgenDesign
    design = kind_of(path, keep=["p7", "p3"], variants=["rs4", "rs2"])
    assert design.names == ("rs4", "rs2")
    assert design.people.individual.tolist() == ["p7", "p3"]
    whole = kind_of(path, region="6:3000-5000")
    assert whole.names == ("rs2", "rs3", "rs4")
    assert (whole.variants.counted[0], whole.variants.other[0]) == ("A", "G")
    assert_near(whole.take(np.arange(3), np.zeros(3)), X[:, 2:5])
    rarer = np.minimum(X.mean(axis=0), 2 - X.mean(axis=0)) / 2
    some = kind_of(str(path).removesuffix(f".{kind}"), min_frequency=0.3)
    assert set(some.names) == {f"rs{j}" for j in np.flatnonzero(rarer >= 0.3)}


def test_copies_for_workers_and_threads_read_the_same(tmp_path):
    left = np.random.default_rng(0).standard_normal((2, N))
    for kind in ("pgen", "bgen"):
        design, X = stored(tmp_path, kind)
        again = pickle.loads(pickle.dumps(design))
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(again.tdot, [left] * 4))
        for one in found:
            assert_near(one, left @ X)


def test_somebody_with_one_chromosome_has_none_or_two(tmp_path):
    values = drawn(9, 3).astype(float)
    values[:3] = [[0, 2, 2], [2, 0, np.nan], [0, 0, 2]]
    for phased in (False, True):
        path = tmp_path / f"x{phased}.bgen"
        held = write_bgen(path, values, phased=phased, haploid={0, 1, 2})
        np.testing.assert_array_equal(held[:3], values[:3])
        assert_near(BgenDesign(path).take(np.arange(3), np.zeros(3)), with_means(held))


def test_people_are_those_of_a_sample_file_beside(tmp_path):
    path, sample = tmp_path / "a.bgen", tmp_path / "a.sample"
    write_bgen(path, dosages(n=4), people=[])
    with pytest.raises(FileNotFoundError, match=r"a\.bgen does not name its people, and a\.sample"):
        BgenDesign(path)
    sample.write_text("ID_1 ID_2 missing\n0 0 0\n" + "".join(f"f{i} p{i} 0\n" for i in range(4)))
    assert BgenDesign(path, keep=[("f2", "p2")]).people.individual.tolist() == ["p2"]
    sample.write_text("ID\n0\n" + "".join(f"p{i}\n" for i in range(4)))
    assert BgenDesign(path).people.family.tolist() == ["p0", "p1", "p2", "p3"]
    sample.write_text("ID_1 ID_2 missing\n0 0 0\nf p 0\n")
    with pytest.raises(ValueError, match=r"a\.bgen has 4 people, and a\.sample 1"):
        BgenDesign(path)
    sample.write_text("person\n0\n")
    with pytest.raises(ValueError, match="begins with neither ID_1 and ID_2 nor ID"):
        BgenDesign(path)


def test_people_and_variants_of_plink_2_come_as_it_writes_them(tmp_path):
    path = tmp_path / "a.pgen"
    write_pgen(path, dosages(n=3, count=10))
    psam, pvar = path.with_suffix(".psam"), path.with_suffix(".pvar")
    psam.write_text("#IID SEX\np0 1\np1 2\np2 NA\n")
    assert PgenDesign(path).people.family.tolist() == ["0", "0", "0"]
    pvar.write_text("#CHROM POS ID REF ALT INFO\n" + "".join(
        f"1 {j} rs{j} G {'A,T' if j == 2 else 'A'} of several words\n" for j in range(1, 11)
    ))  # fmt: skip
    with pytest.raises(ValueError, match=r"'rs2' has several ALT alleles \(A,T\).*--max-alleles 2"):
        PgenDesign(path).tdot(np.ones((1, 3)))
    assert PgenDesign(path, variants=["rs1", "rs3"]).tdot(np.ones((1, 3))).shape == (1, 2)
    pvar.rename(path.with_suffix(".pvar.zst"))
    with pytest.raises(FileNotFoundError, match="--zst-decompress"):
        PgenDesign(path)
    path.with_suffix(".bim").write_text("".join(f"1 b{j} 0 {j} A G\n" for j in range(10)))
    psam.unlink()
    path.with_suffix(".fam").write_text("".join(f"f{i} q{i} 0 0 0 -9\n" for i in range(3)))
    older = PgenDesign(path)
    assert (older.names[0], older.people.individual[0]) == ("b0", "q0")


def test_files_that_are_damaged_or_of_others_are_refused(tmp_path):
    path = tmp_path / "a.pgen"
    write_pgen(path, dosages(n=4))
    text = path.with_suffix(".pvar").read_text()
    for damage, match in [
        (text.replace("\t2000\t", "\there\t"), "variant 2 has 'here' where the position"),
        (text.replace("REF", "RER"), "no column REF"),
        (text[: text.index("rs12")], r"row 13 below the header has 2 columns"),
        (
            text[: text.index("1\t13000")],
            r"4 people and 13 variants, and the files beside it 4 and 12",
        ),
    ]:
        path.with_suffix(".pvar").write_text(damage)
        with pytest.raises(ValueError, match=match):
            PgenDesign(path)
    path.with_suffix(".pvar").unlink()
    with pytest.raises(FileNotFoundError, match=r"a\.pvar is missing beside a\.pgen"):
        PgenDesign(path)
    path.write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"a\.pgen is no \.pgen file"):
        PgenDesign(path)
    other = tmp_path / "b.bgen"
    write_bgen(other, dosages(n=4), alleles=("G", "A", "T"))
    with pytest.raises(ValueError, match="'rs0' has 3 alleles"):
        BgenDesign(other).tdot(np.ones((1, 4)))
    other.write_bytes(b"bgen")
    with pytest.raises(ValueError, match=r"no \.bgen file"):
        BgenDesign(other)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        BgenDesign(tmp_path / "c.bgen")


@pytest.mark.parametrize("kind", ["pgen", "bgen"])
def test_a_file_that_is_cut_off_is_refused_by_name(tmp_path, kind):
    path = tmp_path / f"a.{kind}"
    (write_pgen if kind == "pgen" else write_bgen)(path, dosages(n=400))
    path.write_bytes(path.read_bytes()[:-900])
    with pytest.raises(ValueError, match=rf"a\.{kind}"):
        (PgenDesign if kind == "pgen" else BgenDesign)(path).tdot(np.ones((1, 400)))
