"""Tables on disk become the arrays that were written, or are refused in one sentence."""

import bz2
import gzip
import io
import json
import lzma
import re
import struct
import subprocess
import sys
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from garrote.cli.main import main
from garrote.limits import memory
from garrote.tables import SUFFIXES, Coding, TableError, Wanted, read_new_rows, read_table
from garrote.tables.formats import room
from garrote.tables.formats import text as text_module
from garrote.tables.formats.dialect import find_dialect

FORMATS = ["csv", "tsv", "semicolon", "bar", "spaces", "comma", "parquet", "arrow", "npz", "npz-F"]


def write(path, content, encoding="utf-8"):
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return str(path)


@pytest.fixture
def csv(tmp_path):
    """Write text to a file and return its name."""
    return lambda content, name="t.csv", encoding="utf-8": write(tmp_path / name, content, encoding)


def lines(names, rows, delimiter, comma=False):
    def cell(value):
        return repr(float(value)).replace(".", ",") if comma else repr(float(value))

    body = [delimiter.join(map(cell, row)) for row in rows]
    return "\n".join([delimiter.join(names), *body]) + "\n"


def store(folder, form, names, values):
    """Write a table of numbers, whose last column is the target, in one of the formats."""
    delimiters = {
        "csv": ",",
        "tsv": "\t",
        "semicolon": ";",
        "bar": "|",
        "spaces": "  ",
        "comma": ";",
    }
    if form in delimiters:
        return write(
            folder / f"{form}.txt", lines(names, values, delimiters[form], form == "comma")
        )
    path = folder / f"t.{form.partition('-')[0]}"
    frame = pl.DataFrame({name: values[:, j] for j, name in enumerate(names)})
    if form == "parquet":
        frame.write_parquet(path, row_group_size=3)
    elif form == "arrow":
        frame.write_ipc(path)
    else:
        X = np.asfortranarray(values[:, :-1]) if form == "npz-F" else values[:, :-1].copy()
        np.savez(path, X=X, names=np.array(names[:-1]), **{names[-1]: values[:, -1]})
    return str(path)


finite = st.floats(-1e150, 1e150)
tables_of_numbers = st.tuples(st.integers(1, 12), st.integers(2, 6)).flatmap(
    lambda shape: arrays(float, shape, elements=finite)
)


@given(values=tables_of_numbers, form=st.sampled_from(FORMATS))
def test_every_format_gives_back_the_numbers_written(values, form, tmp_path_factory):
    names = [f"v{j}" for j in range(values.shape[1] - 1)] + ["y"]
    source = store(tmp_path_factory.mktemp("t"), form, names, values)
    table = read_table(source, Wanted("y"))
    assert np.array_equal(table.X, values[:, :-1])
    assert np.array_equal(table.y, values[:, -1])
    assert table.X.flags.f_contiguous
    assert table.X.dtype == np.float64
    assert table.names == tuple(names[:-1])
    assert table.response == "y"
    assert np.array_equal(read_new_rows(source, table.coding), table.X)


hostile_name = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=30).map(
    str.strip
)


@given(names=st.lists(hostile_name, min_size=2, max_size=5, unique=True))
def test_any_name_is_kept_as_it_is(names, tmp_path_factory):
    names = [name for name in dict.fromkeys(names) if name and not name.isspace()]
    names = [f"_{name}" for name in names] + ["^.*$", "*", "y"]
    names = list(dict.fromkeys(names))
    frame = pl.DataFrame({name: [1.0 + j, 2.0, 3.5] for j, name in enumerate(names)})
    folder = tmp_path_factory.mktemp("t")
    frame.write_parquet(folder / "t.parquet")
    frame.write_csv(folder / "t.csv", quote_style="always")
    for file in ("t.parquet", "t.csv"):
        table = read_table(str(folder / file), Wanted("y"))
        assert list(table.names) == names[:-1]
        assert np.array_equal(table.X, frame.to_numpy()[:, :-1])


def test_a_name_may_be_very_long(csv):
    name = "n" * 10_000
    table = read_table(csv(f"{name},y\n1,2\n3,4\n"), Wanted("y"))
    assert table.names == (name,)


@pytest.mark.parametrize("size", [7, 40, 1000])
def test_rows_are_the_same_however_the_blocks_fall(csv, monkeypatch, size):
    monkeypatch.setattr(text_module, "_BLOCK", size)
    body = "".join(f'{i},"line one\nline, two ""{i % 2}""",{i / 7!r}\n\n' for i in range(50))
    table = read_table(csv("a,w,y\n\n" + body), Wanted("y", encode=True))
    assert table.names == ("a", 'w=line one\nline, two "1"')
    assert np.array_equal(table.X[:, 0], np.arange(50))
    assert np.array_equal(table.X[:, 1], np.arange(50) % 2)
    assert np.array_equal(table.y, np.arange(50) / 7)


