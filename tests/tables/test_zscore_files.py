"""``garrote select --zscores``: files of every kind, names that decide, one sentence if it is wrong."""

import gzip
import json
import re
import struct
import zipfile

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz

from garrote.tables import TableError
from garrote.tables.zscores import read_ld, read_zscores
from garrote.zscores.summary_statistics import check_zscores
from reference_summary import chain, simple_regressions

D = 8
NAMES = [f"rs{j}" for j in range(D)]


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(0)
    X = chain(rng, 400, D, 0.6)
    y = X[:, 2] - X[:, 5] + rng.standard_normal(400)
    return simple_regressions(X, y), np.corrcoef(X.T)


def write_z(path, z, header="SNP\tZ", names=NAMES):
    lines = [header] if header else []
    lines += [f"{name}\t{value:.17g}" for name, value in zip(names, z, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def write_matrix(path, ld, header=None, names=None, delimiter="\t"):
    lines = [] if header is None else [delimiter.join(header)]
    for j, row in enumerate(ld):
        fields = ([] if names is None else [names[j]]) + [f"{v:.17g}" for v in row]
        lines.append(delimiter.join(fields))
    text = "\n".join(lines) + "\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return str(path)


@pytest.mark.parametrize("header", ["SNP\tZ", "rsid\tz_score", "#ID\tT-STAT", "variant\tz", None])
def test_zscores_are_found_by_their_header_or_without(scores, tmp_path, header):
    found = read_zscores(write_z(tmp_path / "z.tsv", scores[0], header))
    assert found.names == tuple(NAMES)
    np.testing.assert_array_equal(found.values, scores[0])


def test_zscores_alone_and_estimates_with_their_errors(scores, tmp_path):
    alone = tmp_path / "z.txt"
    alone.write_text("\n".join(f"{v:.17g}" for v in scores[0]) + "\n")
    found = read_zscores(str(alone))
    assert found.names is None
    np.testing.assert_array_equal(found.values, scores[0])
    table = tmp_path / "z.csv"
    rows = [f"{n},12,{0.1 * v:.17g},0.1" for n, v in zip(NAMES, scores[0], strict=True)]
    table.write_text("\n".join(["SNP,POS,BETA,SE", *rows]) + "\n")
    found = read_zscores(str(table))
    assert found.names == tuple(NAMES)
    np.testing.assert_allclose(found.values, scores[0], rtol=1e-12)
    table.write_text("SNP,BETA,SE\na,1,0.1\nb,2,0\n")
    with pytest.raises(TableError, match="line 3 is not positive"):
        read_zscores(str(table))
    table.write_text("SNP,P,POS\na,1,0.1\nb,2,0\n")
    with pytest.raises(TableError, match="no column z, nor beta and se"):
        read_zscores(str(table))


def ld_files(folder, ld):
    np.save(folder / "a.npy", ld)
    np.savez(folder / "b.npz", ld=ld, snp=np.array(NAMES))
    np.savez(folder / "c.npz", whatever=ld, positions=np.arange(D))
    np.savez(folder / "d.npz", R=ld[np.tril_indices(D)])
    np.savez(folder / "e.npz", upper=ld[np.triu_indices(D)])
    return {
        folder / "a.npy": None,
        folder / "b.npz": NAMES,
        folder / "c.npz": None,
        folder / "d.npz": None,
        folder / "e.npz": None,
        write_matrix(folder / "f.tsv", ld): None,
        write_matrix(folder / "g.csv.gz", ld, NAMES, delimiter=","): NAMES,
        write_matrix(folder / "h.tsv", ld, ["SNP", *NAMES], NAMES): NAMES,
        write_matrix(folder / "i.tsv", ld, ["", *NAMES], NAMES): NAMES,
        write_matrix(folder / "j.txt", ld, NAMES, NAMES): NAMES,
    }


def test_ld_is_read_from_every_kind_of_file(scores, tmp_path):
    for file, names in ld_files(tmp_path, scores[1]).items():
        found = read_ld(str(file))
        np.testing.assert_allclose(found.values, scores[1], atol=1e-15, err_msg=str(file))
        assert found.names == (None if names is None else tuple(names)), file


def test_ld_that_cannot_be_read_is_refused(scores, tmp_path):
    ld = scores[1]
    np.savez(tmp_path / "two.npz", a=ld, b=ld)
    np.savez(tmp_path / "row.npz", ld=np.arange(7.0))
    (tmp_path / "cut.npz").write_bytes((tmp_path / "two.npz").read_bytes()[:300])
    for file, words in (
        ("two.npz", "which array"),
        ("row.npz", "no triangle"),
        ("cut.npz", "damaged"),
        ("none.npz", "does not exist"),
        (write_matrix(tmp_path / "wide.tsv", ld[:4]), "square"),
    ):
        with pytest.raises(TableError, match=words):
            read_ld(str(tmp_path / file))


def test_sparse_ld_and_its_triangle_are_read(scores, tmp_path):
    for k, matrix in enumerate((scores[1], np.triu(scores[1]), np.tril(scores[1]))):
        save_npz(tmp_path / f"{k}.npz", csr_array(matrix))
        found = read_ld(str(tmp_path / f"{k}.npz"))
        np.testing.assert_allclose(found.values, scores[1], atol=1e-15)
    z, ld = scores
    np.testing.assert_allclose(check_zscores(z, csr_array(ld), 400).ld, ld, atol=1e-15)


def test_rows_of_ld_are_brought_into_the_order_of_columns(scores, tmp_path):
    order = np.random.default_rng(1).permutation(D)
    labels = [NAMES[k] for k in order]
    turned = write_matrix(tmp_path / "ld.tsv", scores[1][order], ["SNP", *NAMES], labels)
    found = read_ld(turned)
    assert found.names == tuple(NAMES)
    np.testing.assert_allclose(found.values, scores[1], atol=1e-15)
    numbered = write_matrix(tmp_path / "n.tsv", scores[1], ["", *NAMES], [str(k) for k in range(D)])
    np.testing.assert_allclose(read_ld(numbered).values, scores[1], atol=1e-15)
    other = write_matrix(tmp_path / "o.tsv", scores[1], ["", *NAMES], ["rs99", *NAMES[1:]])
    with pytest.raises(TableError, match=r"rows and columns must be the same.*'rs99'"):
        read_ld(other)
    alone = write_matrix(tmp_path / "a.tsv", scores[1], None, NAMES)
    with pytest.raises(TableError, match="none in its first row"):
        read_ld(alone)


def test_a_first_column_that_tells_nothing_apart_holds_no_names(scores, tmp_path, run):
    rows = [
        ["CHR", "POS", "Z"],
        *(["1", str(1000 + j), f"{v:.17g}"] for j, v in enumerate(scores[0])),
    ]
    (tmp_path / "z.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    np.savez(tmp_path / "ld.npz", ld=scores[1], names=np.array(NAMES))
    command = ["select", "--zscores", tmp_path / "z.tsv", "--ld", tmp_path / "ld.npz", "--n", 400]
    code, out, _ = run(*command, "--method", "spike-slab", "--json", "-")
    assert code == 0
    document = json.loads(out)
    assert {v["name"] for v in document["variables"] if v["selected"]} == {"rs2", "rs5"}
    assert any("z.tsv has no column of names" in text for text in document["warnings"])
    (tmp_path / "z.tsv").write_text("".join("\t".join(row[1:]) + "\n" for row in rows))
    code, _, err = run(*command, "--method", "spike-slab")
    assert code == 1
    assert "'1000' in its column 'POS'" in err
    assert "name the column of names SNP" in err


def with_samples(path, z, samples):
    lines = [f"{n}\t{v:.17g}\t{s}" for n, v, s in zip(NAMES, z, samples, strict=True)]
    path.write_text("\n".join(["SNP\tZ\tN", *lines]) + "\n")


@pytest.mark.parametrize(
    ("samples", "given", "code", "words"),
    [
        ([400] * D, None, 0, "the number of samples, 400, is that of the column N"),
        ([400] * D, 400, 0, None),
        ([400] * D, 300, 0, "the number of samples is 300, as given; the column N has 400"),
        (
            [*range(393, 401)],
            400,
            0,
            "the number of samples is 400, as given; the column N has 393 to 400",
        ),
        (
            [*range(393, 401)],
            None,
            2,
            "from 393 to 400, with 0 missing.*give --n, such as the median",
        ),
        ([*([400] * (D - 1)), "NA"], None, 2, "with 1 missing.*give --n"),
        (["NA"] * D, None, 2, "has no numbers: give --n"),
    ],
)
def test_a_column_of_samples_stands_for_n(scores, tmp_path, run, samples, given, code, words):
    with_samples(tmp_path / "z.tsv", scores[0], samples)
    np.savez(tmp_path / "ld.npz", ld=scores[1])
    command = ["select", "--zscores", tmp_path / "z.tsv", "--ld", tmp_path / "ld.npz"]
    command += [] if given is None else ["--n", given]
    got, out, err = run(*command, "--method", "spike-slab", "--json", "-")
    assert got == code, err
    if code:
        assert re.search(words, err)
        return
    document = json.loads(out)
    assert document["provenance"]["n_rows"] == (given or 400)
    assert words in document["warnings"] if words else not document["warnings"]


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("high", "line 5 has 'high' in the column 'Z', which is no number"),
        ("NA", "missing or infinite for 'rs3'"),
        ("inf", "missing or infinite for 'rs3'"),
    ],
)
def test_cells_that_are_no_zscores_are_refused(scores, tmp_path, run, cell, words):
    path = write_z(tmp_path / "z.tsv", scores[0])
    lines = (tmp_path / "z.tsv").read_text().splitlines()
    (tmp_path / "z.tsv").write_text("\n".join([*lines[:4], f"rs3\t{cell}", *lines[5:]]) + "\n")
    np.savez(tmp_path / "ld.npz", ld=scores[1])
    code, _, err = run("select", "--zscores", path, "--ld", tmp_path / "ld.npz", "--n", 400)
    assert code == 1
    assert words in err


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda ld: {"ld": ld[:5]}, "no square matrix: it has shape (5, 8)"),
        (lambda ld: {"ld": np.triu(ld)}, "not symmetric"),
        (lambda ld: {"ld": np.where(np.eye(D) > 0, 1.0, -0.9)}, "not positive semidefinite"),
        (lambda ld: {"ld": ld[1:, 1:]}, "ld has 7 variables and z has 8"),
        (lambda ld: {"ld": ld, "snp": np.array(["rs1", *NAMES[1:]])}, "'rs1' more than once"),
        (lambda ld: {"ld": ld, "snp": np.array(NAMES, dtype=object)}, "save it as text"),
    ],
)
def test_wrong_ld_is_refused_in_a_sentence(scores, tmp_path, run, spoil, words):
    np.savez(tmp_path / "ld.npz", **spoil(scores[1]))
    path = write_z(tmp_path / "z.tsv", scores[0])
    code, _, err = run("select", "--zscores", path, "--ld", tmp_path / "ld.npz", "--n", 400)
    assert code == 1
    assert err.count("\n") == 1
    assert words in err


