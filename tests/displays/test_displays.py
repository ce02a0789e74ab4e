"""Displays show what the results say: curves, labels and marks, in any layout and with any names."""

import sys
from dataclasses import replace
from itertools import combinations, cycle

import hypothesis.strategies as st
import matplotlib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from matplotlib.colors import to_hex
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Lasso
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from garrote import SparseRegressor, SpikeSlabRegressor, VariationalGarrote
from garrote.datasets import load_diabetes_quadratic, make_sparse_regression
from garrote.displays import (
    CVCurveDisplay,
    HysteresisDisplay,
    InclusionDisplay,
    ModelsDisplay,
    PathDisplay,
    PhaseDisplay,
    ShrinkageDisplay,
)
from garrote.displays.names import push_apart, shorten, shorten_all
from garrote.displays.palette import BLUE, DISTINCT_CURVES, GREY, VERMILION, curve_style
from garrote.displays.strength_axis import RootLocator
from garrote.orthogonal import (
    critical_point,
    even_odds_line,
    transition_lines,
    variational_garrote_curve,
)
from garrote.paths import Anneal, FollowPath
from garrote.priors import GaussianSlab
from pairwise import by_pairs

FROM_SELECTION = [PathDisplay, InclusionDisplay, CVCurveDisplay, HysteresisDisplay]
HOSTILE = ["$x_1$", "a_b^2\\frac{", "<b>&</b>", "two\nlines\x00", "long " * 2000, "", "$", "%s{}"]


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def diabetes():
    X, y, names = load_diabetes_quadratic()
    response = pd.Series(y, name="progression")
    model = VariationalGarrote(cv=KFold(5), correct=False)
    return model.fit(pd.DataFrame(X, columns=list(names)), response)


@pytest.fixture(scope="module")
def wide():
    data = make_sparse_regression(80, 10_000, 5, snr=8, random_state=0)
    return VariationalGarrote(gamma=-10.0, method=Anneal(gammas=20)).fit(data.X, data.y)


@pytest.fixture(scope="module")
def hostile():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, len(HOSTILE)))
    y = pd.Series(X @ np.arange(1.0, 9.0) + rng.standard_normal(60), name="cost_$ " * 40)
    return VariationalGarrote().fit(pd.DataFrame(X, columns=HOSTILE), y)


def boxes(texts):
    """Return the boxes of the texts that are shown, after drawing."""
    texts[0].figure.canvas.draw()
    return [text.get_window_extent() for text in texts if text.get_visible()]


