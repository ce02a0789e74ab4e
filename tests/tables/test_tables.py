"""Tables on disk become the arrays that were written, or are refused in one sentence."""

import json

import numpy as np
import polars as pl
import pytest

from garrote.experiments.data import published_table
from garrote.tables import Coding, RefusedTable, TableError, Wanted, read_new_rows, read_table
from garrote.tables.formats import text as text_module


@pytest.mark.parametrize("marker", ["", "NA", "n/a", "NaN", "null", "None", "<NA>", "?", "."])
def test_missing_values_are_counted_dropped_or_replaced(csv, marker):
    source = csv(f"a,b,y\n1,2,3\n{marker},{marker},4\n5,{marker},9\n3,4,5\n")
    with pytest.raises(
        TableError,
        match=r"2 variables with missing values, in 2 of 4 rows: 'b' \(2\), 'a' \(1\); dropping rows .* "
        r"keeps 2; leaving out 'b' \(2\) keeps 3;.* give --missing impute$",
    ):
        read_table(source, Wanted("y"))
    dropped = read_table(source, Wanted("y", missing="drop"))
    assert dropped.X.tolist() == [[1, 2], [3, 4]]
    assert dropped.y.tolist() == [3, 5]
    assert "2 rows with missing values were dropped, 2 kept: 'b' (2), 'a' (1)" in dropped.notes
    filled = read_table(source, Wanted("y", missing="mean"))
    assert filled.X.tolist() == [[1, 2], [3, 3], [5, 3], [3, 4]]
    assert any("3 missing values" in note for note in filled.notes)
    assert filled.coding.columns[1].means == (3.0,)


def test_none_is_a_word_among_words_and_missing_among_numbers(csv, monkeypatch):
    source = csv("arm,dose,y\nNone,1,2\nhigh,None,4\nlow,3,5\nNone,none,1\nhigh,2,3\n")
    for size in (8, 4 << 20):  # in several pieces, and in one
        monkeypatch.setattr(text_module, "_BLOCK", size)
        with pytest.raises(TableError, match=r"1 variable with missing values.*: 'dose' \(2\)"):
            read_table(source, Wanted("y", encode=True))
        table = read_table(source, Wanted("y", encode=True, missing="drop"))
        assert table.names == ("arm=high", "arm=low", "dose")
        assert table.X.tolist() == [[0, 0, 1], [0, 1, 3], [1, 0, 2]]
        assert table.coding.columns[0].reference == "None"
        assert any(
            "'None' among the words of 'arm' was read as a word" in note for note in table.notes
        )
        kept = read_table(source, Wanted("y", encode=True, missing="drop-most", na=("None",)))
        assert kept.y.tolist() == [5, 3]
    assert read_new_rows(source, table.coding, "mean")[:, 0].tolist() == [0, 1, 0, 0, 1]
    assert read_new_rows(csv("arm,dose\nNone,None\n"), table.coding, "mean")[0, 2] == 2.0


def test_none_among_numbers_is_counted_as_missing_with_the_remedy(csv):
    source = csv("dose,w,y\n1,1,2\nNone,None,4\n3,2,NONE\nNone,3,1\n2,4,3\n")
    found = r"'None' among the numbers of 'dose' was read as a missing value \(2 of 5 rows\); give "
    remedy = "--categories 'dose' if it is a level of its own"
    with pytest.raises(TableError, match=rf"'w' \(1\): nothing .*'dose' \(2\).*{found}{remedy}.*"):
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
        (["4.5", "5.5", "bad", "6.5", "7.5"], "numbers"),
        (["2020-02-01", "2020-02-02", "2020-02-03", "2020-02-04", "soon"], "dates"),
    ],
)
def test_a_slip_among_numbers_or_dates_is_named_and_never_coded_as_words(csv, cells, kind):
    bad = next(cell for cell in cells if cell.isalpha())
    line = cells.index(bad) + 2
    source = csv("a,y\n" + "".join(f"{cell},{i}\n" for i, cell in enumerate(cells)))
    for encode in (False, True):
        with pytest.raises(RefusedTable) as refusal:
            read_table(source, Wanted("y", encode=encode))
        assert f"'a' is a column of {kind} but for '{bad}' in line {line}:" in str(refusal.value)
        assert refusal.value.check.remedy["--na"] == (bad,)
    kept = read_table(source, Wanted("y", encode=True, na=(bad,), missing="drop"))
    assert len(kept.y) == len(cells) - 1
    assert kept.coding.na == (bad,)
    assert Coding.from_dict(kept.coding.to_dict()) == kept.coding
    assert len(read_new_rows(source, kept.coding, "mean")) == len(cells)
    coded = read_table(source, Wanted("y", categories=("a",)))
    assert len(coded.names) == len(set(cells)) - 1


