"""Best subsets, searches and pursuits: what the texts state of them comes out again."""

import csv

import numpy as np
import pytest

from garrote.experiments import run_study
from garrote.experiments.subsets.hastie_tibshirani import CELLS, METHODS, true_coefficients
from garrote.experiments.subsets.prostate import KNOWN
from studies import quick_study

pytestmark = pytest.mark.study


def test_both_exact_solvers_forward_and_backward_give_the_nine_sums_of_the_prostate_data():
    numbers = quick_study("murphy-best-subsets").numbers
    np.testing.assert_allclose(numbers["enumerated"], KNOWN, atol=5e-5)
    for name in ("BestSubset", "leaps", "forward", "backward", "splicing"):
        np.testing.assert_allclose(numbers["squares"][name], KNOWN, atol=5e-5)
    assert max(numbers["gaps"]) == 0.0
    assert [len(members) for members in numbers["members"]] == list(range(9))
    assert all(a < b for a, b in zip(numbers["members"], numbers["members"][1:], strict=False))
    # What resembles the residual most is not always what lowers it most.
    worse = numbers["squares"]["OMP"] > numbers["enumerated"] * (1 + 1e-9)
    assert np.flatnonzero(worse).tolist() == [6]


def test_the_lecture_s_pursuits_keep_what_the_text_says_and_are_those_of_garrote():
    numbers = quick_study("lecture-omp").numbers
    for draw in numbers["draws"]:
        assert max(draw.mp.rule, draw.omp.rule, draw.mp.fall, draw.omp.orthogonal) < 1e-12
        assert max(draw.apart.values()) < 1e-12
        assert len(set(draw.omp.chosen)) == len(draw.omp.chosen)
        # A refit lowers the error by at least as much as one coefficient does.
        assert draw.omp.fall > 1e-6
    shares = numbers["shares"]
    assert (shares["best subset"] <= shares["OMP"] + 1e-12).all()
    assert any(len(set(draw.mp.chosen)) < len(draw.mp.chosen) for draw in numbers["draws"])


# --- Hastie, Tibshirani & Tibshirani (2017)


def test_the_published_risks_are_those_on_record_one_cell_for_each_ratio(shared_data):
    with (shared_data / "htt2017_results_summary.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = {
        "Forward stepwise": "forward", "Stepwise": "forward", "Lasso": "lasso",
        "Relaxed lasso": "relaxed lasso", "Best subset": "best subset",
    }  # fmt: skip
    for cell in CELLS:
        given = (cell.rows, cell.columns, cell.beta_type, cell.correlation, cell.snr)
        found = {
            names[row["method"]]: (float(row["rel_risk_mean"]), float(row["rel_risk_se"]))
            for row in rows
            if row["method"] in names
            and tuple(float(row[key]) for key in ("n", "p", "beta_type", "rho", "snr")) == given
        }
        assert cell.published == tuple(found[name] for name in METHODS)
    assert sorted(cell.snr for cell in CELLS) == sorted({float(row["snr"]) for row in rows})
    assert {cell.beta_type for cell in CELLS} == {1, 2, 3, 5}
    assert {cell.correlation for cell in CELLS} == {0.0, 0.35, 0.7}


def test_coefficients_are_of_the_paper_s_types():
    assert np.flatnonzero(true_coefficients(1, 10)).tolist() == [0, 2, 5, 7, 9]
    assert true_coefficients(2, 7).tolist() == [1, 1, 1, 1, 1, 0, 0]
    assert true_coefficients(3, 6).tolist() == [10, 7.625, 5.25, 2.875, 0.5, 0]
    assert true_coefficients(5, 8).tolist() == [1, 1, 1, 1, 1, 0.5, 0.25, 0.125]


def test_two_instances_of_published_settings_lie_near_the_published_means():
    numbers = quick_study("htt-risks").numbers
    for cell, values in numbers["risks"].items():
        means = [mean for mean, _ in cell.published]
        np.testing.assert_allclose(values.mean(axis=0), means, atol=0.1, rtol=1.0)


@pytest.mark.slow
def test_nine_of_ten_published_settings_agree_to_two_standard_errors():
    hits = run_study("htt-risks").numbers["hits"]
    assert min(hits.values()) >= 9