def overlapping(texts):
    # Neighbours may share an edge; pixels are rounded.
    return [
        (a, b)
        for a, b in combinations(boxes(texts), 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 0.5 and min(a.y1, b.y1) - max(a.y0, b.y0) > 0.5
    ]


def texts_of(axes):
    return [text.get_text() for text in axes.texts]


# Labels and colours.


@given(
    wanted=st.lists(st.floats(-100, 400), min_size=1, max_size=30),
    gap=st.floats(0.1, 30),
    high=st.floats(1, 300),
)
def test_labels_are_pushed_apart_within_bounds_and_in_order(wanted, gap, high):
    placed = push_apart(np.array(wanted), gap, 0.0, high)
    assert placed.min() >= -1e-9
    assert placed.max() <= high + 1e-9
    kept = min(gap, high / max(1, len(wanted) - 1))
    assert np.all(np.diff(np.sort(placed)) >= kept - 1e-9)
    rising = np.argsort(wanted, kind="stable")
    ranks = np.array(wanted)[rising]
    apart = np.diff(ranks) > 0
    assert np.all(np.diff(placed[rising])[apart] > 0)


def test_labels_with_room_stay_and_equal_ones_share_the_displacement():
    np.testing.assert_allclose(push_apart(np.array([5.0, 1.0, 9.0]), 2, 0, 10), [5, 1, 9])
    np.testing.assert_allclose(push_apart(np.array([5.0, 5.0, 5.0]), 2, 0, 10), [7, 5, 3])
    assert push_apart(np.array([]), 2, 0, 10).size == 0


def test_names_are_short_on_one_line_and_never_empty():
    assert shorten("bmi") == "bmi"
    assert shorten("two\nlines") == "two lines"
    assert shorten(" \x00") == "(no name)"
    assert shorten("x" * 10_000 + "end").endswith("xend")
    assert len(shorten("x" * 10_000)) == 22


def test_long_names_that_differ_in_the_middle_are_told_apart():
    names = [f"the_expression_of_gene_number_{k:05d}_in_the_liver" for k in range(5)] + ["bmi"]
    assert len({shorten(name) for name in names[:5]}) == 1
    short = shorten_all(names)
    assert len(set(short)) == 6
    assert max(map(len, short)) <= 22
    assert short[-1] == "bmi"
    assert shorten_all(["same " * 20] * 2) == [shorten("same " * 20)] * 2


def test_curve_styles_are_distinct():
    styles = [tuple(curve_style(k).values()) for k in range(DISTINCT_CURVES)]
    assert len(set(styles)) == DISTINCT_CURVES
    assert len({curve_style(k)["color"] for k in range(6)}) == 6


@pytest.mark.parametrize(
    ("low", "high"), [(-83, -1.6), (-20.4, -7.6), (-4, -2), (-1e4, 30), (-0.02, 0.01), (-3, -3)]
)
def test_ticks_of_gamma_are_round_ascending_and_inside(low, high):
    ticks = RootLocator().tick_values(low, high)
    assert len(ticks) >= (4 if high > low else 1)
    assert len(ticks) <= 10
    assert np.all(np.diff(ticks) > 0)
    assert ticks[0] >= low - 1e-9
    assert ticks[-1] <= high + 1e-9
    digits = [f"{tick:.9f}".strip("-0.").replace(".", "").strip("0") for tick in ticks]
    assert max(map(len, digits)) <= 2


# What all displays have in common.


@pytest.mark.parametrize("display", FROM_SELECTION)
def test_unfitted_estimators_are_refused(display):
    with pytest.raises(NotFittedError):
        display.from_estimator(VariationalGarrote())


@pytest.mark.parametrize("display", FROM_SELECTION)
def test_estimators_without_a_selection_are_refused_by_name(display):
    lasso = Lasso().fit(np.eye(3), np.arange(3.0))
    with pytest.raises(TypeError, match="Lasso has no selection_"):
        display.from_estimator(lasso)


@pytest.mark.parametrize("display", FROM_SELECTION)
def test_displays_draw_on_the_axes_given_and_return_themselves(display, diabetes):
    figure, axes = plt.subplots(1, 2)
    drawn = display.from_estimator(diabetes, ax=axes[1], name="a_$title$_")
    assert isinstance(drawn, display)
    assert drawn.ax_ is axes[1]
    assert drawn.figure_ is figure
    assert "a_$title$_" in (axes[1].get_title(), axes[1].get_title(loc="left"))
    assert not axes[0].has_data()
    assert plt.get_fignums() == [figure.number]
    assert drawn.plot(name="").ax_.get_title() == ""


@pytest.mark.parametrize("display", [PathDisplay, InclusionDisplay, CVCurveDisplay])
def test_a_selection_is_enough(display, diabetes):
    from_selection = display.from_selection(diabetes.selection_)
    from_estimator = display.from_estimator(diabetes)
    assert texts_of(from_selection.ax_) == texts_of(from_estimator.ax_)


@pytest.mark.parametrize("display", [PathDisplay, CVCurveDisplay, HysteresisDisplay])
def test_a_method_without_a_path_is_told(display, diabetes):
    with pytest.raises(ValueError, match="without a path"):
        display.from_selection(replace(diabetes.selection_, path=None))


@pytest.mark.parametrize("display", FROM_SELECTION)
def test_axes_that_are_none_are_refused(display, diabetes):
    with pytest.raises(TypeError, match="ax must be matplotlib Axes, got str"):
        display.from_estimator(diabetes, ax="here")
    with pytest.raises(ValueError, match="got 3"):
        display.from_estimator(diabetes, ax=plt.subplots(3)[1])


@pytest.mark.parametrize(
    "draw", [*(d.from_estimator for d in FROM_SELECTION), "phase", "shrinkage"]
)
def test_missing_matplotlib_is_named_with_its_remedy(draw, diabetes, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    theory = {"phase": PhaseDisplay.from_theory, "shrinkage": ShrinkageDisplay.from_theory}
    with pytest.raises(ImportError, match=r'pip install "garrote\[plot\]"'):
        theory[draw]() if isinstance(draw, str) else draw(diabetes)


def test_settings_of_matplotlib_are_left_alone_and_nothing_is_shown(diabetes, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda *_: pytest.fail("shown"))
    before = dict(matplotlib.rcParams)
    for display in FROM_SELECTION:
        display.from_estimator(diabetes)
    PhaseDisplay.from_theory()
    ShrinkageDisplay.from_theory()
    assert dict(matplotlib.rcParams) == before


def test_an_estimator_at_the_end_of_a_pipeline_is_found():
    data = make_sparse_regression(50, 10, 2, random_state=0)
    model = make_pipeline(StandardScaler(), VariationalGarrote()).fit(data.X, data.y)
    display = PathDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.strengths, model[-1].path_.strengths)


# Every display in one style, and the one that writes most names in all of them.
STYLES = [("default", "constrained"), ("dark_background", "tight"), ("ggplot", None)]
DRAWN = [(display, *style) for display, style in zip(FROM_SELECTION, cycle(STYLES), strict=False)]
DRAWN += [(PathDisplay, *style) for style in STYLES if (PathDisplay, *style) not in DRAWN]


@pytest.mark.parametrize(("display", "style", "layout"), DRAWN)
def test_hostile_names_are_drawn_literally_in_any_style_and_layout(
    display, style, layout, hostile, tmp_path
):
    with plt.style.context(style):
        figure, axes = plt.subplots(2, 2, figsize=(12, 9), layout=layout)
        drawn = display.from_estimator(hostile, ax=axes[0, 1])
        figure.savefig(tmp_path / "figure.png")
        figure.savefig(tmp_path / "figure.svg", bbox_inches="tight")
    shown = [text for text in drawn.ax_.findobj(matplotlib.text.Text) if text.get_text()]
    named = [text for text in shown if text.get_text() in {"$x_1$", "a_b^2\\frac{", "$"}]
    assert all(not text.get_parse_math() for text in named)
    assert bool(named) == (display in (PathDisplay, InclusionDisplay))
    assert all(len(text.get_text()) < 120 for text in shown)


# The path.


@pytest.mark.parametrize("kind", ["probability", "effect"])
def test_path_curves_equal_the_results(kind, diabetes):
    display = PathDisplay.from_estimator(diabetes, kind=kind)
    table = {
        "probability": diabetes.path_.inclusion_probability,
        "effect": diabetes.path_.coefficients,
    }[kind]().toarray()
    columns = diabetes.selection_.path.columns
    assert len(display.lines_) == len(columns)
    for line, j in zip(display.lines_, columns, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), diabetes.path_.strengths)
        np.testing.assert_allclose(line.get_ydata(), table[:, j])