@pytest.mark.parametrize(
    ("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)]
)
def test_compressed_text_is_read(csv, suffix, pack):
    table = read_table(csv(pack(b"a,y\n1,2\n3,4\n"), f"t.csv.{suffix}"), Wanted("y"))
    assert table.X.tolist() == [[1], [3]]
    broken = csv(pack(b"a,y\n" + b"1,2\n3,5\n" * 5000)[:-30], f"broken.csv.{suffix}")
    with pytest.raises(TableError, match=r"broken.* is damaged or cut off"):
        read_table(broken, Wanted("y"))


def cuts_that_are_read(path, content, cuts):
    """Return how much of the end of a file can be missing without anyone noticing."""
    found = []
    for cut in cuts:
        path.write_bytes(content[:-cut])
        try:
            read_table(str(path), Wanted("y"))
        except TableError as error:
            if str(error).startswith(f"{path.name} is damaged or cut off: "):
                continue
        found.append(cut)
    return found


def bgzip(text, block=4000):
    """Return text as bgzip packs it: members that state their size, and an empty one at the end."""
    packed = b""
    for start in [*range(0, len(text), block), len(text)]:
        raw = zlib.compressobj(6, zlib.DEFLATED, -15)
        part = text[start : start + block]
        body = raw.compress(part) + raw.flush()
        head = bytes.fromhex("1f8b08040000000000ff0600424302 00") + struct.pack(
            "<H", len(body) + 25
        )
        packed += head + body + struct.pack("<II", zlib.crc32(part), len(part))
    return packed


@pytest.mark.parametrize("suffix", ["csv.gz", "csv.bz2", "csv.xz", "csv.bgz", "arrow"])
def test_a_stream_that_was_cut_is_never_taken_for_whole(tmp_path, suffix):
    rows = "".join(f"{i},{i % 7}\n" for i in range(3000)).encode()
    text, cuts = b"a,y\n" + rows, [*range(1, 40)]
    packers = {"csv.gz": gzip.compress, "csv.bz2": bz2.compress, "csv.xz": lzma.compress}
    if suffix == "csv.bgz":
        content = bgzip(text)
        starts = [m.start() for m in re.finditer(b"\x1f\x8b\x08\x04", content)][1:]
        cuts += [len(content) - start for start in starts]  # between two members
    elif suffix == "arrow":
        stream = io.BytesIO()
        pl.DataFrame({"a": range(3000), "y": [i % 7 for i in range(3000)]}).write_ipc_stream(stream)
        content = stream.getvalue()
    else:
        content = packers[suffix](text)
    path = tmp_path / f"t.{suffix}"
    path.write_bytes(content)
    assert len(read_table(str(path), Wanted("y")).y) == 3000
    assert cuts_that_are_read(path, content, cuts) == []


@pytest.mark.parametrize("form", ["csv", "tsv"])
@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_the_last_of_several_members_that_was_cut_is_missed(tmp_path, form, pack):
    delimiter = {"csv": ",", "tsv": "\t"}[form]
    rows = [delimiter.join(pair).encode() for pair in zip("a123456789", "y987654321", strict=True)]
    text = b"\n".join(rows) + b"\n"
    content = pack(text[:11]) + pack(text[11:25]) + pack(text[25:])
    suffix = {gzip.compress: "gz", bz2.compress: "bz2", lzma.compress: "xz"}[pack]
    path = tmp_path / f"t.{form}.{suffix}"
    path.write_bytes(content)
    assert read_table(str(path), Wanted("y")).y.tolist() == [9, 8, 7, 6, 5, 4, 3, 2, 1]
    assert cuts_that_are_read(path, content, range(1, 13)) == []


@pytest.mark.parametrize("cut", [1, 4, 8])
def test_a_cut_stream_is_refused_in_a_sentence_from_a_file_and_from_standard_input(
    tmp_path, monkeypatch, capsys, cut
):
    content = gzip.compress(b"a,y\n" + b"1,2\n3,5\n" * 20)[:-cut]
    path = tmp_path / "t.csv.gz"
    path.write_bytes(content)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    for source, label in [(str(path), "t.csv.gz"), ("-", "standard input")]:
        assert main(["select", source, "--target", "y"]) != 0
        said = capsys.readouterr().err.strip()
        assert f"{label} is damaged or cut off" in said
        assert "\n" not in said


def test_zstd_is_read(csv):
    packed = bytes.fromhex("28b52ffd0468710000612c790a312e352c320a332c340a2c2a784c")
    table = read_table(csv(packed, "t.csv.zst"), Wanted("y"))
    assert table.X.tolist() == [[1.5], [3.0]]
    path = Path(csv(packed, "t.csv.zst"))
    assert cuts_that_are_read(path, packed, range(1, 13)) == []


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1"]
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends_are_found(csv, encoding, end):
    rows = ["größe,y", "1,2", "3,4.5", ""]
    table = read_table(csv(end.join(rows), encoding=encoding), Wanted("y"))
    assert table.names == ("größe",)
    assert table.X.tolist() == [[1], [3]]
    assert table.y.tolist() == [2, 4.5]
    assert any("Latin-1" in note for note in table.notes) == (encoding == "latin-1")


def test_latin1_is_found_late_in_the_file(csv, monkeypatch):
    monkeypatch.setattr(text_module, "_BLOCK", 16)
    body = "ort,y\n" + "rom,1\n" * 20 + "köln,2\n" * 5
    table = read_table(csv(body, encoding="latin-1"), Wanted("y", encode=True))
    assert table.names == ("ort=köln",)
    assert any("Latin-1" in note for note in table.notes)


def test_a_first_line_of_numbers_is_no_header(csv):
    table = read_table(csv("1 2.5 3\n4 5 6\n"), Wanted("x2"))
    assert table.names == ("x0", "x1")
    assert table.X.tolist() == [[1, 2.5], [4, 5]]
    assert "only numbers" in table.notes[0]


@pytest.mark.parametrize("content", ["1990,1991,1995\n5,6,7\n8,9,1\n", "1.5,2,3\n4,5,6\n"])
def test_a_name_that_is_not_found_because_the_first_line_was_data_is_explained(csv, content):
    with pytest.raises(
        TableError, match=r"no column '1995'.*'x2'; the first line .*only numbers.*v19"
    ):
        read_table(csv(content), Wanted("1995"))
    with pytest.raises(TableError) as refusal:
        read_table(csv("a,b\n1,2\n"), Wanted("1995"))
    assert "only numbers" not in str(refusal.value)


@pytest.mark.parametrize(
    "content",
    ['"a" "y"\n"r1" 1 2\n"r2" 3 4\n', '"","a","y"\n"r1",1,2\n"r2",3,4\n', ",a,y\n0,1,2\n1,3,4\n"],
)
def test_row_names_are_left_out(csv, content):
    table = read_table(csv(content), Wanted("y"))
    assert table.names == ("a",)
    assert table.X.tolist() == [[1], [3]]
    assert "row names" in table.notes[0]


@pytest.mark.parametrize("content", ["y,a\n2,1,\n4,3,\n", "y,a,\n2,1,\n4,3,\n"])
def test_a_delimiter_at_the_end_of_each_line_shifts_nothing(csv, content):
    table = read_table(csv(content), Wanted("y"))
    assert table.names == ("a",)
    assert table.X.tolist() == [[1], [3]]
    assert table.y.tolist() == [2, 4]


def test_decimal_commas_are_read_and_never_guessed_from_thousands(csv, monkeypatch):
    assert read_table(csv("a;y\n1,5;2\n-,25;3,5e1\n"), Wanted("y")).y.tolist() == [2, 35]
    with pytest.raises(TableError, match=r"'1,234' in line 3"):
        read_table(csv("a;y\n1.5;2\n1,234;3\n"), Wanted("y"))
    late = csv("a;y\n" + "1,5;2\n" * 200 + "1.234;3\n" * 200)
    for size in (50, 1 << 20):
        monkeypatch.setattr(text_module, "_BLOCK", size)
        with pytest.raises(TableError, match=r"'1\.234' in line 202"):
            read_table(late, Wanted("y"))


def test_spaces_around_fields_do_not_matter(csv):
    table = read_table(csv('"a", "b", "y"\n 1 , "yes" ,2\n 3, "no",+4\n'), Wanted("y"))
    assert table.names == ("a", "b")
    assert table.X.tolist() == [[1, 1], [3, 0]]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_comments_at_the_top_are_left_out(csv, mark):
    top = mark + '# made in 2020, by hand, with care, and 5" long\n\n#\n'
    table = read_table(csv(top + "a,b,y\n1,2,3\n4,5,6\n"), Wanted("y"))
    assert table.names == ("a", "b")
    assert table.X.tolist() == [[1, 2], [4, 5]]
    assert "2 comment lines (with # in front) at the top of the file left out" in table.notes
    with pytest.raises(TableError, match=r"'b' \('x' in line 6\)"):
        read_table(csv(top + "a,b,y\n1,2,3\n4,x,6\n"), Wanted("y"))
    table = read_table(csv(top + "#a,b,y\n1,2,3\n4,5,6\n"), Wanted("y"))
    assert table.names == ("#a", "b")
    with pytest.raises(TableError, match="is blank but for comments"):
        read_table(csv(top), Wanted("y"))


def test_what_is_quoted_is_not_altered(csv):
    rows = '1, "x, ""y""" ,2\n2,"x, ""y""",3\n3,"a "" ,b",4\n'
    table = read_table(csv("a,w,y\n" + rows), Wanted("y", encode=True))
    assert table.coding.columns[1].reference == 'x, "y"'
    assert table.coding.columns[1].levels == ('a " ,b',)
    rows = '1  "two  spaces\n  and a  line"\t2 \n\n  2 "one" 3\n'
    table = read_table(csv('a "w  w"  y\n' + rows), Wanted("y", encode=True))
    assert table.names == ("a", "w  w=two  spaces\n  and a  line")
    assert table.X.tolist() == [[1, 1], [2, 0]]


@pytest.mark.parametrize("marker", ["", "NA", "n/a", "NaN", "null", "None", "<NA>", "?", "."])
def test_missing_values_are_counted_dropped_or_replaced(csv, marker):
    source = csv(f"a,b,y\n1,2,3\n{marker},{marker},4\n5,{marker},9\n3,4,5\n")
    with pytest.raises(
        TableError, match=r"'b' \(2\), 'a' \(1\).*--missing drop.*2 of 4 rows.*mean"
    ):
        read_table(source, Wanted("y"))
    dropped = read_table(source, Wanted("y", missing="drop"))
    assert dropped.X.tolist() == [[1, 2], [3, 4]]
    assert dropped.y.tolist() == [3, 5]
    assert (
        "2 rows with missing values were dropped, 2 rows kept; missing were values of 'b' (2), 'a' (1)"
        in dropped.notes
    )
    filled = read_table(source, Wanted("y", missing="mean"))
    assert filled.X.tolist() == [[1, 2], [3, 3], [5, 3], [3, 4]]
    assert any("3 missing values" in note for note in filled.notes)
    assert filled.coding.columns[1].means == (3.0,)


def test_none_is_a_word_among_words_and_missing_among_numbers(csv, monkeypatch):
    source = csv("arm,dose,y\nNone,1,2\nhigh,None,4\nlow,3,5\nNone,none,1\nhigh,2,3\n")
    for size in (8, 4 << 20):  # in several pieces, and in one
        monkeypatch.setattr(text_module, "_BLOCK", size)
        with pytest.raises(TableError, match=r"1 column with missing values.*: 'dose' \(2\)"):
            read_table(source, Wanted("y", encode=True))
        table = read_table(source, Wanted("y", encode=True, missing="drop"))
        assert table.names == ("arm=high", "arm=low", "dose")
        assert table.X.tolist() == [[0, 0, 1], [0, 1, 3], [1, 0, 2]]
        assert table.coding.columns[0].reference == "None"
        assert any("'None' in 'arm' was read as a word" in note for note in table.notes)
        kept = read_table(source, Wanted("y", encode=True, missing="drop", na=("None",)))
        assert kept.y.tolist() == [5, 3]
    assert read_new_rows(source, table.coding, "mean")[:, 0].tolist() == [0, 1, 0, 0, 1]
    assert read_new_rows(csv("arm,dose\nNone,None\n"), table.coding, "mean")[0, 2] == 2.0


def test_none_among_numbers_is_counted_as_missing_with_the_remedy(csv):
    source = csv("dose,w,y\n1,1,2\nNone,None,4\n3,2,NONE\nNone,3,1\n2,4,3\n")
    found = r"'None' among the numbers of 'dose' was read as a missing value \(2 of 5 rows\); give "
    remedy = "--categories 'dose' if it is a level of its own"
    with pytest.raises(TableError, match=rf"leave out 3 of 5 rows; {found}{remedy}"):
        read_table(source, Wanted("y", weights="w"))
    notes = read_table(source, Wanted("y", weights="w", missing="drop")).notes
    assert [note.split(" was")[0] for note in notes if "--categories" in note] == [
        "'None' among the numbers of 'dose'",
        "'NONE' among the numbers of 'y'",
    ]
    words = read_table(source, Wanted("y", weights="w", missing="drop", categories=("dose",)))
    assert words.names == ("dose=2", "dose=None")
    assert words.X.tolist() == [[0, 0], [0, 1], [1, 0]]
    assert not any("among the numbers of 'dose'" in note for note in words.notes)


def test_none_among_dates_is_missing_whatever_the_size_of_a_piece(csv, monkeypatch):
    source = csv("d,y\nNone,2\n2020-01-01,1\nna,5\n2020-01-03,3\n")
    for size in (8, 4 << 20):
        monkeypatch.setattr(text_module, "_BLOCK", size)
        table = read_table(source, Wanted("y", encode=True, missing="drop"))
        assert table.X[:, 0].tolist() == [18262, 18264]
        assert any("'None' among the dates of 'd' was read" in note for note in table.notes)


def test_none_everywhere_is_a_word_and_between_yes_and_no_too(csv):
    table = read_table(csv("a,b,y\nNone,yes,1\nNone,None,2\nNone,no,3\n"), Wanted("y", encode=True))
    assert table.names == ("b=no", "b=yes")


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([*map(str, range(40)), "abc"], "numbers"),
        (["4.5", "5.5", "bad", "6,5"], "numbers"),
        (["2020-02-01", "2020-02-02", "2020-02-03", "soon"], "dates"),
    ],
)
def test_a_slip_among_numbers_or_dates_is_named_and_never_coded_as_words(csv, cells, kind):
    if "6,5" in cells:
        cells = [cell.replace(",", ".") for cell in cells]
    bad = next(cell for cell in cells if cell.isalpha())
    line = cells.index(bad) + 2
    source = csv("a,y\n" + "".join(f"{cell},{i}\n" for i, cell in enumerate(cells)))
    for encode in (False, True):
        with pytest.raises(TableError) as refusal:
            read_table(source, Wanted("y", encode=encode))
        assert (
            f"1 column of {kind} with other text among them: 'a' ('{bad}' in line {line}); correct "
            f"what is wrong, or give --na '{bad}' if that means a missing value, or --categories 'a' "
            "to read the column as words, or give --exclude"
        ) in str(refusal.value)
    kept = read_table(source, Wanted("y", encode=True, na=(bad,), missing="drop"))
    assert len(kept.y) == len(cells) - 1
    assert kept.coding.na == (bad,)
    assert Coding.from_dict(kept.coding.to_dict()) == kept.coding
    assert len(read_new_rows(source, kept.coding, "mean")) == len(cells)
    coded = read_table(source, Wanted("y", categories=("a",)))
    assert len(coded.names) == len(set(cells)) - 1


