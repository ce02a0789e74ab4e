"""Files of genotypes that are damaged, or do not belong together, are refused with what to do."""

import numpy as np
import pytest

from garrote.designs import PlinkDesign
from garrote.designs.genotypes import Region
from garrote.designs.genotypes.variants import plain_chromosome
from genotype_files import drawn, write_plink


@pytest.fixture
def bed(tmp_path):
    return write_plink(tmp_path / "a.bed", drawn(10, 6))


def refused(match, *args, error=ValueError, **kwargs):
    with pytest.raises(error, match=match):
        PlinkDesign(*args, **kwargs)


def test_a_file_that_is_cut_off_is_refused(bed):
    bed.write_bytes(bed.read_bytes()[:-1])
    refused(r"a\.bed has 20 bytes, where 10 people and 6 variants need 21: it is cut off", bed)


def test_a_file_with_bytes_too_many_is_refused(bed):
    bed.write_bytes(bed.read_bytes() + b"\0\0")
    refused("has 23 bytes", bed)


def test_a_file_stored_person_by_person_is_refused(bed):
    data = bytearray(bed.read_bytes())
    data[2] = 0
    bed.write_bytes(bytes(data))
    refused("person by person.*make-bed", bed)


def test_what_is_no_file_of_genotypes_is_refused(bed):
    bed.write_text("chr1\t100\t200\n")
    refused("is no .bed file of PLINK: it begins with 6368", bed)
    bed.write_bytes(b"")
    refused("begins with nothing", bed)


@pytest.mark.parametrize("suffix", [".bim", ".fam"])
def test_a_missing_companion_is_named(bed, suffix):
    bed.with_suffix(suffix).unlink()
    refused(rf"a\{suffix} is missing beside a\.bed", bed, error=FileNotFoundError)


def test_a_missing_file_is_named(bed):
    bed.unlink()
    refused("there is no file", bed, error=FileNotFoundError)


def test_lines_that_are_not_as_expected_are_named(bed):
    bim = bed.with_suffix(".bim")
    lines = bim.read_text().splitlines()
    bim.write_text("\n".join([*lines[:2], "1 rs2 0 here A G", *lines[3:]]))
    refused(r"a\.bim: line 3 has 'here' where the position", bed)
    bim.write_text("\n".join([*lines[:2], "1 rs2 0 10", *lines[3:]]))
    refused(r"a\.bim: line 3 has 4 columns", bed)
    bim.write_text("")
    refused(r"a\.bim is empty", bed)
    bim.write_bytes(b"\xff\xfe\x00")
    refused(r"a\.bim is no text", bed)


def test_positions_as_r_writes_them_are_read(bed):
    bim = bed.with_suffix(".bim")
    bim.write_text(bim.read_text().replace("\t2000\t", "\t1e+05\t"))
    assert PlinkDesign(bed).variants.position.tolist()[:3] == [1000, 100_000, 3000]
    bim.write_text(bim.read_text().replace("1e+05", "nan"))
    refused("line 2 has 'nan'", bed)


def test_people_that_are_not_there_or_not_clear_are_refused(tmp_path, bed):
    refused(
        r"a\.fam has nobody called q1, q2 \(2 of 3 are not there\)", bed, keep=["p1", "q1", "q2"]
    )
    refused("'p1' is asked for twice", bed, keep=["p1", "p1"])
    refused("names nobody", bed, keep=[])
    refused("rows 0 to 9", bed, keep=np.array([10]))
    people = [("f", f"p{i}") for i in range(9)] + [("g", "p1")]
    other = write_plink(tmp_path / "b.bed", drawn(10, 3), people=people)
    refused("'p1' in several families", other, keep=["p1"])
    assert PlinkDesign(other, keep=[("g", "p1")]).people.family.tolist() == ["g"]
    twice = write_plink(tmp_path / "c.bed", drawn(10, 3), people=[("f", "p")] * 10)
    refused("names f p twice", twice, keep=["p"])


def test_files_of_other_people_do_not_go_together(tmp_path, bed):
    people = [(f"f{i}", f"p{i}") for i in range(10)]
    turned = write_plink(tmp_path / "b.bed", drawn(10, 3), people=people[::-1])
    refused(
        r"a\.bed and b\.bed are not of the same people.*row 1 is 'p0' in one and 'p9'",
        [bed, turned],
    )
    fewer = write_plink(tmp_path / "c.bed", drawn(9, 3))
    refused("there are 10 and 9 of them", [bed, fewer])
    refused("names no file", [])


def test_variants_and_regions_that_are_not_there_are_refused(bed):
    refused("no variant is called 'rs9'", bed, variants=["rs1", "rs9"])
    refused("mask of 2 for 6", bed, variants=np.array([True, False]))
    refused("from 0 to 5", bed, variants=np.array([6]))
    refused("no variant is in region chr2: there are 6 on chromosome 1", bed, region="chr2")
    refused("as 6:25000000-34000000", bed, region="1:2")
    refused("ends before it begins", bed, region="1:9-2")
    refused("min_frequency must be", bed, min_frequency=0.7)
    refused("no variant is as frequent", bed, min_frequency=0.5)


def test_chromosomes_are_the_same_in_all_styles():
    for names in (("6", "chr6", "Chr06", " 6"), ("X", "chrX", "23"), ("MT", "chrM", "26", "M")):
        assert len({plain_chromosome(name) for name in names}) == 1
    assert Region.of("chr6:25,000,000-34,000,000") == Region("6", 25_000_000, 34_000_000)


def test_text_that_is_half_there_is_no_genotype_table(tmp_path, bed):
    """A .fam with a person too many makes the sizes disagree."""
    with bed.with_suffix(".fam").open("a") as file:
        file.write("f p10 0 0 0 -9\nf p11 0 0 0 -9\nf p12 0 0 0 -9\n")
    refused("belong to another file", bed)