def test_path_colours_and_names_the_selected_alone(diabetes):
    display = PathDisplay.from_estimator(diabetes)
    coloured = [line for line in display.lines_ if to_hex(line.get_color()).upper() != GREY]
    selected = set(diabetes.selection_.table().columns["variable"])
    assert {line.get_label() for line in coloured} == selected
    assert {text.get_text() for text in display.labels_} == selected
    styles = {(line.get_color(), line.get_linestyle()) for line in coloured}
    assert len(styles) == len(coloured)
    for text, line in zip(display.labels_, coloured, strict=True):
        assert text.get_text() == line.get_label()
        assert text.get_color() == line.get_color()


def test_path_marks_the_chosen_gamma_and_labels_its_axes(diabetes):
    display = PathDisplay.from_estimator(diabetes, kind="effect")
    assert set(display.chosen_line_.get_xdata()) == {diabetes.gamma_}
    assert display.chosen_label_.get_text() == "chosen: −3.58"
    assert display.ax_.get_xlabel() == "prior log odds of inclusion, gamma"
    assert display.ax_.get_ylabel() == "effect on progression\nper unit of the variable"
    assert display.ax_.get_xlim() == (diabetes.path_.strengths[0], diabetes.path_.strengths[-1])
    assert PathDisplay.from_estimator(diabetes).ax_.get_ylabel() == (
        "variational inclusion probability"
    )


