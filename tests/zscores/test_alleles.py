"""Associations are brought to a panel's variants and alleles, and what is left out has a reason."""

import numpy as np

from garrote.zscores.alleles import (
    ABSENT,
    AMBIGUOUS,
    MISMATCHED,
    REPEATED,
    UNKNOWN,
    Alleles,
    align_alleles,
)

PANEL = Alleles(
    [f"rs{j}" for j in range(8)], ["6"] * 8, [10, 20, 30, 40, 50, 60, 60, 70],
    ["A", "A", "A", "A", "C", "A", "A", "T"], ["G", "C", "G", "T", "G", "G", "C", "TCA"],
)  # fmt: skip


def given(rows):
    """Return alleles and z-scores of rows (name, position, effect allele, other, z)."""
    names, at, effect, other, z = zip(*rows, strict=True)
    return np.array(z, dtype=float), Alleles(names, ["6"] * len(rows), at, effect, other)


def aligned(*rows, panel=PANEL):
    return align_alleles(*given(rows), panel)


def test_alleles_turned_around_change_the_sign_and_strands_do_not():
    found = aligned(
        ("a", 30, "G", "A", 3.0),  # the other allele
        ("b", 10, "A", "G", 1.0),
        ("c", 20, "T", "G", 2.0),  # the other strand
        ("d", 70, "tca", "t", 4.0),  # in small letters, more than one base
    )
    np.testing.assert_array_equal(found.places, [0, 1, 2, 7])
    np.testing.assert_array_equal(found.rows, [1, 2, 0, 3])
    np.testing.assert_array_equal(found.z, [1.0, 2.0, -3.0, -4.0])
    assert (found.turned, found.without) == (2, 4)
    assert not any(found.dropped.values())


def test_a_place_with_two_variants_is_told_apart_by_alleles():
    found = aligned(("a", 60, "C", "A", 1.0), ("b", 60, "G", "A", 2.0))
    np.testing.assert_array_equal(found.places, [5, 6])
    np.testing.assert_array_equal(found.z, [-2.0, -1.0])


def test_what_cannot_be_used_is_left_out_with_its_reason():
    found = aligned(
        ("ambiguous", 40, "A", "T", 1.0),
        ("too", 50, "G", "C", 1.0),
        ("absent", 99, "A", "G", 1.0),
        ("mismatched", 10, "A", "C", 1.0),
        ("twice", 20, "A", "C", 1.0),
        ("twice", 20, "C", "A", 1.0),
        ("unknown", 30, "A", "G", np.nan),
    )
    assert len(found.z) == 0
    assert found.dropped == {
        AMBIGUOUS: ("ambiguous", "too"), ABSENT: ("absent",), MISMATCHED: ("mismatched",),
        REPEATED: ("twice", "twice"), UNKNOWN: ("unknown",),
    }  # fmt: skip
    assert any(
        "2 associations left out: there more than once (twice, twice)" in t for t in found.notes
    )
    assert any("8 variants of the panel" in text for text in found.notes)


def test_without_places_names_decide():
    z, alleles = given([("rs2", 0, "G", "A", 3.0), ("rs9", 0, "G", "A", 3.0)])
    found = align_alleles(z, alleles._replace(chromosome=None), PANEL)
    np.testing.assert_array_equal(found.places, [2])
    np.testing.assert_array_equal(found.z, [-3.0])
    assert found.dropped[ABSENT] == ("rs9",)


def test_an_effect_allele_without_the_other_is_enough():
    found = aligned(("a", 30, "G", "", 3.0), ("b", 10, "A", "", 1.0))
    np.testing.assert_array_equal(found.z, [1.0, -3.0])