@pytest.mark.parametrize("form", ["csv", "npz"])
def test_a_target_of_numbers_with_a_slip_is_no_classification(csv, tmp_path, form):
    cells = [*map(str, range(20)), "n.d.", "tbd"]
    if form == "csv":
        source = csv("a,y\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells)))
    else:
        source = str(tmp_path / "t.npz")
        np.savez(source, X=np.arange(22.0)[:, None], y=np.array(cells), names=np.array(["a"]))
    place = r"'n\.d\.' in (line 22|row 21) and 1 other cell"
    for labels in (False, True):
        with pytest.raises(
            TableError, match=rf"--target needs a column of numbers, but 'y' \({place}\)"
        ) as refusal:
            read_table(source, Wanted("y", labels=labels))
        assert ("--categories 'y'" in str(refusal.value)) == labels
        assert ("--na 'n.d.' if that means" if form == "csv" else "store it as") in str(
            refusal.value
        )
    if form == "csv":
        read = read_table(source, Wanted("y", labels=True, na=("n.d.", "tbd"), missing="drop"))
        assert read.y.tolist() == list(range(20))
    labels = read_table(source, Wanted("y", labels=True, categories=("y",)))
    assert labels.y.dtype.kind == "U"
    with pytest.raises(TableError, match=r"--weights needs a column of numbers.*--na"):
        read_table(csv("a,w,y\n1,2,1\n2,3,2\n3,x,2\n"), Wanted("y", weights="w"))


def test_a_target_with_one_mark_for_missing_stays_a_number(csv):
    source = csv(
        "a,y\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(["1", "2", "n/a", "4"]))
    )
    with pytest.raises(
        TableError, match=r"missing values in 4 rows: 'y' \(1\); give --missing drop"
    ):
        read_table(source, Wanted("y", labels=True))
    assert read_table(source, Wanted("y", labels=True, missing="drop")).y.tolist() == [1, 2, 4]


def test_marks_of_missing_values_are_numbers_among_numbers(tmp_path):
    source = str(tmp_path / "t.parquet")
    frame = pl.DataFrame({"a": [1.0, -999.0, 3.0], "b": ["u", "v", "w"], "y": [1, 2, -999]})
    frame.with_columns(pl.col("b").cast(pl.Categorical)).write_parquet(source)
    wanted = Wanted("y", encode=True, na=("-999", "w"), missing="drop")
    assert read_table(source, wanted).X.tolist() == [[1.0]]
    with pytest.raises(TableError, match=r"'a' \(1\), 'b' \(1\), 'y' \(1\)"):
        read_table(source, Wanted("y", encode=True, na=("-999", "w")))


def test_a_mark_that_is_a_number_is_one_however_it_is_written(csv):
    source = csv("a,y\n1.5,1\n-999.0,2\n-999,3\n2.5,4\n")
    kept = read_table(source, Wanted("y", na=("-999",), missing="drop"))
    assert kept.y.tolist() == [1, 4]


def test_columns_are_categories_by_name_or_pattern(csv):
    source = csv("site_1,site_2,x,y\n1,1,5,1\n2,1,6,2\n1,2,7,1\n")
    table = read_table(source, Wanted("y", categories=("site_*",)))
    assert table.names == ("site_1=2", "site_2=2", "x")
    assert table.y.tolist() == [1, 2, 1]
    assert len(read_table(source, Wanted("y", categories=("*",))).y) == 3
    with pytest.raises(TableError, match="no column 'sight' for --categories"):
        read_table(source, Wanted("y", categories=("sight",)))


def test_the_mean_is_never_put_in_for_the_target(csv):
    source = csv("a,w,y\n1,1,2\n3,1,NA\n4,NA,2\n")
    with pytest.raises(
        TableError, match=r"'y' \(1\); give --missing drop to leave out 1 of 3 rows$"
    ):
        read_table(source, Wanted("y", exclude=("w",)))
    for wanted in (Wanted("y", missing="mean"), Wanted("a", weights="w", missing="mean")):
        with pytest.raises(TableError, match="for variables only; give --missing drop"):
            read_table(source, wanted)
    assert len(read_table(source, Wanted("y", weights="w", missing="drop")).y) == 1


def test_a_column_without_any_value_is_refused(csv):
    source = csv("a,b,y\n1,,2\n2,,3\n")
    with pytest.raises(TableError, match=r"'b' \(2\)"):
        read_table(source, Wanted("y"))
    with pytest.raises(TableError, match=r"'b' has no value at all.*--exclude"):
        read_table(source, Wanted("y", missing="mean"))
    with pytest.raises(TableError, match=r"no row is complete.*'b' \(2\).*--exclude"):
        read_table(source, Wanted("y", missing="drop"))


def test_words_and_dates_are_refused_by_name_and_coded_on_request(csv):
    source = csv(
        "colour,when,n,y\nred,2024-01-31,1,2\nblue,2024-02-01 12:00,2,3\nred,1970-01-02T06:00:00Z,3,4\n"
        "green,2023-12-31,4,5\n"
    )
    with pytest.raises(TableError) as refusal:
        read_table(source, Wanted("y"))
    for part in ("'colour' ('red' in line 2)", "'when'", "--encode", "--exclude", "t.csv"):
        assert part in str(refusal.value)
    table = read_table(source, Wanted("y", encode=True, covariates=("colour",)))
    assert table.names == (
        "colour=blue", "colour=green", "when:days", "when:month", "when:weekday", "n",
    )  # fmt: skip
    assert table.covariates == (0, 1)
    assert table.X[:, :2].tolist() == [[0, 0], [1, 0], [0, 0], [0, 1]]
    assert table.X[:, 2].tolist() == [19753, 19754.5, 1.25, 19722]
    assert table.X[:, 3].tolist() == [1, 2, 1, 12]
    assert table.X[:, 4].tolist() == [3, 4, 5, 7]
    assert table.coding.columns[0].reference == "red"
    assert any("compared with 'red'" in note for note in table.notes)


@pytest.mark.parametrize("encode", [False, True])
@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (
            ["950", '"1,500"', '"-12,345.6"', "NA"],
            r"1 column of numbers with thousands .*: 'a' \('1,500' in line 3\); write numbers without",
        ),
        (
            ["x", "3.46%", "12 %", "0.1%"],
            r"percent signs: 'a' \('3\.46%' in line 3\); write numbers",
        ),
        (
            ["01/02/2020", "13/02/2020", "01/03/2020 10:30", "x"],
            r"1 column of what look like dates: 'a' \('01/02/2020' in line 2\); write dates as "
            "2020-02-01, which --encode can code, or give --exclude to",
        ),
        (["1.2.2020", "2.2.2020", "3.2.2020", "4.2.2020"], "look like dates"),
    ],
)
def test_text_that_looks_like_numbers_or_dates_is_refused_as_such(csv, cells, message, encode):
    source = csv("a,y\n" + "".join(f"{cell},{i}\n" for i, cell in enumerate(cells)))
    with pytest.raises(TableError, match=message) as refusal:
        read_table(source, Wanted("y", encode=encode))
    assert "--encode to code words" not in str(refusal.value)
    with pytest.raises(TableError, match=r"--target needs .*'a' \(.*numbers with|look like dates"):
        read_table(source, Wanted("a"))