def test_upper_axis_tells_the_expected_size_at_the_same_place(diabetes):
    display = PathDisplay.from_estimator(diabetes)
    display.figure_.canvas.draw()
    above, below = display.size_axis_, display.ax_
    for gamma in (-60.0, -10.0, -2.0):
        here = below.transData.transform((gamma, 0))[0]
        assert above.transData.transform((gamma, 0))[0] == pytest.approx(here)
    expected = np.interp(-10.0, diabetes.path_.strengths, diabetes.path_.expected_size)
    assert above.xaxis.get_major_formatter()(-10.0, 0) == f"{expected:.1f}"
    assert above.xaxis.get_major_formatter()(-1000.0, 0) == ""


@by_pairs(size=[(7, 5), (4, 3), (12, 2)], dpi=[60, 200], kind=["probability", "effect"])
def test_names_at_the_curves_do_not_overlap_and_are_not_cut_off(size, dpi, kind, diabetes):
    figure, axes = plt.subplots(figsize=size, dpi=dpi, layout="constrained")
    display = PathDisplay.from_estimator(diabetes, kind=kind, ax=axes)
    assert not overlapping(display.labels_)
    whole = figure.bbox
    for box in boxes(display.labels_):
        assert box.x0 > axes.get_window_extent().x1
        assert box.x1 <= whole.x1
        assert whole.y0 <= box.y0 < box.y1 <= whole.y1
    assert not overlapping([*display.labels_, display.chosen_label_])


def test_names_without_room_are_left_out_from_the_least_important_on(diabetes):
    _, axes = plt.subplots(figsize=(6, 1.2))
    display = PathDisplay.from_estimator(diabetes, ax=axes)
    shown = len(boxes(display.labels_))
    assert 0 < shown < 7
    assert [text.get_visible() for text in display.labels_] == [k < shown for k in range(7)]


def test_names_stay_apart_after_the_limits_change(diabetes):
    display = PathDisplay.from_estimator(diabetes, kind="effect")
    display.ax_.set_ylim(-200, 200)
    assert not overlapping(display.labels_)
    assert not overlapping(PathDisplay.from_estimator(diabetes).labels_)


def test_path_of_ten_thousand_variables_draws_those_worth_a_line(wide):
    display = PathDisplay.from_estimator(wide)
    assert len(display.lines_) <= 40
    assert {text.get_text() for text in display.labels_} == set(
        wide.selection_.table().columns["variable"]
    )


def test_path_without_selected_variables_names_those_that_come_next():
    rng = np.random.default_rng(0)
    model = VariationalGarrote().fit(rng.standard_normal((80, 20)), rng.standard_normal(80))
    assert model.selection_.n_selected == 0
    display = PathDisplay.from_estimator(model)
    assert len(display.labels_) == 5
    assert "no variable is selected at the chosen gamma" in texts_of(display.ax_)
    bars = InclusionDisplay.from_estimator(model)
    assert "no variable is selected" in texts_of(bars.ax_)
    assert len(bars.bars_) == 3


def test_path_names_at_most_as_many_as_asked(diabetes):
    assert len(PathDisplay.from_estimator(diabetes, max_named=2).labels_) == 2
    assert PathDisplay.from_estimator(diabetes, max_named=0).labels_ == []


def test_path_of_unknown_kind_is_refused(diabetes):
    with pytest.raises(ValueError, match="kind must be 'probability' or 'effect', got 'odds'"):
        PathDisplay.from_estimator(diabetes, kind="odds")


def test_a_path_of_one_gamma_and_a_table_of_one_variable_are_drawn():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((50, 1))
    model = VariationalGarrote(gamma=-3.0, method=Anneal(gammas=[-3.0])).fit(
        x, x[:, 0] + rng.standard_normal(50)
    )
    display = PathDisplay.from_estimator(model)
    low, high = display.ax_.get_xlim()
    assert low < -3 < high
    assert display.lines_[0].get_marker() == "o"
    for other in (InclusionDisplay, HysteresisDisplay):
        other.from_estimator(model).figure_.canvas.draw()
    assert len(InclusionDisplay.from_estimator(model).bars_) == 1


