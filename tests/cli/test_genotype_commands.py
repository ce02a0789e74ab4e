"""``garrote select geno.bed``: variants that explain a trait, with places, alleles and a locus."""

import json

import numpy as np
import pytest

from conftest import NO_GENETICS
from garrote.cli.commands import genotypes as commands
from garrote.cli.main import main
from garrote.designs.genotypes import SUFFIXES
from genotype_files import drawn, filled, write_bgen, write_pgen, write_plink

N, COUNT = 120, 30


@pytest.fixture
def files(tmp_path):
    copies = drawn(N, COUNT, 1, 0.01)
    lines = [f"{'chr6' if j < 20 else 'chr7'} rs{j} 0 {1000 * (j + 1)} A G" for j in range(COUNT)]
    bed = write_plink(tmp_path / "geno.bed", copies, bim=lines)
    rng = np.random.default_rng(0)
    age = rng.integers(20, 80, N)
    y = filled(copies)[:, 4] + 0.03 * age + 0.4 * rng.standard_normal(N)
    rows = [f"f{i} p{i} {y[i]:.4f} {age[i]} {'MF'[i % 2]} {int(y[i] > 2.5) + 1}" for i in range(N)]
    pheno = tmp_path / "pheno.txt"
    pheno.write_text("\n".join(["FID IID height age sex case", *rng.permutation(rows)]) + "\n")
    return bed, pheno, tmp_path


def select(*arguments):
    return main(["select", *map(str, arguments), "--method", "single-effects"])


def test_variants_are_selected_beside_covariates_with_places_and_alleles(files, capsys):
    bed, pheno, folder = files
    (folder / "ids.txt").write_text("\n".join(f"p{i}" for i in range(100)) + "\n")
    code = select(
        bed, "--pheno", pheno, "--trait", "height", "--covariates", "age,sex", "--region", "6:1-15000",
        "--keep", folder / "ids.txt", "--maf", "0.05", "--json", folder / "out.json",
        "--table", folder / "out.csv", "--report", folder / "out.html",
    )  # fmt: skip
    out = capsys.readouterr()
    assert code == 0, out.err
    assert "100 people" in out.out + out.err
    assert "rs4 (chr6:5,000 G>A)" in out.out
    found = json.loads((folder / "out.json").read_text())
    first = next(one for one in found["variables"] if one["name"] == "rs4")
    assert first["selected"]
    assert first["place"] == {"chromosome": "chr6", "position": 5000, "counted": "A", "other": "G"}
    assert found["always_in"] == ["age", "sex=M"]
    assert len(found["locus"]["at"]) == len(found["locus"]["z"]) <= 15
    assert "rs4,chr6,5000,A,G,true" in (folder / "out.csv").read_text()
    page = (folder / "out.html").read_text()
    assert "-log10 of its p-value" in page
    assert "rs4 (chr6:5,000 G&gt;A)" in page


def test_cases_as_plink_writes_them_are_labels(files, capsys):
    bed, pheno, folder = files
    code = select(bed, "--pheno", pheno, "--trait", "case", "--json", folder / "out.json")
    assert code == 0, capsys.readouterr().err
    assert json.loads((folder / "out.json").read_text())["effect_scale"] == "log odds"


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ([], "required beside genotypes: --pheno, --trait"),
        (["--pheno", "PHENO", "--trait", "weight"], "no column 'weight' for the trait"),
        (["--pheno", "PHENO", "--trait", "height", "--region", "8"], "no variant is in region 8"),
        (["--pheno", "PHENO", "--trait", "height", "--maf", "0.5"], "as frequent as"),
        (
            ["--pheno", "PHENO", "--trait", "height", "--formula", "y~a"],
            "--formula does not go with",
        ),
        (
            ["--pheno", "PHENO", "--trait", "height", "--missing", "drop"],
            "--missing does not go with",
        ),
        (["--pheno", "PHENO", "--trait", "height", "--cv", "3"], "chooses nothing by folds"),
        (["--pheno", "NONE", "--trait", "height"], "none.txt"),
    ],
)
def test_commands_that_cannot_be_done_say_why(files, capsys, arguments, match):
    bed, pheno, folder = files
    named = {"PHENO": pheno, "NONE": folder / "none.txt"}
    out = folder / "out.json"
    assert select(bed, *(named.get(one, one) for one in arguments), "--json", out) in (1, 2)
    assert match in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize("kind", ["calls.pgen", "dosages.bgen"])