def test_text_that_rarely_looks_like_numbers_is_coded_as_words(csv):
    source = csv('a,b,y\nx,7.1.2,1\n5%,7.1.3,2\n"1,500",7.2.1,3\nx,7.1.2,2\nz,7.1.2,1\n')
    with pytest.raises(TableError, match=r"2 columns of text: 'a'.*; give --encode to code words"):
        read_table(source, Wanted("y"))
    assert len(read_table(source, Wanted("y", encode=True)).names) == 5
    source = csv("a,b,y\nx,50%,1\nz,60%,2\n")
    with pytest.raises(
        TableError, match=r"'b' \('50%'.*, and 1 column of text: 'a'.*or give --encode"
    ):
        read_table(source, Wanted("y"))


@pytest.mark.parametrize(("columns", "named"), [(6, 6), (30, 30), (31, 31), (32, 30), (99, 30)])
def test_refusals_name_all_columns_up_to_thirty_and_never_hide_only_one(csv, columns, named):
    names = [f"v{j}" for j in range(columns)]
    header = ",".join([*names, "y"])
    for cell, shown in (("word", "('word' in line 2)"), ("", "(2)")):
        row = ",".join([*([cell] * columns), "1"])
        with pytest.raises(TableError, match=f"{columns} columns ") as refusal:
            read_table(csv(f"{header}\n{row}\n{row}\n"), Wanted("y"))
        message = str(refusal.value)
        assert [name for name in names if f"{name!r} {shown}" in message] == names[:named]
        assert (f" and {columns - named} more" in message) == (named < columns)
        assert "\n" not in message