def test_a_falling_strength_of_another_name_is_drawn_from_sparse_to_dense(diabetes):
    path = diabetes.selection_.path
    penalties = np.geomspace(10.0, 0.01, len(path.strengths))
    other = replace(path, strength="alpha", strengths=penalties)
    display = PathDisplay.from_selection(replace(diabetes.selection_, path=other))
    assert display.ax_.get_xlabel() == "strength of the penalty, alpha"
    assert display.size_axis_.get_xlabel() == "number of coefficients that are not 0"
    assert display.ax_.get_xscale() == display.size_axis_.get_xscale() == "log"
    assert display.ax_.get_xlim() == (10.0, 0.01)
    assert "no variable" not in "".join(texts_of(display.ax_))
    assert display.size_axis_.xaxis.get_major_formatter()(penalties[-1], 0) == "20"
    display.figure_.canvas.draw()
    here = display.ax_.transData.transform((1.0, 0))[0]
    assert display.size_axis_.transData.transform((1.0, 0))[0] == pytest.approx(here)
    assert not overlapping(display.labels_)


def test_a_penalised_model_is_drawn_without_talk_of_probabilities():
    X, y, names = load_diabetes_quadratic()
    model = SparseRegressor(method=FollowPath(alphas=20)).fit(X, y, feature_names=names)
    path = PathDisplay.from_estimator(model)
    assert path.ax_.get_ylabel().startswith("effect on y")
    bars = InclusionDisplay.from_estimator(model)
    assert not hasattr(bars, "threshold_line_")
    assert "interval" not in "".join(texts_of(bars.axes_[1]))
    assert PathDisplay.from_estimator(model, kind="probability").ax_.get_ylabel() == "in the model"


# Probabilities and effects.


def test_inclusion_bars_equal_the_ranked_table(diabetes):
    display = InclusionDisplay.from_estimator(diabetes)
    table = diabetes.selection_.table(all_variables=True).columns
    count = len(display.bars_)
    assert [bar.get_width() for bar in display.bars_] == table["probability"][:count]
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == table["variable"][:count]
    assert list(display.threshold_line_.get_xdata()) == [0.5, 0.5]
    np.testing.assert_array_equal(display.points_.get_offsets()[:, 0], table["effect"][:count])
    ends = np.array(display.intervals_.get_segments())[:, :, 0]
    np.testing.assert_array_equal(ends[:, 0], table["lower 95%"][:count])
    np.testing.assert_array_equal(ends[:, 1], table["upper 95%"][:count])
    assert display.axes_[1].get_xlabel() == "effect on progression per unit of the variable"


def test_inclusion_shows_all_selected_and_some_runners_up(diabetes, wide):
    for model in (diabetes, wide):
        display = InclusionDisplay.from_estimator(model)
        colours = [to_hex(bar.get_facecolor()).upper() for bar in display.bars_]
        selected = model.selection_.n_selected
        assert all(colour != GREY for colour in colours[:selected])
        assert len(colours) >= selected + 3
        assert all(colour == GREY for colour in colours[selected:])
    assert f"{10_000 - len(display.bars_):,} more" in display.ax_.get_xlabel()
    assert len(InclusionDisplay.from_estimator(diabetes, max_shown=4).bars_) == 4
    with pytest.raises(ValueError, match="max_shown must be at least 1, got 0"):
        InclusionDisplay.from_estimator(diabetes, max_shown=0)


def test_inclusion_states_effects_in_numbers_beside_a_single_axes(diabetes):
    _, axes = plt.subplots(layout="constrained")
    display = InclusionDisplay.from_estimator(diabetes, ax=axes)
    assert display.axes_ == [axes]
    assert display.texts_[0].get_text() == "24.9 [18.9, 31.0]"
    assert display.texts_[3].get_text() == "−13.1 [−19.2, −6.9]"
    assert not overlapping([*display.texts_, *axes.get_yticklabels()])


def test_covariates_are_said_to_be_always_in():
    data = make_sparse_regression(60, 8, 3, random_state=1)
    model = VariationalGarrote(covariates=[2]).fit(data.X, data.y)
    display = InclusionDisplay.from_estimator(model)
    assert texts_of(display.ax_).count("always in") == 1
    row = display.names.index("x2")
    assert display.bars_[row].get_alpha() == 0.35


