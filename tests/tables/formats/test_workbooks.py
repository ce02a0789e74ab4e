"""Excel workbooks are read like text, and written so that they can be read again."""

import sys
from datetime import date

import numpy as np
import polars as pl
import pytest
import xlsxwriter

from garrote.tables import TableError, Wanted, read_new_rows, read_table
from garrote.tables.writing import write_columns


def workbook(path, rows, top=0, left=0, sheets=("Data",)):
    """Write rows of cells to the first sheet, some rows and columns away from its corner."""
    book = xlsxwriter.Workbook(str(path), {"default_date_format": "yyyy-mm-dd"})
    first, *_ = [book.add_worksheet(name) for name in sheets]
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            first.write(top + i, left + j, cell)
    book.close()
    return str(path)


def test_a_workbook_holds_what_a_text_file_would(tmp_path):
    rng = np.random.default_rng(0)
    values = rng.standard_normal((30, 3)) * [1.0, 1e-12, 1e9]
    rows = [["a", "b", "y"], *values.tolist()]
    table = read_table(workbook(tmp_path / "t.xlsx", rows), Wanted("y"))
    assert table.names == ("a", "b")
    np.testing.assert_allclose(np.column_stack([table.X, table.y]), values, rtol=1e-15)


def test_numbers_words_dates_and_blank_rows_of_a_sheet_are_understood(tmp_path):
    rows = [["id", "when", "kind", "x", "y"]]
    rows += [[f"p{i}", date(2020, 1, i + 1), "red" if i % 3 else "blue", i**1.5, i % 7 + 0.5]
             for i in range(25)]  # fmt: skip
    rows.insert(5, [None] * 5)
    source = workbook(tmp_path / "t.xlsx", rows, top=2, left=1, sheets=("Data", "notes"))
    wanted = Wanted("y", exclude=("id",), encode=True)
    table = read_table(source, wanted)
    assert table.X.shape == (25, 5)
    assert table.names == ("when:days", "when:month", "when:weekday", "kind=blue", "x")
    assert any("'Data', was read, and not 'notes'" in text for text in table.check.reading)


def test_a_cell_that_is_no_number_is_named_with_its_row_in_excel(tmp_path):
    rows = [["x", "y"], *([i + 0.5, i] for i in range(20))]
    rows[8][0] = "67 F"
    source = workbook(tmp_path / "t.xlsx", rows, top=3)
    with pytest.raises(TableError, match=r"67 F.*row 12 of the sheet"):
        read_table(source, Wanted("y"))


@pytest.mark.parametrize(("sheet", "name"), [("Second", "b"), ("2", "b"), (None, "a"), ("1", "a")])
def test_a_sheet_is_taken_by_its_name_or_number(tmp_path, sheet, name):
    book = xlsxwriter.Workbook(str(tmp_path / "t.xlsx"))
    for title, column in (("First", "a"), ("Second", "b")):
        page = book.add_worksheet(title)
        for k, row in enumerate([[column, "y"], [1, 2], [2, 3], [3, 1]]):
            page.write_row(k, 0, row)
    book.close()
    table = read_table(str(tmp_path / "t.xlsx"), Wanted("y", sheet=sheet))
    assert table.names == (name,)
    assert any("--sheet" in note for note in table.notes) == (sheet is None)
    rows = read_new_rows(str(tmp_path / "t.xlsx"), table.coding, sheet=sheet)
    assert rows[:, 0].tolist() == [1.0, 2.0, 3.0]


def test_a_sheet_that_is_not_there_is_refused_with_those_that_are(tmp_path):
    source = workbook(tmp_path / "t.xlsx", [["a", "y"], [1, 2]], sheets=("Data", "notes"))
    with pytest.raises(TableError, match=r"no sheet 'Dta': it has 'Data', 'notes'"):
        read_table(source, Wanted("y", sheet="Dta"))
    with pytest.raises(TableError, match="no sheet '3'"):
        read_table(source, Wanted("y", sheet="3"))
    (tmp_path / "t.csv").write_text("a,y\n1,2\n")
    with pytest.raises(TableError, match="is no workbook"):
        read_table(str(tmp_path / "t.csv"), Wanted("y", sheet="Data"))


@pytest.mark.parametrize("suffix", ["xlsx", "data"])
def test_a_blank_sheet_and_a_damaged_workbook_are_refused(tmp_path, suffix):
    with pytest.raises(TableError, match="first sheet, 'Data', is blank"):
        read_table(workbook(tmp_path / f"t.{suffix}", []), Wanted("y"))
    cut = tmp_path / "cut.xlsx"
    cut.write_bytes((tmp_path / f"t.{suffix}").read_bytes()[:-300])
    with pytest.raises(TableError, match=r"cut\.xlsx"):
        read_table(str(cut), Wanted("y"))


def test_what_is_written_can_be_read_and_is_never_a_formula(tmp_path):
    path = tmp_path / "out.xlsx"
    columns = {"name": ["=1+1", "b"], "x": [0.1, float("nan")], "in": [True, False]}
    write_columns(path, columns)
    assert pl.read_excel(path).rows() == [("=1+1", 0.1, True), ("b", None, False)]
    write_columns(tmp_path / "out.csv", columns)
    assert (tmp_path / "out.csv").read_text() == "name,x,in\n=1+1,0.1,true\nb,,false\n"


def test_a_missing_engine_is_named(tmp_path, monkeypatch):
    source = workbook(tmp_path / "t.xlsx", [["a", "y"], [1, 2]])
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(ImportError, match=r'pip install "garrote\[excel\]"'):
        read_table(source, Wanted("y"))