def test_types_of_parquet_are_respected(tmp_path):
    from datetime import date, datetime, timedelta
    from decimal import Decimal

    frame = pl.DataFrame(
        {
            "int": [2**60, 1, 2],
            "dec": [Decimal("1.25"), Decimal("2.50"), Decimal("-3.00")],
            "flag": [True, False, True],
            "small": pl.Series([1, 2, 3], dtype=pl.UInt8),
            "half": pl.Series([1.5, 2.5, 3.5], dtype=pl.Float32),
            "cat": pl.Series(["u", "v", "u"], dtype=pl.Categorical),
            "digits": ["1", "2", "1"],
            "day": [date(1970, 1, 2)] * 3,
            "moment": pl.Series([datetime(1970, 1, 1, 12)] * 3).dt.replace_time_zone("UTC"),
            "span": [timedelta(1)] * 3,
            "y": [1.0, 2.0, 3.0],
        }
    )
    for source, writer in (("t.parquet", frame.write_parquet), ("t.feather", frame.write_ipc)):
        source = str(tmp_path / source)
        writer(source)
        with pytest.raises(TableError, match=r"'cat' .*'digits' .*'day' .*'span' \(Duration"):
            read_table(source, Wanted("y"))
        with pytest.raises(TableError, match=r"'span' .*; give --exclude"):
            read_table(source, Wanted("y", encode=True))
        table = read_table(source, Wanted("y", encode=True, exclude=("span",)))
        wanted = {"int": 2.0**60, "dec": 1.25, "flag": 1, "small": 1, "half": 1.5, "cat=v": 0}
        wanted |= {"digits=2": 0, "day:days": 1, "moment:days": 0.5}
        first = dict(zip(table.names, table.X[0], strict=True))
        assert {name: first[name] for name in wanted} == wanted


def test_nested_columns_are_refused_in_every_part(tmp_path):
    source = str(tmp_path / "t.parquet")
    pl.DataFrame({"a": [1.0, 2.0], "nest": [[1], [2]], "y": [1, 2]}).write_parquet(source)
    for changes in ({"groups": "nest"}, {"weights": "nest"}, {"encode": True}):
        with pytest.raises(TableError, match=r"'nest' \(List"):
            read_table(source, Wanted("y", **changes))


def test_infinite_is_a_word_among_words(csv, monkeypatch):
    monkeypatch.setattr(text_module, "_BLOCK", 16)
    table = read_table(csv("a,y\n" + "inf,1\n" * 9 + "low,2\n" * 8), Wanted("y", encode=True))
    assert table.names == ("a=low",)


def test_too_many_words_are_refused_with_their_number(csv):
    body = "".join(f"w{i},{i}\n" for i in range(51))
    with pytest.raises(TableError, match="'id' has 51 different words, and at most 50"):
        read_table(csv("id,y\n" + body), Wanted("y", encode=True))


def test_a_number_that_turns_to_text_late_is_found(csv, monkeypatch):
    monkeypatch.setattr(text_module, "_BLOCK", 16)
    source = csv("a,y\n" + "1,2\n" * 30 + "1.2.3,4\n" + "1,5\n")
    with pytest.raises(TableError, match=r"'a' \('1\.2\.3' in line 32\)"):
        read_table(source, Wanted("y"))
    assert read_table(source, Wanted("y", categories=("a",))).names == ("a=1.2.3",)


