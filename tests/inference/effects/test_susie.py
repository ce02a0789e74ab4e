"""Fine mapping of real genotypes, beside what R's susieR finds on the same data (tests/data/susie.R)."""

import json
from pathlib import Path

import numpy as np
import pytest

from garrote import Problem, SingleEffectsRegressor
from garrote.inference import Beliefs, infer
from garrote.inference.effects.single_effects import make_task
from garrote.priors import SingleEffects
from garrote.solvers.effects.single_effects import fit_single_effects
from published_data import load

SUSIE = json.loads((Path(__file__).parents[2] / "data" / "susie.json").read_text())
# Which table and trait, and our words for susieR's settings.
STUDIES = {
    "N3 trait 1": ("N3finemapping.npz", 0, {}),
    "N3 trait 2": ("N3finemapping.npz", 1, {}),
    "N2 trait 1": ("N2finemapping.npz", 0, {}),
    "N2 trait 2": ("N2finemapping.npz", 1, {}),
    "N3 trait 1, variance 0.2": ("N3finemapping.npz", 0, {"variance": 0.2}),
    "N3 trait 1, noise 6": ("N3finemapping.npz", 0, {"noise_variance": 6.0}),
}


def solved(problem, **settings):
    """Return the fit under susieR's conventions: no refining, and all rows count."""
    prior = SingleEffects(10, tol=1e-7, refine=False, **settings)
    task = make_task(problem, Beliefs.about(problem, prior))
    return fit_single_effects(task.__class__(**{**vars(task), "rows": problem.n}))


def sets_of(fit, problem, coverage=0.95):
    found = set()
    for effect in fit.effects:
        order = np.argsort(-effect.probability, kind="stable")
        size = int(np.searchsorted(np.cumsum(effect.probability[order]), coverage)) + 1
        block = problem.known_block(order[:size])
        length = np.sqrt(np.diag(block))
        if np.abs(block / np.outer(length, length)).min() >= 0.5:
            found.add(tuple(sorted(order[:size].tolist())))
    return found


@pytest.mark.parametrize("study", STUDIES)
def test_rows_give_what_susie_gives(shared_data, study):
    file, trait, settings = STUDIES[study]
    data, theirs = load(shared_data, file), SUSIE[study]
    problem = Problem.from_rows(np.asfortranarray(data["X"]), data["Y"][:, trait])
    fit = solved(problem, **settings)
    unit, n = problem.scale.response_scale, problem.n
    assert fit.bound - n * np.log(unit) == pytest.approx(theirs["bound"], abs=0.01)
    assert fit.noise * unit**2 == pytest.approx(theirs["noise_variance"], rel=1e-3)
    pip = 1 - np.prod([1 - effect.probability for effect in fit.effects], axis=0)
    np.testing.assert_allclose(pip[theirs["columns"]], theirs["inclusion"], atol=2e-3)
    assert sets_of(fit, problem) == {tuple(one) for one in theirs["sets"]}
    # Columns are divided by deviations of n rows here, and of n - 1 there.
    ours = sorted((effect.prior_variance for effect in fit.effects), reverse=True)
    strong = [v for v in theirs["prior_variance"] if v > 0.01]
    wanted = np.array(strong) * (n - 1) / n / unit**2
    np.testing.assert_allclose(ours[: len(strong)], wanted, rtol=0.01)


def test_three_sets_of_the_first_trait_hold_the_three_variables_that_matter(shared_data):
    data = load(shared_data, "N3finemapping.npz")
    model = SingleEffectsRegressor().fit(data["X"], data["Y"][:, 0])
    sets = model.posterior_.credible_sets(0.95)
    assert len(sets) == 3
    for true in (402, 652, 772):
        assert sum(true in one.variables for one in sets) == 1
    theirs = {tuple(one): purity for one, purity in zip(
        SUSIE["N3 trait 1"]["sets"], SUSIE["N3 trait 1"]["purity"], strict=True)}  # fmt: skip
    for one in sets:
        purity = theirs[tuple(sorted(one.variables.tolist()))]
        stated = (one.purity, one.mean_correlation, one.median_correlation)
        np.testing.assert_allclose(stated, purity, atol=1e-6)


def test_a_trap_of_moments_is_reached_as_susie_reaches_it_and_left_by_refining(shared_data):
    data = load(shared_data, "susie_FinemappingConvergence.npz")
    n = data["n"].item()
    problem = Problem.from_moments(data["XtX"], data["Xty"], data["yty"].item(), n)
    unit = problem.scale.response_scale
    stuck = solved(problem)
    assert stuck.converged
    theirs = SUSIE["convergence"]
    assert stuck.bound - n * np.log(unit) == pytest.approx(theirs["bound"], abs=0.02)
    assert sets_of(stuck, problem) == {tuple(one) for one in theirs["sets"]}
    found = infer(problem, SingleEffects(10))
    assert found.converged
    assert found.certificate.value < 1e-3
    refined = SUSIE["convergence, refined"]
    assert -found.posterior.free_energy - n * np.log(unit) >= refined["bound"] - 0.02
    sets = {tuple(sorted(one.variables.tolist())) for one in found.posterior.credible_sets()}
    assert sets == {tuple(one) for one in refined["sets"]}
    truth = set(np.flatnonzero(data["true_coef"]))
    assert all(truth & set(one) for one in sets)