def test_names_decide_what_belongs_together(scores, tmp_path, run):
    z, ld = scores
    np.savez(tmp_path / "ld.npz", ld=ld, names=np.array(NAMES))
    turned = write_z(tmp_path / "z.tsv", z[::-1][:-1], names=NAMES[::-1][:-1])
    command = ["select", "--zscores", turned, "--ld", tmp_path / "ld.npz", "--n", 400]
    code, out, err = run(*command, "--method", "spike-slab", "--json", "-")
    assert (code, err) == (0, "")
    document = json.loads(out)
    chosen = [v["name"] for v in document["variables"] if v["selected"]]
    assert sorted(chosen) == ["rs2", "rs5"]
    assert "left out, without a z-score: rs0" in document["warnings"]
    assert document["provenance"]["source"] == "z.tsv, ld.npz"
    assert document["consistency"]["out_of_line"] == []


def test_every_method_selects_and_the_report_tells_of_ld(scores, tmp_path, run):
    z, ld = scores
    command = ["select", "--zscores", write_z(tmp_path / "z.tsv", z), "--n", 400]
    command += ["--ld", write_matrix(tmp_path / "ld.tsv", ld), "--target", "height"]
    for method in ("garrote", "lasso", "spike-slab", "single-effects"):
        report = tmp_path / f"{method}.html"
        code, out, _ = run(*command, "--method", method, "--report", report)
        assert code == 0
        assert "z-scores of 8 variables, n = 400" in out
        assert "rs2" in out
        page = report.read_text()
        assert "Z-scores and LD" in page
        assert "height" in page


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"--n": None}, 2, ["--n is missing", "z.tsv has no column N"]),
        ({"--ld": None}, 2, ["--ld is missing"]),
        ({"--zscores": None}, 2, ["--zscores is missing"]),
        ({"--n": "many"}, 2, ["--n", "'many'"]),
        ({"--mismatch": "2"}, 2, ["--mismatch", "between 0 and 1"]),
        ({"--weights": "w"}, 2, ["--weights does not go with --zscores"]),
        ({"--save": "m.garrote"}, 2, ["--save does not go with --zscores"]),
        ({"--cv": "5"}, 2, ["--cv does not go with --zscores"]),
        ({"--n": "5"}, 1, ["contradict each other"]),
        ({"--zscores": "nowhere.tsv"}, 1, ["nowhere.tsv", "does not exist"]),
    ],
)
def test_wrong_commands_are_refused_in_a_sentence(
    scores, tmp_path, run, monkeypatch, changes, code, words
):
    monkeypatch.chdir(tmp_path)
    z, ld = scores
    np.savez(tmp_path / "ld.npz", ld=ld)
    write_z(tmp_path / "z.tsv", z)
    given = {"--zscores": "z.tsv", "--ld": "ld.npz", "--n": "400"} | changes
    pairs = [word for pair in given.items() if pair[1] is not None for word in pair]
    got, _, err = run("select", *pairs)
    assert got == code, err
    assert err.count("\n") == 1
    for word in words:
        assert word in err