def test_roles_are_kept_apart(csv):
    source = csv(
        "id,gene_1,gene_2,age,w,site,y\n1,5,6,30,1,b,0\n2,7,8,40,0.5,a,1\n3,1,1,50,2,b,1\n"
    )
    wanted = Wanted(
        "y",
        include=("gene_*",),
        exclude=("gene_2",),
        covariates=("age",),
        weights="w",
        groups="site",
    )
    table = read_table(source, wanted)
    assert table.names == ("gene_1", "age")
    assert table.covariates == (1,)
    assert table.weights.tolist() == [1, 0.5, 2]
    assert table.groups.tolist() == [1, 0, 1]
    assert read_table(source, Wanted(None, exclude=("site",))).y is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"target": "Hieght"}, "no column 'Hieght' for --target: did you mean 'height'"),
        ({"target": "name"}, r"--target needs a column of numbers, but 'name' \('x' in line 2\)"),
        ({"include": ("y",)}, "'y' is the target"),
        ({"covariates": ("y",)}, "'y' is the target.*--covariates"),
        ({"include": ("zzz*",)}, "no column 'zzz\\*' for --include"),
        ({"exclude": ("heigth",)}, "did you mean 'height'"),
        (
            {"covariates": ("a",), "exclude": ("a",)},
            "'a' cannot be in --covariates and in --exclude",
        ),
        ({"weights": "y"}, "'y' cannot be --target and --weights"),
        ({"weights": "a", "exclude": ("name",)}, "the weight in line 3 is -1"),
        ({"weights": "zero", "exclude": ("name",)}, "all weights are 0"),
        ({"exclude": ("*",)}, "no column is left"),
        ({"missing": "ignore"}, "--missing must be error, drop, mean, got 'ignore'"),
    ],
)
def test_wrong_wishes_are_refused(csv, changes, message):
    source = csv("a,height,name,zero,y\n1,2,x,0,4\n-1,3,z,0,5\n")
    with pytest.raises(TableError, match=message) as refusal:
        read_table(source, Wanted(**({"target": "y"} | changes)))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"\n \n\n", "blank"),
        (b"a,y\n", "has a header but no rows"),
        (b"a,a,y\n1,2,3\n", "columns 1, 2 are all 'a'"),
        (b"a,b,y\n1,2,3\n4,5\n", "line 3 has 2 fields where the first line has 3"),
        (b"a,b,y\n\n1,2,3\n4,5,6,7\n", "line 4 has 4 fields where the first line has 3"),
        (b"a,b,y\n4,5\n1,2,3,4\n", "line 2 has 2 fields"),
        (b'a,b,y\n1,"x,3\n4,5,6\n', "in line 2 is never closed"),
        (b'a,b,y\n1,5" pipe,3\n4,5,6\n', "in line 2 is never closed"),
        (b'a,b,y\n1,"x" z,3\n4,5,6\n', "lines 2 to 4 could not be split into 3 fields"),
        ("größe,y\n1,2\n".encode() + b"\xe9,3\n", "the header is UTF-8 but later lines are not"),
        (b"y\n1\n", "no column that could be a variable"),
        (b"a,y\n1,2\ninf,3\n", "'a' is infinite in line 3"),
        (b"a,y\n1,2\n3,1e999\n", "'y' is infinite in line 3"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary file"),
        (b"a,y\n" + b"1,2\n" * 2000 + b"\0\0\n", "zero bytes"),
        (b"PAR1" + b"junk" * 20, "damaged"),
        (b"PK\x03\x04junk", "damaged"),
        (b"ARROW1\0\0junk", "damaged"),
        (b"\xff\xff\xff\xff\x10\0\0\0junk", "damaged"),
        (b"\x93NUMPY\x01\0", "numpy.savez"),
    ],
)
def test_files_that_are_no_tables_are_refused(csv, content, message):
    with pytest.raises(TableError, match=message) as refusal:
        read_table(csv(content), Wanted("y"))
    assert str(refusal.value).startswith("t.csv")
    assert "\n" not in str(refusal.value)


def test_files_that_are_not_there_are_refused(tmp_path):
    with pytest.raises(TableError, match=r"absent\.csv does not exist"):
        read_table(str(tmp_path / "absent.csv"), Wanted("y"))
    with pytest.raises(TableError, match="is a folder"):
        read_table(str(tmp_path), Wanted("y"))
    with pytest.raises(TableError, match="no file was named"):
        read_table("", Wanted("y"))


@pytest.mark.parametrize("suffix", sorted(s for s, form in SUFFIXES.items() if form != "text"))
def test_a_file_that_is_not_what_its_name_says_is_refused(csv, suffix):
    with pytest.raises(TableError, match=r"is not a.* or is damaged"):
        read_table(csv("a,y\n1,2\n", f"t{suffix}"), Wanted("y"))


@pytest.mark.parametrize("form", ["parquet", "arrow", "npz", "npz-F"])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_a_truncated_file_is_refused(tmp_path, form, share):
    values = np.random.default_rng(0).standard_normal((500, 4))
    source = store(tmp_path, form, ["a", "b", "c", "y"], values)
    content = (tmp_path / source).read_bytes()
    (tmp_path / source).write_bytes(content[: int(share * len(content))])
    with pytest.raises(TableError, match="damaged"):
        read_table(source, Wanted("y"))


def test_archives_are_checked(tmp_path):
    path = str(tmp_path / "t.npz")
    np.savez(path, Z=np.ones((3, 2)), y=np.ones(3))
    with pytest.raises(TableError, match="no array X: it has 'Z', 'y'"):
        read_table(path, Wanted("y"))
    np.savez(path, X=np.ones(3), y=np.ones(3))
    with pytest.raises(TableError, match=r"array X has shape \(3,\)"):
        read_table(path, Wanted("y"))
    np.savez(path, X=np.array([[object()]], dtype=object), y=np.ones(1))
    with pytest.raises(TableError, match="type object"):
        read_table(path, Wanted("y"))
    np.savez(path, X=np.eye(3), y=np.ones(3), names=["a", "b"])
    with pytest.raises(TableError, match="names has 2 names where X has 3 columns"):
        read_table(path, Wanted("y"))
    np.savez(path, X=np.eye(3), y=np.ones(4))
    with pytest.raises(TableError, match="array y has 4 values where X has 3 rows"):
        read_table(path, Wanted("y"))
    np.savez(path, X=np.eye(3, dtype=">i2"), y=np.arange(3.0), weights=np.ones(3), site=list("aba"))
    table = read_table(path, Wanted("y", include=("*",), weights="weights", groups="site"))
    assert table.names == ("x0", "x1", "x2")
    assert table.X.tolist() == np.eye(3).tolist()
    assert table.groups.tolist() == [0, 1, 0]


def refused_cheaply(source, wanted, message, most):
    """Refuse a table, with less memory than so many bytes, in one sentence that names it."""
    tracemalloc.start()
    try:
        with pytest.raises(TableError, match=message) as refusal:
            read_table(source, wanted)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert str(refusal.value).startswith("t.")
    assert "\n" not in str(refusal.value)
    assert taken < most


