"""Traits of people are brought into the order of the genotypes; who is left out is told."""

import numpy as np
import pytest

from garrote.tables import TableError
from garrote.tables.genetics.phenotypes import read_people, read_phenotypes, spelt_out

PEOPLE = [("f0", "p0"), ("f1", "p1"), ("f2", "p2"), ("f3", "p3")]


def read(path, text, trait="y", covariates=(), people=PEOPLE):
    path = path / "pheno.tsv"
    path.write_text(text)
    return read_phenotypes(str(path), trait, covariates, people, "a.fam")


def test_rows_are_matched_by_name_in_any_order(tmp_path):
    found = read(
        tmp_path, "IID\ty\tage\np3\t3\t30\np1\t1\t10\nq\t9\t9\np0\t0.5\t1\n", covariates=["age"]
    )
    np.testing.assert_array_equal(found.rows, [0, 1, 3])
    np.testing.assert_array_equal(found.trait, [0.5, 1, 3])
    np.testing.assert_array_equal(found.covariates[:, 0], [1, 10, 30])
    assert found.notes == (
        "1 of 4 people in a.fam are not in pheno.tsv",
        "1 of 4 people in pheno.tsv are not in a.fam",
    )


def test_families_decide_where_both_files_have_them(tmp_path):
    people = [("a", "1"), ("b", "1"), ("b", "2")]
    text = "#FID IID y\nb 1 5\na 1 4\nb 2 6\n"
    np.testing.assert_array_equal(read(tmp_path, text, people=people).trait, [4, 5, 6])
    with pytest.raises(TableError, match=r"a\.fam has '1' more than once"):
        read(tmp_path, "IID y\n1 5\n2 6\n", people=people)


def test_families_of_zeros_do_not_count(tmp_path):
    found = read(tmp_path, "FID IID y\n0 p1 5\n0 p0 4\n")
    np.testing.assert_array_equal(found.trait, [4, 5])


def test_words_become_levels_and_spans_are_spelt_out(tmp_path):
    text = "IID sex site PC1 PC2 y\np0 M a 1 2 1\np1 F b 3 4 2\np2 M NA 5 6 3\np3 F b 7 8 -9\n"
    found = read(tmp_path, text, covariates=["sex", "site", "PC1-PC2"])
    assert found.names == ("sex=M", "site=b", "PC1", "PC2")
    np.testing.assert_array_equal(found.covariates, [[1, 0, 1, 2], [0, 1, 3, 4]])
    assert found.notes[0] == "y is -9 of 1 people, which PLINK takes for not known"
    assert "2 of 4 people have no y, or lack a covariate" in found.notes[1]
    assert spelt_out(["PC1-PC3", "PC2-3", "a-b", "x1-x1"], ["x1-x1"]) == [
        "PC1", "PC2", "PC3", "PC2", "PC3", "a-b", "x1-x1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("IID y\np0 1\np0 2\n", "pheno.tsv has 'p0' more than once .1 people"),
        ("IID y\nf0_p0 1\nf1_p1 2\n", "nobody in common: one has 'p0', the other 'f0_p0'.*IID"),
        ("IID z\np0 1\np1 2\n", "has no column 'y' for the trait"),
        ("IID y\np0 1\np1 low\n", "'low' in the column 'y'"),
        ("IID y\np0 1\nq 2\n", "1 person in a.fam has all of y"),
    ],
)
def test_tables_that_do_not_go_with_the_genotypes_are_refused(tmp_path, text, match):
    with pytest.raises(TableError, match=match):
        read(tmp_path, text)


def test_a_covariate_of_as_many_words_as_rows_is_refused(tmp_path):
    text = "IID y note\np0 1 a\np1 2 b\np2 3 c\n"
    with pytest.raises(TableError, match="'note' has 3 levels in 3 rows"):
        read(tmp_path, text, covariates=["note"])
    with pytest.raises(TableError, match="cannot be a covariate, too"):
        read(tmp_path, text, covariates=["y"])


def test_people_to_keep_are_a_name_or_two_a_line(tmp_path):
    path = tmp_path / "ids.txt"
    path.write_text("#FID IID\nf0 p0\n\nf1 p1\n")
    assert read_people(str(path)) == [("f0", "p0"), ("f1", "p1")]
    path.write_text("p0\np1\n")
    assert read_people(str(path)) == ["p0", "p1"]
    path.write_text("a b c\n")
    with pytest.raises(TableError, match="name 1 has 3 words"):
        read_people(str(path))
    path.write_text("\n")
    with pytest.raises(TableError, match="names nobody"):
        read_people(str(path))
