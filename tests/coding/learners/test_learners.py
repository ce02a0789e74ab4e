"""Ways to learn a dictionary: against plain NumPy, and what each of them promises."""

import numpy as np
import pytest

from garrote.coding import KSVD, Alternating, DictionaryLearning, Online
from reference_coding import best_atoms, lasso_code, objective, signals_of_few_atoms

pytestmark = pytest.mark.filterwarnings("ignore:the objective still fell")


def test_alternating_is_the_lasso_and_the_best_atoms_in_turn(monkeypatch):
    monkeypatch.setattr("garrote.coding.learners.alternating._SHARE", 0.0)
    atoms, signals = signals_of_few_atoms(15, 6, 8)
    start = signals_of_few_atoms(1, 6, 8, seed=9)[0]
    model = DictionaryLearning(6, Alternating(3), alpha=0.1, dictionary=start).fit(signals)
    atoms, expected = start, []
    for _ in range(4):
        codes = np.array([lasso_code(atoms, signal, 0.1) for signal in signals])
        costs = [objective(atoms, *pair, 0.1) for pair in zip(signals, codes, strict=True)]
        expected.append(np.mean(costs))
        atoms, last = best_atoms(atoms, codes, signals, 100), atoms
    np.testing.assert_allclose(model.record_.objective, expected, rtol=1e-6)
    np.testing.assert_allclose(model.components_, last, atol=1e-4)


@pytest.mark.parametrize("method", [Alternating(tol=1e-6), KSVD(3)])
def test_the_objective_never_rises(method):
    signals = signals_of_few_atoms(400, 20, 12)[1]
    weights = np.random.default_rng(0).integers(0, 3, 400)
    model = DictionaryLearning(24, method, random_state=0).fit(signals, sample_weight=weights)
    objective = model.record_.objective
    assert (np.diff(objective) <= 1e-12 * objective[0]).all()
    assert objective[-1] < 0.9 * objective[0]
    assert (np.linalg.norm(model.components_, axis=1) <= 1 + 1e-12).all()


@pytest.mark.parametrize("method", [Alternating(100), Online(n_passes=20), KSVD(3, 100)])
def test_atoms_of_which_signals_are_made_are_found(method):
    atoms, signals = signals_of_few_atoms(3000, 20, 16, noise=0.01)
    best = max(
        (DictionaryLearning(20, method, random_state=seed).fit(signals) for seed in range(3)),
        key=lambda model: -model.record_.objective[-1],
    )
    likeness = np.abs(atoms @ best.components_.T).max(axis=1)
    assert (likeness > 0.98).mean() >= 0.8


def test_the_certificate_is_what_codes_and_atoms_lack():
    signals = signals_of_few_atoms(200, 10, 8)[1]
    early = DictionaryLearning(10, Alternating(2), random_state=0).fit(signals).certificate_
    late = (
        DictionaryLearning(10, Alternating(3000, 1e-10), random_state=0).fit(signals).certificate_
    )
    assert early["duality gap"] < 1e-10
    assert late["atoms"] < 1e-6 < 1e-4 < early["atoms"]


def test_atoms_in_no_code_are_replaced():
    signals = signals_of_few_atoms(300, 10, 8)[1]
    start = np.zeros((10, 8))
    start[:3] = np.eye(8)[:3]
    model = DictionaryLearning(10, Alternating(5), alpha=0.05, dictionary=start).fit(signals)
    assert model.record_.replaced[0] == 7
    assert (np.diff(model.record_.objective) <= 0).all()
    assert model.components_.any(axis=1).all()
    online = DictionaryLearning(10, "online", alpha=0.05, dictionary=start).fit(signals)
    assert online.components_.any(axis=1).all()


def test_one_batch_of_all_signals_depends_on_their_order_by_rounding_only():
    signals = signals_of_few_atoms(100, 10, 8)[1]
    there, back = (
        DictionaryLearning(10, "online", random_state=0).fit(some).components_
        for some in (signals, signals[::-1])
    )
    np.testing.assert_allclose(there, back, atol=1e-8)


def test_what_is_remembered_fades_as_it_says():
    signals = signals_of_few_atoms(90, 6, 8)[1]
    model = DictionaryLearning(6, Online(forgetting=2.0), alpha=0.1, random_state=0)
    inner = []
    for batch in np.split(signals, 3):
        before = getattr(model, "components_", None)
        model.partial_fit(batch)
        start = model.components_ if before is None else before
        if before is not None:
            codes = np.array([lasso_code(start, signal, 0.1) for signal in batch])
            inner.append(codes.T @ codes)
        else:
            inner.append(model.memory_[0])
    expected = (2 / 3) ** 2 * ((1 / 2) ** 2 * inner[0] + inner[1]) + inner[2]
    np.testing.assert_allclose(model.memory_[0], expected, atol=1e-7)
    assert len(model.record_) == 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Alternating(0), "max_rounds must be an integer >= 1, got 0"),
        (lambda: Alternating(tol=0), "tol must be positive"),
        (lambda: Online(batch_size=0), "batch_size must be an integer >= 1"),
        (lambda: Online(forgetting=-1), "forgetting must be >= 0, got -1"),
        (lambda: KSVD(0), "n_nonzero must be an integer >= 1, got 0"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