def test_files_of_plink_2_and_bgen_are_selected_from_as_well(files, capsys, kind):
    pytest.importorskip("pgenlib", reason=NO_GENETICS)
    pytest.importorskip("cbgen", reason=NO_GENETICS)
    _, pheno, folder = files
    copies = drawn(N, COUNT, 1, 0.01)
    values = np.where(copies < 0, np.nan, copies)
    if kind.endswith("pgen"):
        write_pgen(folder / kind, values, chromosome="chr6")
    else:
        write_bgen(folder / kind, np.clip(values, 0.01, 1.99), chromosome="chr6")
    code = select(
        folder / kind, "--pheno", pheno, "--trait", "height", "--covariates", "age", "--region", "6",
        "--maf", "0.05", "--json", folder / "out.json",
    )  # fmt: skip
    assert code == 0, capsys.readouterr().err
    found = json.loads((folder / "out.json").read_text())
    first = next(one for one in found["variables"] if one["name"] == "rs4")
    assert first["selected"]
    assert first["place"] == {"chromosome": "chr6", "position": 5000, "counted": "A", "other": "G"}
    rows = [f"6 {1000 * (j + 1)} rs{j} G A 800 {6 if j == 4 else 0.1} 1" for j in range(20)]
    (folder / "gwas.txt").write_text("\n".join(["CHROM POS ID A1 A2 N BETA SE", *rows]) + "\n")
    assert select("--zscores", folder / "gwas.txt", "--ld", folder / kind) in (0, 3)


def test_every_kind_of_genotypes_is_known_by_its_name():
    assert commands.SUFFIXES == SUFFIXES


def test_what_speaks_of_genotypes_needs_them(files, capsys):
    assert select(files[1], "--target", "height", "--maf", "0.1") == 2
    assert "--maf goes with genotypes: a file geno.bed" in capsys.readouterr().err


def test_associations_are_aligned_with_a_panel(files, capsys):
    bed, _, folder = files
    rows = [f"6 {1000 * (j + 1)} rs{j} G A 800 {6 if j == 4 else 0.1} 1" for j in range(20)]
    (folder / "gwas.txt").write_text("\n".join(["CHROM POS ID A1 A2 N BETA SE", *rows]) + "\n")
    code = select(
        "--zscores", folder / "gwas.txt", "--ld", bed, "--region", "chr6", "--json", folder / "out.json"
    )  # fmt: skip
    out = capsys.readouterr()
    assert code in (0, 3), out.err
    found = json.loads((folder / "out.json").read_text())
    assert any("20 of 20 z-scores changed sign" in text for text in found["warnings"])
    assert next(one for one in found["variables"] if one["name"] == "rs4")["effect"] < 0


def test_a_display_draws_p_values(files):
    pytest.importorskip("matplotlib")
    from garrote.displays import CredibleSetsDisplay

    z = np.array([0.0, 1.959963984540054, 40.0, np.nan])
    shown = CredibleSetsDisplay(
        names=list("abcd"), positions=np.array([1.0, 2, 3, np.nan]), probability=np.full(4, 0.5), z=z,
        sets=[],
    )  # fmt: skip
    drawn_at = shown.plot(y="p").points_[0].get_offsets()[:, 1]
    np.testing.assert_allclose(drawn_at[:2], [0.0, -np.log10(0.05)], atol=1e-9)
    assert 349 < drawn_at[2] < 350
