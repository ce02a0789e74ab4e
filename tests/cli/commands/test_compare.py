"""``garrote compare``: from a file to one page."""

import numpy as np
import pytest


@pytest.fixture
def counted(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = rng.poisson(np.exp(0.6 * X[:, 0]))
    lines = [f"{a},{b},{c},{n},{'xyz'[min(n, 2)]}" for (a, b, c), n in zip(X, y, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c,n,word", *lines]))
    return tmp_path / "t.csv"


def test_numbers_are_compared_on_one_page(run, counted, tmp_path):
    page = tmp_path / "page.html"
    code, out, _ = run(
        "compare", counted, "--target", "n", "--exclude", "word", "--methods", "lasso,single-effects",
        "--cv", "3", "--covariates", "b", "--report", page,
    )  # fmt: skip
    assert code == 0
    assert "single-effects" in out
    assert f"The page is in {page}." in " ".join(out.split())
    text = page.read_text()
    assert "t.csv" in text
    assert "always in" in text


def test_families_and_classes_keep_the_methods_that_have_them(run, counted, tmp_path):
    words = ("--cv", "3", "--report", tmp_path / "p.html")
    code, out, _ = run(
        "compare", counted, "--target", "n", "--exclude", "word", "--family", "poisson", *words
    )
    assert code == 0
    assert "spike-slab" in out
    assert "garrote ..." not in out
    code, out, _ = run("compare", counted, "--target", "word", "--exclude", "n", *words)
    assert code == 0
    assert "accuracy" in out
    assert "spike-slab" not in out
    code, _, err = run(
        "compare", counted, "--target", "word", "--exclude", "n", "--methods", "garrote", *words
    )
    assert code == 1
    assert "--methods lasso alone can take" in err


def test_zero_and_one_are_labels_as_for_select_unless_they_are_said_to_be_numbers(run, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = (X[:, 0] + rng.logistic(size=60) > 0).astype(int)
    table, page = tmp_path / "t.csv", tmp_path / "p.html"
    table.write_text(
        "\n".join(["a,b,y", *(f"{a},{b},{c}" for (a, b), c in zip(X, y, strict=True))])
    )
    given = ("compare", table, "--target", "y", "--methods", "lasso,garrote", "--cv", "3")
    code, out, _ = run(*given, "--report", page)
    assert code == 0
    assert "accuracy" in out
    assert "y is 0 or 1 in every row and was taken for labels" in " ".join(out.split())
    assert "taken for labels" in page.read_text()
    code, out, _ = run(*given, "--report", page, "--family", "gaussian")
    assert code == 0
    assert "squared error" in out
    assert "garrote ..." in out
    assert "taken for labels" not in out


def test_mistakes_are_told_before_any_work(run, counted, tmp_path):
    code, _, err = run("compare", counted, "--target", "n", "--methods", "laso")
    assert code == 2
    assert "lasso" in err
    code, _, err = run("compare", counted, "--target", "n", "--report", counted)
    assert code == 1
    assert "is also the file that is read" in err


def test_select_measures_a_method_without_folds(run, counted, tmp_path):
    code, out, _ = run(
        "select", counted, "--target", "n", "--exclude", "word", "--method", "single-effects",
        "--cv", "3", "--report", tmp_path / "r.html",
    )  # fmt: skip
    assert code == 0
    assert "Held-out log predictive density" in out
    assert "over the lasso" in out
    assert "Fold by fold" in (tmp_path / "r.html").read_text()
