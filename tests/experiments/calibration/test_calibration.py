"""Studies of calibration: what their scores say, and which laws of data they go through."""

from itertools import combinations, product

import numpy as np
import pytest

from garrote import SpikeSlabRegressor
from garrote.datasets import make_sparse_regression
from garrote.experiments import StudySettings, run_study
from garrote.experiments.calibration.bins import DEFAULT, GROUPS, Calibration, best_inclusion
from garrote.experiments.calibration.grid import DESIGNS, PRIORS, Cell, Scores, make_cells, score

pytestmark = pytest.mark.study


# --- in ten bins


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


# --- over laws of data


def test_every_two_values_of_the_laws_meet_once():
    cells = [cell for cell in make_cells(list(DESIGNS)) if cell.count]
    assert len(cells) == 16
    values = [(cell.design, cell.count, cell.sizes, cell.ratio) for cell in cells]
    for first, second in combinations(range(4), 2):
        met = {(value[first], value[second]) for value in values}
        assert len(met) == 16, (first, second)
    assert [cell.count for cell in make_cells(list(DESIGNS))[:4]] == [0] * 4


@pytest.mark.parametrize("design", ["independent", "AR(.9)", "equicorrelated .7"])
def test_tables_have_the_signal_that_their_law_says(design):
    cell = Cell(design, 50, "decaying", 4.0)
    X, y, true = cell.draw(np.random.default_rng(0))
    assert X.shape == cell.shape == (300, 200)
    assert true.sum() == 50
    left = y - X[:, true] @ np.linalg.lstsq(X[:, true], y)[0]
    assert left @ left / (300 - 50) == pytest.approx(1.0, abs=0.3)
    assert y.var() == pytest.approx(5.0, rel=0.25)


def test_scores_are_those_computed_by_hand():
    stated, true = np.array([0.9, 0.6, 0.2, 0.05]), np.array([True, False, True, False])
    f1, loss, surplus, variance = score(stated, true)
    assert f1 == pytest.approx(2 * 1 / (2 + 2))
    assert loss == pytest.approx(-np.log(0.9 * 0.4 * 0.2 * 0.95))
    assert surplus == pytest.approx(2 - 1.7)  # the last one does not count
    assert variance == pytest.approx(0.09 + 0.24 + 0.16)
    assert score(np.zeros(3), np.zeros(3, bool))[0] == 1.0
    many = Scores(*(np.array([value, value]) for value in (f1, loss, surplus, variance)))
    assert many.z == pytest.approx(2 * 0.3 / np.sqrt(2 * 0.49))


def test_probabilities_that_are_the_truths_own_have_small_z():
    rng = np.random.default_rng(1)
    stated = rng.uniform(size=(200, 50))
    each = np.array([score(p, rng.uniform(size=50) < p) for p in stated])
    assert abs(Scores(*each.T).z) < 3
    boastful = np.array([score(p, rng.uniform(size=50) < p - 0.1) for p in stated])
    assert Scores(*boastful.T).z < -5


def test_the_grid_without_genotypes_says_what_is_left_out(monkeypatch):
    monkeypatch.delenv("GARROTE_DATA")
    monkeypatch.delitem(PRIORS, "shapes averaged")
    report = run_study("calibration-grid", StudySettings(quick=True))
    assert "genotypes are left out: mice_genotypes.npz is needed" in " ".join(str(report).split())
    assert {cell.design for cell, _ in report.numbers} <= set(DESIGNS) - {"genotypes"}
    for cell, name in product({cell for cell, _ in report.numbers}, PRIORS):
        assert report.numbers[cell, name].f1.shape == (1,)
    assert max(map(len, str(report).splitlines())) <= 100
    assert report.draw() is not None