def npy_bytes(shape, descr="<f8", data=b""):
    """Return a .npy that may state anything."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header.encode() + data


def archive_of(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return str(path)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"X": npy_bytes((2, 10**9))}, "has 128 bytes, not an array of float64"),
        ({"X": npy_bytes((0, 10**9))}, r"1,000,000,000 columns need 7,000\.0 GB of memory"),
        ({"X": npy_bytes((1, 10**8), "|i1", b"\0" * 10**8)}, "100,000,000 columns need 700"),
        (
            {"X": npy_bytes((2, 1), data=b"\0" * 16), "y": npy_bytes((10**12,))},
            "y.npy has 128 bytes, not an array of float64",
        ),
        ({"X": b"\x93NUMPY\x01\0" + struct.pack("<H", 9000) + b"(" * 9000}, "cannot be read"),
        ({"X": npy_bytes((-2, -1), data=b"\0" * 16)}, "not an array"),
    ],
    ids=["wide", "no rows", "a bomb", "beside", "deep header", "negative"],
)
def test_an_archive_that_states_what_it_cannot_hold_takes_no_memory(tmp_path, members, message):
    refused_cheaply(archive_of(tmp_path / "t.npz", **members), Wanted("y"), message, 1e7)


def test_arrays_beside_x_that_are_of_no_use_are_not_loaded(tmp_path, monkeypatch):
    source = str(tmp_path / "t.npz")
    np.savez(source, X=np.arange(6.0).reshape(3, 2), y=np.arange(3.0), other=np.zeros(10**6))
    monkeypatch.setattr(room, "free_memory", lambda: 100_000)
    assert read_table(source, Wanted("y")).X.shape == (3, 2)
    np.savez(source, X=np.zeros((10_000, 2)), y=np.zeros(10_000))
    with pytest.raises(TableError, match=r"10,000 x 2 numbers need .* are free: give --include"):
        read_table(source, Wanted("y"))
    np.savez(source, X=np.zeros((20_000, 2)), y=np.zeros(20_000))
    with pytest.raises(TableError, match="the arrays beside X need"):
        read_table(source, Wanted("y"))


def test_an_encrypted_archive_says_so(tmp_path):
    source = tmp_path / "t.npz"
    np.savez(source, X=np.zeros((2, 2)), y=np.zeros(2))
    content = bytearray(source.read_bytes())
    for sign, place in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        for found in re.finditer(re.escape(sign), bytes(content)):
            content[found.start() + place] |= 1
    source.write_bytes(content)
    with pytest.raises(TableError, match=r"t\.npz: X\.npy is encrypted: .* without a password"):
        read_table(str(source), Wanted("y"))


def test_half_a_character_in_a_name_or_a_cell_is_named(tmp_path):
    source = str(tmp_path / "t.npz")
    np.savez(source, X=np.zeros((2, 2)), y=np.arange(2.0), names=np.array(["a", "b\ud800"]))
    with pytest.raises(TableError, match=r"name of column 2, 'b\\ud800', has half of a character"):
        read_table(source, Wanted("y"))
    np.savez(source, X=np.zeros((2, 1)), y=np.array(["u", "\udfff"]), names=np.array(["a"]))
    with pytest.raises(TableError, match="text with half of a character") as refusal:
        read_table(source, Wanted("y", labels=True))
    assert "codec" not in str(refusal.value)


@pytest.mark.parametrize("line", ["1," * 5_000_000 + "1\n", "a b " * 2_500_000 + "\n1 2\n"])
def test_a_line_of_millions_of_fields_takes_no_memory(csv, monkeypatch, line):
    monkeypatch.setattr(room, "free_memory", lambda: 8 << 30)
    message = r"t\.csv: 5,000,001 columns need 35\.0 GB of memory, and 8\.6 GB are free"
    refused_cheaply(csv(line), Wanted("x1"), message, 1.5e8)


def test_few_of_the_longest_lines_tell_how_a_file_is_written(csv, monkeypatch):
    seen = []
    monkeypatch.setattr(text_module, "_SAMPLE_BYTES", 100)
    monkeypatch.setattr(
        text_module, "find_dialect", lambda lines: seen.append(len(lines)) or find_dialect(lines)
    )
    wide = ",".join(f"v{j}" for j in range(60)) + "\n" + (",".join("1" * 60) + "\n") * 5
    assert read_table(csv(wide), Wanted("v0")).X.shape == (5, 59)
    assert read_table(csv("a,y\n" + "1,2\n" * 9), Wanted("y")).X.shape == (9, 1)
    assert seen == [2, 10]


def test_closed_standard_input_is_said_so(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(TableError, match="standard input is closed: send a table to it"):
        read_table("-", Wanted("y"))


def test_free_memory_is_that_of_the_machine_or_of_the_container(tmp_path, monkeypatch):
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:   5 kB\n")
    monkeypatch.setattr(memory, "_SYSTEM", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "_GROUP", tmp_path)
    assert memory.free_memory() == 5120
    (tmp_path / "memory.current").write_text("1000\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.free_memory() == 5120
    (tmp_path / "memory.max").write_text("3000\n")
    assert memory.free_memory() == 2000
    (tmp_path / "meminfo").unlink()
    (tmp_path / "memory.max").unlink()
    assert memory.free_memory() is None


def test_columns_of_a_two_dimensional_response_are_targets(tmp_path):
    path = str(tmp_path / "t.npz")
    Y = np.arange(6.0).reshape(3, 2)
    np.savez(path, X=np.eye(3), Y=Y, site=list("aba"), other=np.ones((4, 2)))
    with pytest.raises(TableError, match=r"no column 'Y' for --target.*Y has two dim.*Y0 to Y1$"):
        read_table(path, Wanted("Y"))
    table = read_table(path, Wanted("Y1", groups="site"))
    assert table.y.tolist() == [1, 3, 5]
    assert table.names == ("x0", "x1", "x2")
    assert table.groups.tolist() == [0, 1, 0]
    np.savez(path, X=np.eye(3), Y=Y, names=["a", "Y0", "c"], y=np.ones(3))
    assert read_table(path, Wanted("y")).names == ("a", "Y0", "c")


@pytest.mark.parametrize("form", ["text", "parquet", "arrow", "stream", "npz"])
def test_standard_input_is_read(monkeypatch, form):
    frame = pl.DataFrame({"a": [1.0, 3.0], "y": [2.0, 4.0]})
    buffer = io.BytesIO()
    {
        "text": frame.write_csv,
        "parquet": frame.write_parquet,
        "arrow": frame.write_ipc,
        "stream": frame.write_ipc_stream,
        "npz": lambda file: np.savez(file, X=[[1.0], [3.0]], y=[2.0, 4.0], names=["a"]),
    }[form](buffer)
    buffer.seek(0)
    monkeypatch.setattr("sys.stdin", type("Pipe", (), {"buffer": buffer}))
    table = read_table("-", Wanted("y"))
    assert table.X.tolist() == [[1], [3]]
    assert table.names == ("a",)
    assert table.source == "standard input"


def test_a_pipe_is_read():
    code = (
        "import sys; from garrote.tables import read_table, Wanted;"
        "sys.exit(read_table('/dev/stdin', Wanted('y')).X.tolist() != [[1], [3]])"
    )
    done = subprocess.run([sys.executable, "-c", code], input=b"a,y\n1,2\n3,4\n", timeout=60)
    assert done.returncode == 0


def test_new_rows_are_coded_as_the_old_ones(csv):
    source = csv(
        "colour,ok,day,n,y\nred,yes,2024-01-01,1,2\nblue,no,2024-01-02,2,3\nred,no,2024-03-01,4,4\n"
    )
    table = read_table(source, Wanted("y", encode=True))
    coding = Coding.from_dict(json.loads(json.dumps(table.coding.to_dict())))
    assert coding == table.coding
    new = csv(
        "extra,n,day,ok,colour\nzz,7,2024-01-02,true,blue\nzz,8,2024-01-01,0,red\n", "new.csv"
    )
    rows = read_new_rows(new, coding)
    assert rows.shape == (2, len(table.names))
    assert dict(zip(table.names, rows[0], strict=True)) | {"day:days": 0} == {
        "colour=blue": 1, "ok": 1, "day:days": 0, "day:month": 1, "day:weekday": 2, "n": 7,
    }  # fmt: skip
    gap = csv("n,day,ok,colour\n,2024-01-02,yes,\n", "gap.csv")
    with pytest.raises(TableError, match=r"'colour' \(1\).*--missing mean"):
        read_new_rows(gap, coding)
    filled = dict(zip(table.names, read_new_rows(gap, coding, missing="mean")[0], strict=True))
    assert filled["n"] == pytest.approx(7 / 3)
    assert filled["colour=blue"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("n\n1\n", "no column 'colour' for a variable of the model"),
        ("z\n1\n", "lacks 2 columns of the model: 'colour', 'n'"),
        (
            "n,colour\n1,red\n2,pink\n",
            "'pink' in column 'colour', line 3, did not occur.*'blue', 'red'",
        ),
        (
            "n,colour\nx,red\n",
            r"'n' \('x' in line 2\) was a column of numbers when the model",
        ),
        ("n,colour\ninf,red\n", "'n' is infinite in line 2"),
        ("n,colour\n", "no rows"),
    ],
)
def test_new_rows_that_do_not_fit_are_refused(csv, content, message):
    table = read_table(csv("colour,n,y\nred,1,2\nblue,2,3\n"), Wanted("y", encode=True))
    with pytest.raises(TableError, match=message):
        read_new_rows(csv(content, "new.csv"), table.coding)


def test_dropping_new_rows_is_refused(csv):
    table = read_table(csv("a,y\n1,2\n"), Wanted("y"))
    with pytest.raises(TableError, match="every row gets its prediction"):
        read_new_rows(csv("a\n1\n", "new.csv"), table.coding, missing="drop")


def test_a_damaged_coding_is_refused():
    with pytest.raises(TableError, match="coding of the columns is damaged"):
        Coding.from_dict({"columns": [{"name": "a", "kind": "number"}]})
    plain = {"name": "a", "kind": "magic", "levels": [], "reference": None, "means": [1.0]}
    with pytest.raises(TableError, match="damaged"):
        Coding.from_dict({"columns": [plain]})


def test_an_identifier_is_pointed_out(csv):
    body = "".join(f"{1000 + 7 * i},{i % 5},{i * 0.37},{i}\n" for i in range(40))
    table = read_table(csv("id,few,real,y\n" + body), Wanted("y"))
    notes = [note for note in table.notes if "every row" in note]
    assert len(notes) == 1
    assert "'id'" in notes[0]
    assert "few" not in notes[0]


def test_numbers_whose_squares_overflow_are_refused_by_column_and_value(csv):
    table = read_table(csv("a,y\n1e150,-1e150\n0.5e150,2\n,3\n"), Wanted("y", missing="mean"))
    assert table.X[2, 0] == pytest.approx(0.75e150)
    for large, shown in (("1e308", r"1e\+308"), ("-1.5e151", r"-1\.5e\+151")):
        message = f"t.csv: column 'a' holds values up to {shown}, whose squares overflow: rescale"
        source = csv(f"a,b,y\n{large},1,1\n{large},2,2\n,3,4\n")
        for wanted in (Wanted("y", missing="mean"), Wanted("a", missing="drop")):
            with pytest.raises(TableError, match=message):
                read_table(source, wanted)
    with pytest.raises(TableError, match="'a' holds values up to 1e\\+200"):
        read_new_rows(csv("a\n1e200\n", "new.csv"), table.coding)


def test_a_missing_polars_is_named(csv):
    source = csv("a,y\n1,2\n")
    code = (
        "import sys; sys.modules['polars'] = None\n"
        "from garrote.tables import read_table, Wanted\n"
        f"try: read_table({source!r}, Wanted('y'))\n"
        "except ImportError as error: sys.exit(\"pip install 'garrote[cli]'\" not in str(error))\n"
        "sys.exit(1)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


MEASURE = """
import resource, sys
from garrote.tables import Wanted, read_table