# The validation.


def test_cv_curve_equals_the_results(diabetes):
    display, found = CVCurveDisplay.from_estimator(diabetes), diabetes.cv_results_
    np.testing.assert_array_equal(display.line_.get_xdata(), found["gamma"])
    np.testing.assert_allclose(display.line_.get_ydata(), found["mean_error"])
    edge = display.band_.get_paths()[0].vertices
    for sign in (-1, 1):
        error = found["mean_error"] + sign * found["standard_error"]
        assert np.abs(edge[:, 1][:, None] - error).min(axis=0).max() < 1e-6
    assert set(display.null_line_.get_ydata()) == {found["null_error"]}
    best = int(np.argmin(found["mean_error"]))
    limit = found["mean_error"][best] + found["standard_error"][best]
    assert set(display.limit_line_.get_ydata()) == {limit}
    assert display.least_point_.get_xdata()[0] == found["gamma"][best]
    assert display.chosen_point_.get_xdata()[0] == diabetes.gamma_
    assert display.ax_.get_ylabel() == ("held-out squared error of progression,\nmean over 5 folds")


def test_cv_curve_explains_every_mark_in_its_legend(diabetes):
    display = CVCurveDisplay.from_estimator(diabetes)
    said = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "null model: no variable" in said
    assert "± one standard error" in said
    assert "least: −2.47" in said
    assert "chosen, rule '1se'" in said


def test_cv_curve_without_cross_validation_says_what_to_set(wide):
    with pytest.raises(ValueError, match='set gamma="cv" and fit again'):
        CVCurveDisplay.from_estimator(wide)


def test_cv_curve_breaks_off_where_no_fold_got(diabetes):
    mean = diabetes.selection_.validation.mean.copy()
    mean[-5:] = np.nan
    validation = replace(diabetes.selection_.validation, mean=mean)
    display = CVCurveDisplay.from_selection(replace(diabetes.selection_, validation=validation))
    assert np.isnan(display.line_.get_ydata()[-5:]).all()
    assert display.least == int(np.nanargmin(mean))


# Hysteresis.


def test_hysteresis_shows_the_difference_and_both_sizes(diabetes):
    display, path = HysteresisDisplay.from_estimator(diabetes), diabetes.path_
    forward, backward = (
        np.array([(fit.free_energy, fit.expected_size) for fit in branch]).T
        for branch in (path.forward, path.backward)
    )
    np.testing.assert_allclose(display.line_.get_ydata(), backward[0] - forward[0])
    np.testing.assert_array_equal(display.lines_["forward"].get_ydata(), forward[1])
    np.testing.assert_array_equal(display.lines_["backward"].get_ydata(), backward[1])
    looks = {(to_hex(line.get_color()), line.get_linestyle()) for line in display.lines_.values()}
    assert len(looks) == 2


def test_hysteresis_shades_exactly_where_the_branches_differ(diabetes):
    display = HysteresisDisplay.from_estimator(diabetes)
    x = diabetes.path_.strengths
    inside = np.zeros(len(x), dtype=bool)
    for low, high in display.ranges_:
        inside |= (low <= x) & (x <= high)
    np.testing.assert_array_equal(inside, np.abs(display.difference) > 1e-3)
    low, high = diabetes.path_.hysteresis
    assert x[inside].min() == low
    assert x[inside].max() == high
    assert len(display.ranges_) > 1, "the ranges apart are not drawn as one"


def test_hysteresis_of_a_selection_has_the_difference_alone(diabetes):
    display = HysteresisDisplay.from_selection(diabetes.selection_)
    assert len(display.axes_) == 1
    np.testing.assert_array_equal(
        display.line_.get_ydata(), HysteresisDisplay.from_estimator(diabetes).line_.get_ydata()
    )


def test_hysteresis_that_is_not_there_is_said_in_a_sentence():
    x = np.linspace(-9, -1, 5)
    display = HysteresisDisplay(strengths=x, energies={"forward": x, "backward": x}).plot()
    assert "forward and backward branches agree everywhere" in texts_of(display.ax_)
    assert display.ranges_ == []