@pytest.mark.parametrize("form", ["csv", "npz"])
def test_a_target_of_numbers_with_a_slip_is_no_classification(csv, tmp_path, form):
    cells = [*map(str, range(20)), "unsure", "tbd"]
    if form == "csv":
        source = csv("a,y\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells)))
    else:
        source = str(tmp_path / "t.npz")
        np.savez(source, X=np.arange(22.0)[:, None], y=np.array(cells), names=np.array(["a"]))
    place = r"'unsure' in (line 22|row 21), 'tbd' in (line 23|row 22):"
    for labels in (False, True):
        with pytest.raises(
            RefusedTable, match=rf"'y' is a column of numbers but for {place}"
        ) as refusal:
            read_table(source, Wanted("y", labels=labels))
        marks = refusal.value.check.remedy.get("--na")
        assert marks == (("unsure", "tbd") if form == "csv" else None)
    if form == "csv":
        read = read_table(source, Wanted("y", labels=True, na=("unsure", "tbd")))
        assert read.y.tolist() == list(range(20))
    labels = read_table(source, Wanted("y", labels=True, categories=("y",)))
    assert labels.y.dtype.kind == "U"
    with pytest.raises(TableError, match=r"'w' holds numbers in 67 % of its cells only.*--na x"):
        read_table(csv("a,w,y\n1,2,1\n2,3,2\n3,x,2\n"), Wanted("y", weights="w"))


def test_a_target_with_one_mark_for_missing_stays_a_number(csv):
    source = csv(
        "a,y\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(["1", "2", "n/a", "4"]))
    )
    for missing in ("error", "drop", "mean", "impute"):
        table = read_table(source, Wanted("y", labels=True, missing=missing))
        assert table.y.tolist() == [1, 2, 4]
        assert "1 of 4 rows has no 'y': left out, 3 kept" in table.notes


def test_marks_of_missing_values_are_numbers_among_numbers(tmp_path):
    source = str(tmp_path / "t.parquet")
    frame = pl.DataFrame({"a": [1.0, -999.0, 3.0], "b": ["u", "v", "w"], "y": [1, 2, -999]})
    frame.with_columns(pl.col("b").cast(pl.Categorical)).write_parquet(source)
    wanted = Wanted("y", encode=True, na=("-999", "w"), missing="drop")
    assert read_table(source, wanted).X.tolist() == [[1.0]]
    with pytest.raises(
        TableError, match=r"missing values, in 1 of 2 rows: 'a' \(1\);.*no 'y': left out"
    ):
        read_table(source, Wanted("y", encode=True, na=("-999", "w")))


def test_a_mark_may_be_one_in_a_single_column(csv):
    source = csv("y,a,time 12:30\n1,99,99\n99,2,2\n3,3,12:30\n")
    table = read_table(source, Wanted("y", na=("a:99", "time 12:30:12:30"), missing="mean"))
    assert table.y.tolist() == [1, 99, 3]
    assert table.X[:, 0].tolist() == [2.5, 2, 3]
    assert table.X[:, 1].tolist() == [99, 2, 50.5]


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
    for missing in ("error", "mean"):
        assert read_table(source, Wanted("y", exclude=("w",), missing=missing)).y.tolist() == [2, 2]
        with pytest.raises(TableError, match=r"'w' \(1\): nothing can be put in.*--missing drop"):
            read_table(source, Wanted("y", weights="w", missing=missing))
    assert len(read_table(source, Wanted("y", weights="w", missing="drop")).y) == 1


def test_a_column_without_any_value_is_refused(csv):
    source = csv("a,b,y\n1,,2\n2,,3\n")
    for missing in ("error", "drop", "mean", "impute"):
        with pytest.raises(TableError, match=r"no value at all in 'b'.*--exclude b"):
            read_table(source, Wanted("y", missing=missing))


def test_words_and_dates_are_refused_by_name_and_coded_on_request(csv):
    source = csv(
        "colour,when,n,y\nred,2024-01-31,1,2\nblue,2024-02-01 12:00,2,3\nred,1970-01-02T06:00:00Z,3,4\n"
        "green,2023-12-31,4,5\n"
    )
    with pytest.raises(TableError) as refusal:
        read_table(source, Wanted("y"))
    for part in ("'colour' ('red' in line 2)", "'when'", "--encode", "t.csv"):
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
            "2020-02-01; give --exclude a",
        ),
        (["1.2.2020", "2.2.2020", "3.2.2020", "4.2.2020"], "look like dates"),
    ],
)
def test_text_that_looks_like_numbers_or_dates_is_refused_as_such(csv, cells, message, encode):
    source = csv("a,y\n" + "".join(f"{cell},{i}\n" for i, cell in enumerate(cells)))
    with pytest.raises(TableError, match=message) as refusal:
        read_table(source, Wanted("y", encode=encode))
    assert "--encode" not in str(refusal.value)
    with pytest.raises(TableError, match=r"--target needs .*'a' \(.*numbers with|look like dates"):
        read_table(source, Wanted("a"))