def test_options_of_zscores_need_them(run):
    code, _, err = run("select", "data.csv", "--target", "y", "--n", "5")
    assert code == 2
    assert "--n and --mismatch go with --zscores" in err


@pytest.mark.parametrize("name", ["wide.npy", "wide.npz", "deep.npz", "sparse.npz"])
def test_ld_that_states_more_than_it_holds_takes_no_memory(tmp_path, name):
    """Sizes are compared with the file and with free memory before anything is taken."""
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (10000000, 10000000), }"
    content = b"\x93NUMPY\x01\0" + struct.pack("<H", 118) + header.ljust(117).encode() + b"\n"
    path = tmp_path / name
    if name == "sparse.npz":
        save_npz(path, csr_array((10**6, 10**6)))
    elif name == "wide.npy":
        path.write_bytes(content)
    else:
        if name == "deep.npz":
            content = b"\x93NUMPY\x01\0" + struct.pack("<H", 9000) + b"(" * 9000
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("ld.npy", content)
    with pytest.raises(TableError, match=f"{name}.*(is damaged|GB of memory)") as refusal:
        read_ld(str(path))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("header", "rest", "expected"),
    [
        ("SNP\tZ\tBP", lambda k: f"{100 - k}", True),
        ("SNP\tZ\tpos\tCHR", lambda k: f"{100 - k}\t7", True),
        ("SNP\tZ\tpos\tCHR", lambda k: f"{100 - k}\t{k}", False),  # on several chromosomes
        ("SNP\tZ\tpos", lambda k: "" if k else "5", False),
    ],
)
def test_positions_are_those_of_one_chromosome(scores, tmp_path, header, rest, expected):
    lines = [
        f"{name}\t{z}\t{rest(k)}" for k, (name, z) in enumerate(zip(NAMES, scores[0], strict=True))
    ]
    (tmp_path / "z.tsv").write_text("\n".join([header, *lines]) + "\n")
    found = read_zscores(str(tmp_path / "z.tsv")).positions
    if expected:
        np.testing.assert_array_equal(found, 100.0 - np.arange(len(NAMES)))
    else:
        assert found is None