def test_hysteresis_of_a_path_with_one_branch_is_refused(diabetes):
    selection = diabetes.selection_
    with pytest.raises(ValueError, match="has one branch only"):
        HysteresisDisplay.from_selection(
            replace(selection, path=replace(selection.path, energies={}))
        )


# Theory.


@pytest.mark.parametrize(("n_samples", "explained"), [(100, 0.0), (8, 0.3), (1e5, 0.0)])
def test_phase_lines_equal_the_theory(n_samples, explained):
    display = PhaseDisplay.from_theory(n_samples, explained=explained)
    rho, sparse_end = display.sparse_end_line_.get_data()
    _, dense_end = display.dense_end_line_.get_data()
    expected = transition_lines(rho, n_samples, explained)
    np.testing.assert_array_equal(sparse_end, expected[0])
    np.testing.assert_array_equal(dense_end, expected[1])
    point = critical_point(n_samples, explained)
    np.testing.assert_array_equal(np.ravel(display.critical_point_.get_data()), point)
    smooth, gamma = display.even_line_.get_data()
    np.testing.assert_array_equal(gamma, even_odds_line(smooth, n_samples, explained))
    # The smooth transition ends about where the two lines begin.
    assert gamma[-1] == pytest.approx(point[1], rel=0.05)
    low, high = display.ax_.get_ylim()
    assert low < point[1] < high
    assert not overlapping(display.texts_)


def test_phase_insets_show_the_solutions_of_lowest_free_energy():
    display = PhaseDisplay.from_theory(100, gammas=(-10, -40))
    assert [inset.get_title() for inset in display.insets_] == [
        "m over rho at gamma = −10",
        "m over rho at gamma = −40",
    ]
    assert np.isnan(display.sections[-10].sparse).all()
    two = np.isfinite(display.sections[-40].sparse)
    assert two.any()
    jump = np.abs(np.diff(display.sections[-40].best)).argmax()
    assert two[jump]
    with pytest.raises(ValueError, match="at most 2, got 3"):
        PhaseDisplay.from_theory(gammas=(-1, -2, -3))


def test_shrinkage_curves_equal_the_theory_and_are_named_at_their_ends():
    display = ShrinkageDisplay.from_theory(lasso=0.3, gamma=-5.0)
    w = display.identity_line_.get_xdata()
    np.testing.assert_allclose(display.lines_["lasso"].get_ydata(), np.maximum(w - 0.3, 0))
    assert [text.get_text() for text in display.labels_] == [
        "ridge",
        "lasso",
        "garrote",
        "VG",
        "least squares",
    ]
    assert not overlapping(display.labels_)
    looks = {to_hex(line.get_color()) for line in display.lines_.values()}
    assert len(looks) == 4


def test_the_phase_plot_of_a_model_has_its_rows_and_its_gamma(diabetes):
    display = PhaseDisplay.from_estimator(diabetes)
    assert display.n_samples == 442
    assert display.critical == critical_point(442)
    np.testing.assert_array_equal(display.chosen_line_.get_ydata(), [diabetes.gamma_] * 2)
    low, high = display.ax_.get_ylim()
    assert low < diabetes.gamma_ < high
    assert any("chosen gamma" in t.get_text() for t in display.ax_.get_legend().get_texts())
    assert PhaseDisplay.from_theory().chosen_line_ is None


def test_the_shrinkage_of_a_model_has_its_rows_and_its_gamma(diabetes):
    display = ShrinkageDisplay.from_estimator(diabetes)
    w, estimate = display.lines_["VG"].get_data()
    expected = variational_garrote_curve(w, diabetes.gamma_, 442)
    np.testing.assert_array_equal(estimate, expected)
    # All three thresholds are near each other, and in the picture.
    for method in ("VG", "lasso", "garrote"):
        shrunk = display.lines_[method].get_ydata() < 0.25 * w
        assert 0.2 < shrunk[1:].mean() < 0.4
    given = ShrinkageDisplay.from_estimator(diabetes, [0.0, 1.0], lasso=0.4)
    np.testing.assert_allclose(given.lines_["lasso"].get_ydata(), [0.0, 0.6])