def peak():
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

read_table(sys.argv[1], Wanted("y"))  # what the libraries need of themselves
before = peak()
table = read_table(sys.argv[2], Wanted("y"))
print((peak() - before) / table.X.nbytes, *table.X.shape, table.X[-1, -1], table.y.sum())
"""


@pytest.mark.parametrize("form", ["csv", "parquet", "npz"])
def test_reading_needs_little_more_than_the_matrix(tmp_path, form):
    rows, columns = 200_000, 200
    block = np.random.default_rng(0).integers(-99, 99, (2000, columns + 1)) / 8
    names = [*(f"v{j}" for j in range(columns)), "y"]
    large, small = (tmp_path / f"{size}.{form.partition('-')[0]}" for size in ("large", "small"))
    for path, repeats in ((large, rows // len(block)), (small, 1)):
        save_blocks(path, form, names, block, repeats)
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(small), str(large)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    ratio, *rest = map(float, done.stdout.split())
    assert rest == [rows, columns, block[-1, -2], block[:, -1].sum() * (rows // len(block))]
    assert ratio < 1.3


def save_blocks(path, form, names, block, repeats):
    frame = pl.DataFrame({name: block[:, j] for j, name in enumerate(names)})
    if form.startswith("csv"):
        text = frame.write_csv(include_header=False).encode()
        with gzip.open(path, "wb", 1) if form.endswith("gz") else path.open("wb") as file:
            file.write(",".join(names).encode() + b"\n")
            for _ in range(repeats):
                file.write(text)
    elif form.startswith("npz"):
        X = np.tile(block[:, :-1], (repeats, 1))
        X = np.asfortranarray(X) if form == "npz-F" else X
        np.savez(path, X=X, y=np.tile(block[:, -1], repeats), names=names[:-1])
    else:
        whole = pl.concat([frame] * repeats)
        whole.write_parquet(path) if form == "parquet" else whole.write_ipc(path)


REAL = [
    ("boston.csv", Wanted("MEDV"), (506, 13)),
    ("prostate.csv", Wanted("lpsa", exclude=("train",)), (97, 8)),
    ("uscrime.csv", Wanted("y"), (47, 15)),
    ("ozone_interactions.csv", Wanted("ozone"), (203, 134)),
    ("gasoline_nir.npz", Wanted("octane"), (60, 401)),
    ("riboflavin.npz", Wanted("y"), (71, 4088)),
    ("leukemia_3571.npz", Wanted("y"), (72, 3571)),
    ("mice_genotypes.npz", Wanted(None), (1814, 10346)),
]


@pytest.mark.parametrize(("name", "wanted", "shape"), REAL, ids=[name for name, *_ in REAL])
def test_published_tables_are_read(shared_data, name, wanted, shape):
    table = read_table(str(shared_data / name), wanted)
    assert table.X.shape == shape
    assert np.isfinite(table.X).all()
    assert table.source == name
    if name.endswith(".npz"):
        with np.load(shared_data / name, allow_pickle=False) as file:
            assert np.array_equal(table.X, file["X"].astype(float))


def test_the_mice_have_words_and_gaps_that_are_named(shared_data):
    source = str(shared_data / "mice_pheno.csv")
    with pytest.raises(TableError, match=r"columns of text: 'SUBJECT\.NAME'"):
        read_table(source, Wanted("Obesity.BMI"))
