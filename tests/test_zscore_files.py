"""``garrote select --zscores``: files of every kind, names that decide, one sentence if it is wrong."""

import gzip
import json

import numpy as np
import pytest

from garrote.cli.main import main
from garrote.tables import TableError
from garrote.tables.zscores import read_ld, read_zscores
from reference_summary import chain, simple_regressions

D = 8
NAMES = [f"rs{j}" for j in range(D)]


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(0)
    X = chain(rng, 400, D, 0.6)
    y = X[:, 2] - X[:, 5] + rng.standard_normal(400)
    return simple_regressions(X, y), np.corrcoef(X.T)


@pytest.fixture
def run(capsys):
    def call(*arguments):
        code = main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call


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


def test_names_decide_what_belongs_together(scores, tmp_path, run):
    z, ld = scores
    np.savez(tmp_path / "ld.npz", ld=ld, names=np.array(NAMES))
    turned = write_z(tmp_path / "z.tsv", z[::-1][:-1], names=NAMES[::-1][:-1])
    command = ["select", "--zscores", turned, "--ld", tmp_path / "ld.npz", "--n", 400]
    code, out, err = run(*command, "--method", "bayes", "--json", "-")
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
    for method in ("garrote", "lasso", "bayes"):
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
        ({"--n": None}, 2, ["--n is missing"]),
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
