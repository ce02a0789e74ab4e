"""Text as a table: how it is written, encoded and quoted is found out, and nothing is guessed."""

import numpy as np
import pytest

from garrote.tables import TableError, Wanted, read_table
from garrote.tables.formats import text as text_module
from garrote.tables.formats.dialect import find_dialect


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