@pytest.mark.parametrize("gamma", [3.0, -1e5])
def test_pictures_of_theory_stand_any_gamma(gamma):
    data = make_sparse_regression(40, 5, 2, random_state=0)
    model = VariationalGarrote(gamma=gamma, method=Anneal(gammas=[gamma])).fit(data.X, data.y)
    assert PhaseDisplay.from_estimator(model).chosen_line_ is not None
    assert np.isfinite(ShrinkageDisplay.from_estimator(model).lines_["VG"].get_ydata()).all()


@pytest.mark.parametrize("display", [PhaseDisplay, ShrinkageDisplay])
def test_pictures_of_gamma_refuse_estimators_that_have_none(display):
    data = make_sparse_regression(40, 5, 2, random_state=0)
    with pytest.raises(TypeError, match="SpikeSlabRegressor has no gamma"):
        display.from_estimator(SpikeSlabRegressor().fit(data.X, data.y))
    with pytest.raises(NotFittedError):
        display.from_estimator(VariationalGarrote())


# Models.


@pytest.fixture(scope="module")
def averaged():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, len(HOSTILE)))
    y = X @ [2.0, -2.0, 0.3, -0.3, 0.2, 0.0, 0.0, 0.0] + rng.standard_normal(60)
    return SpikeSlabRegressor(covariates=[7]).fit(pd.DataFrame(X, columns=HOSTILE), y)


def test_columns_of_models_are_as_wide_as_they_are_probable(averaged):
    display = ModelsDisplay.from_estimator(averaged, max_models=3)
    found = averaged.posterior_.law.models
    boxes = {tuple(np.round(path.get_extents().bounds, 6)) for path in display.cells_.get_paths()}
    starts = np.cumsum(found.probability[:3]) - found.probability[:3]
    assert {x for x, *_ in boxes} == set(np.round(starts, 6))
    for x, _, width, height in boxes:
        k = int(np.argmin(np.abs(starts - x)))
        assert width == pytest.approx(found.probability[k], rel=0.1)
        assert height == pytest.approx(0.8)
    np.testing.assert_allclose(display.ax_.get_xlim(), [0, found.probability[:3].sum()])
    # Every variable of a model but the covariate has its cell.
    assert len(boxes) == sum(len(members) - 1 for members in found.members[:3])
    assert HOSTILE[7] not in display.names


def test_cells_of_models_are_coloured_by_the_sign_of_the_effect(averaged):
    display = ModelsDisplay.from_estimator(averaged, max_models=1)
    colours = [to_hex(colour).upper() for colour in display.cells_.get_facecolor()]
    rows = np.flatnonzero(~np.isnan(display.effect[0]))
    signs = np.sign(display.effect[0, rows])
    assert colours == [BLUE if sign > 0 else VERMILION for sign in signs]
    assert set(signs) == {-1.0, 1.0}
    assert [text.get_text() for text in display.texts_][:2] == ["> 0.99", "> 0.99"]


def test_models_are_drawn_on_the_axes_given_with_names_taken_literally(averaged, tmp_path):
    figure, axes = plt.subplots(1, 2, figsize=(12, 4))
    drawn = ModelsDisplay.from_selection(averaged.selection_, ax=axes[1], name="a_$title$_")
    figure.savefig(tmp_path / "figure.svg", bbox_inches="tight")
    assert drawn.ax_ is axes[1]
    assert axes[1].get_title(loc="left") == "a_$title$_"
    assert all(not label.get_parse_math() for label in axes[1].get_yticklabels())
    assert not axes[0].has_data()


def test_models_that_are_cut_say_so_and_empty_ones_too(averaged):
    display = ModelsDisplay.from_estimator(averaged, max_shown=2)
    assert "more variables in some of them" in display.ax_.get_xlabel()
    assert len(display.texts_) == 2
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((50, 3)), rng.standard_normal(50)
    empty = SpikeSlabRegressor(GaussianSlab(100.0), inclusion=1e-9).fit(X, y)
    assert "no variable" in texts_of(ModelsDisplay.from_estimator(empty, max_models=1).ax_)[-1]


def test_methods_without_models_and_senseless_limits_are_refused(averaged, diabetes):
    with pytest.raises(ValueError, match="without models to show"):
        ModelsDisplay.from_estimator(diabetes)
    with pytest.raises(ValueError, match="max_models must be at least 1, got 0"):
        ModelsDisplay.from_estimator(averaged, max_models=0)
