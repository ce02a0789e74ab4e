"""Associations as PLINK, SAIGE, regenie and GWAS-SSF write them, beside genotypes of a panel."""

import numpy as np
import pytest

from garrote.tables import TableError
from garrote.tables.genetics.associations import read_associations, read_gwas
from genotype_files import drawn, filled, write_plink

N, COUNT = 60, 12
KINDS = {
    "plink 1": (" CHR SNP BP A1 TEST NMISS BETA SE P", "6 rs{j} {at} {e} ADD {n} {beta} {se} 0.1"),
    "plink 1, odds": (
        " CHR SNP BP A1 TEST NMISS OR SE P",
        "6 rs{j} {at} {e} ADD {n} {ratio} {se} 0.1",
    ),
    "plink 2": (
        "#CHROM\tPOS\tID\tREF\tALT\tA1\tTEST\tOBS_CT\tBETA\tSE\tT_STAT\tP",
        "chr6\t{at}\trs{j}\t{o}\t{e}\t{e}\tADD\t{n}\t{beta}\t{se}\t1\t0.1",
    ),
    "regenie": (
        "CHROM GENPOS ID ALLELE0 ALLELE1 A1FREQ N TEST BETA SE CHISQ LOG10P EXTRA",
        "6 {at} rs{j} {o} {e} 0.2 {n} ADD {beta} {se} 1 1 NA",
    ),
    "saige": (
        "CHR POS MarkerID Allele1 Allele2 AC_Allele2 AF_Allele2 BETA SE Tstat var p.value N",
        "6 {at} rs{j} {o} {e} 9 0.2 {beta} {se} 1 1 0.1 {n}",
    ),
    "gwas-ssf": (
        "chromosome\tbase_pair_location\teffect_allele\tother_allele\tbeta\tstandard_error\trsid\tn",
        "6\t{at}\t{e}\t{o}\t{beta}\t{se}\trs{j}\t{n}",
    ),
}


@pytest.fixture
def panel(tmp_path):
    copies = drawn(N, COUNT, 4, 0.02)
    copies[:, 3] = 1
    lines = [f"6 rs{j} 0 {100 * (j + 1)} A {'T' if j == 5 else 'G'}" for j in range(COUNT)]
    return write_plink(tmp_path / "panel.bed", copies, bim=lines), filled(copies)


def written(path, kind, effects, skip=(), more=()):
    """Write associations; those of odd variants are for the allele that the panel does not count."""
    head, line = KINDS[kind]
    rows = []
    for j, beta in enumerate(effects):
        e, o = ("A", "T" if j == 5 else "G")[:: 1 if j % 2 == 0 else -1]
        beta = beta if j % 2 == 0 else -beta
        if j not in skip:
            rows.append(line.format(j=j, at=100 * (j + 1), e=e, o=o, n=500, se=0.5, beta=beta,
                                    ratio=np.exp(beta)))  # fmt: skip
    path.write_text("\n".join([head, *rows, *more]) + "\n")
    return str(path)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_gives_the_panels_alleles_and_order(tmp_path, panel, kind):
    bed, X = panel
    effects = np.linspace(-1, 1.1, COUNT)
    found = read_gwas(written(tmp_path / "gwas.txt", kind, effects, skip=(7,)), str(bed))
    kept = [j for j in range(COUNT) if j not in (3, 5, 7)]
    assert found.names == tuple(f"rs{j}" for j in kept)
    np.testing.assert_allclose(found.z, effects[kept] / 0.5)
    np.testing.assert_allclose(found.ld, np.corrcoef(X[:, kept].T), atol=1e-12)
    assert found.n == 500
    told = " ".join(found.notes)
    assert "1 variants do not vary in the panel" in told
    assert "1 associations left out: alleles of which the strand cannot be told" in told
    assert found.placed.chromosome[0] == "6"
    np.testing.assert_array_equal(found.placed.position, 100 * (np.array(kept) + 1))


def test_rows_of_other_tests_are_left_out(tmp_path, panel):
    more = ["6 300 rs2 G A 0.2 500 INT 9 1 1 1 NA"]
    path = written(tmp_path / "gwas.txt", "regenie", np.ones(COUNT), more=more)
    found = read_gwas(path, str(panel[0]), region="chr6:200-300")
    assert found.names == ("rs1", "rs2")
    assert "1 rows of gwas.txt are of other tests than ADD" in found.notes


def test_a_matrix_with_a_bim_beside_it_is_a_panel(tmp_path, panel):
    ld = np.corrcoef(np.random.default_rng(0).standard_normal((COUNT, 50)))
    np.save(tmp_path / "panel.npy", ld)
    path = written(tmp_path / "gwas.txt", "gwas-ssf", np.ones(COUNT), skip=(0, 3))
    found = read_gwas(path, str(tmp_path / "panel.npy"))
    kept = [1, 2, 4, 6, 7, 8, 9, 10, 11]
    np.testing.assert_allclose(found.ld, ld[np.ix_(kept, kept)])
    np.save(tmp_path / "panel.npy", ld[:5, :5])
    with pytest.raises(TableError, match="12 variants"):
        read_gwas(path, str(tmp_path / "panel.npy"))
    panel[0].with_suffix(".bim").unlink()
    with pytest.raises(TableError, match=r"no panel\.bim beside it"):
        read_gwas(path, str(tmp_path / "panel.npy"))


def test_samples_that_differ_are_told(tmp_path, panel):
    path = tmp_path / "gwas.txt"
    written(path, "gwas-ssf", np.ones(COUNT))
    path.write_text(path.read_text().replace("rs2\t500", "rs2\t400"))
    assert any(
        "400 to 500 samples; their median, 500" in t
        for t in read_gwas(str(path), str(panel[0])).notes
    )


@pytest.mark.parametrize(
    ("head", "match"),
    [
        ("SNP BETA SE", "no column of the effect's allele"),
        ("SNP A1 BETA", "no effects with standard errors"),
        ("A1 BETA SE", "neither names nor places"),
        ("SNP A1 TEST BETA SE", "no row of the test ADD"),
    ],
)
def test_files_that_lack_what_is_needed_are_refused(tmp_path, head, match):
    path = tmp_path / "gwas.txt"
    path.write_text(f"{head}\n" + " ".join("1" for _ in head.split()) + "\n")
    with pytest.raises(TableError, match=match):
        read_associations(str(path))


def test_files_without_a_common_variant_are_refused(tmp_path, panel):
    path = tmp_path / "gwas.txt"
    path.write_text("CHROM POS ID A1 A2 BETA SE\n7 100 rs0 A G 1 1\n7 200 rs1 A G 1 1\n")
    with pytest.raises(TableError, match=r"no variant in common.*not in the panel \(rs0, rs1\)"):
        read_gwas(str(path), str(panel[0]))