def test_text_that_rarely_looks_like_numbers_is_coded_as_words(csv):
    source = csv('a,b,y\nx,7.1.2,1\n5%,7.1.3,2\n"1,500",7.2.1,3\nx,7.1.2,2\nz,7.1.2,1\n')
    with pytest.raises(TableError, match=r"2 columns of text: 'a'.*; give --encode"):
        read_table(source, Wanted("y"))
    assert len(read_table(source, Wanted("y", encode=True)).names) == 5
    source = csv("a,b,y\nx,50%,1\nz,60%,2\n")
    with pytest.raises(
        TableError, match=r"'b' \('50%'.*; 1 column of text: 'a'.*; give --exclude b --encode"
    ):
        read_table(source, Wanted("y"))


@pytest.mark.parametrize(("columns", "named"), [(2, 2), (3, 3), (4, 3), (99, 3)])
def test_a_sentence_names_three_columns_at_most(csv, columns, named):
    names = [f"v{j}" for j in range(columns)]
    header = ",".join([*names, "y"])
    row = ",".join([*(["word"] * columns), "1"])
    with pytest.raises(TableError, match=f"{columns} columns ") as refusal:
        read_table(csv(f"{header}\n{row}\n{row}\n"), Wanted("y"))
    message = str(refusal.value)
    assert [name for name in names if f"{name!r} ('word' in line 2)" in message] == names[:named]
    assert (f" and {columns - named} more" in message) == (named < columns)
    assert "\n" not in message


def test_infinite_is_a_word_among_words(csv, monkeypatch):
    monkeypatch.setattr(text_module, "_BLOCK", 16)
    table = read_table(csv("a,y\n" + "inf,1\n" * 9 + "low,2\n" * 8), Wanted("y", encode=True))
    assert table.names == ("a=low",)


def test_too_many_words_are_refused_with_their_number(csv):
    body = "".join(f"w{i % 51},{i}\n" for i in range(102))
    with pytest.raises(
        TableError, match=r"than the 50 that can be coded: 'town' \(51\).*--exclude"
    ):
        read_table(csv("town,y\n" + body), Wanted("y", encode=True))


def test_a_number_that_turns_to_text_late_is_found(csv, monkeypatch):
    monkeypatch.setattr(text_module, "_BLOCK", 16)
    source = csv("a,y\n" + "1,2\n" * 30 + "1.2.3,4\n" + "1,5\n")
    with pytest.raises(
        TableError, match=r"'a' is a column of numbers but for '1\.2\.3' in line 32"
    ):
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
        (
            {"missing": "ignore"},
            "--missing must be error, drop, drop-most, mean, impute, got 'ignore'",
        ),
    ],
)
def test_wrong_wishes_are_refused(csv, changes, message):
    source = csv("a,height,name,zero,y\n1,2,x,0,4\n-1,3,z,0,5\n")
    with pytest.raises(TableError, match=message) as refusal:
        read_table(source, Wanted(**({"target": "y"} | changes)))
    assert "\n" not in str(refusal.value)


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
    gap = csv("n,day,ok,colour\n,2024-01-02,yes,red\n", "gap.csv")
    with pytest.raises(TableError, match=r"'n' \(1\).*--missing mean"):
        read_new_rows(gap, coding)
    filled = dict(zip(table.names, read_new_rows(gap, coding, missing="mean")[0], strict=True))
    assert filled["n"] == pytest.approx(7 / 3)
    blank = csv("n,day,ok,colour\n1,2024-01-02,yes,\n", "blank.csv")
    with pytest.raises(TableError, match="a blank cell in column 'colour', line 2, did not occur"):
        read_new_rows(blank, coding, missing="mean")


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
    notes = [note for note in table.notes if "identifies the row" in note]
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


REAL = [
    ("prostate.csv", Wanted("lpsa", exclude=("train",)), (97, 8)),
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


@pytest.mark.parametrize(("name", "target"), [("Boston", "medv"), ("UScrime", "y")])
def test_tables_of_r_are_read_as_they_are(csv, name, target):
    names, values = published_table("MASS", name)
    text = "\n".join([",".join(names), *(",".join(map(repr, row)) for row in values.tolist())])
    table = read_table(csv(text + "\n"), Wanted(target))
    kept = [j for j, column in enumerate(names) if column != target]
    assert table.names == tuple(names[j] for j in kept)
    np.testing.assert_array_equal(table.X, values[:, kept])
    np.testing.assert_array_equal(table.y, values[:, names.index(target)])


def test_the_mice_have_words_and_gaps_that_are_named(shared_data):
    source = str(shared_data / "mice_pheno.csv")
    with pytest.raises(
        TableError, match=r"nearly every row.*'SUBJECT\.NAME'.*4 columns of text.*22 variables"
    ):
        read_table(source, Wanted("Obesity.BMI"))
