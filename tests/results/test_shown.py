"""What a prompt and a notebook show of results: short for any number of columns."""

import importlib
import pkgutil
from dataclasses import is_dataclass

import numpy as np
import pytest

import garrote.results
from garrote import (
    SingleEffectsRegressor,
    SparseRegressor,
    SpikeSlabRegressor,
    VariationalGarrote,
    compare,
)
from garrote.inference import Sample
from garrote.results.certificates import equations
from garrote.results.credible_sets import CredibleSet
from garrote.summaries import Summary, Table, brief

MOST = 2000


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5000))
    return X, 2 * X[:, 3] - X[:, 7] + rng.standard_normal(60)


def everything_in(result, seen):
    """Yield a result of garrote and all results that it is made of."""
    if id(result) in seen:
        return
    seen[id(result)] = result
    if isinstance(result, tuple | list):
        for one in result:
            yield from everything_in(one, seen)
    elif type(result).__module__.startswith("garrote."):
        yield result
        for part in vars(result).values():
            yield from everything_in(part, seen)


MODELS = {
    "garrote": VariationalGarrote(gamma="free_energy"),
    "lasso": SparseRegressor(alpha=0.02),
    "effects": SingleEffectsRegressor(),
    "sampled": SpikeSlabRegressor(method=Sample(n_steps=100), random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_nothing_that_a_fit_leaves_prints_more_than_a_screen(name, wide):
    model = MODELS[name].fit(*wide)
    found = [value for key, value in vars(model).items() if key.endswith("_")]
    results = [one for value in found for one in everything_in(value, {})]
    assert len(results) > 5
    for result in results:
        assert len(repr(result)) < MOST, type(result)
    for name in {"selection_", "posterior_", "path_", "certificate_"} & set(vars(model)):
        html = getattr(model, name)._repr_html_()
        assert "<table" in html
        assert len(html) < 10 * MOST


def test_every_class_of_results_is_short_by_its_base_or_by_itself():
    """A dataclass's own repr writes every array out."""
    made = []
    for module in pkgutil.walk_packages(garrote.results.__path__, "garrote.results."):
        members = vars(importlib.import_module(module.name)).values()
        made += [kind for kind in members if isinstance(kind, type) and is_dataclass(kind)]
    ours = {kind for kind in made if kind.__module__.startswith("garrote.results")}
    written_out = {kind.__name__ for kind in ours if kind.__dataclass_params__.repr}
    assert written_out == {"Move", "Certificate", "Finding", "DataCheck", "Verdict", "Account"}
    assert len(ours) > 25


def test_a_posterior_names_the_variables_it_is_most_certain_of(wide):
    X, y = wide
    posterior = SpikeSlabRegressor().fit(X[:, :8], y).posterior_
    lines = repr(posterior).split("\n")
    assert lines[0].startswith("Posterior of 8 coefficients (Models): 2.")
    assert [line.split()[0] for line in lines[2:4]] == ["x3", "x7"]
    table = posterior.summary(3).table.columns
    j = 3
    assert table["variable"][0] == "x3"
    assert table["mean"][0] == posterior.mean[j]
    assert table["standard deviation"][0] == np.sqrt(posterior.variance[j])
    assert len(table["mean"]) == 3
    assert "x3" in posterior._repr_html_()


def test_a_long_selection_is_short_in_a_notebook_and_whole_in_print(wide):
    selection = SparseRegressor(alpha=0.02).fit(*wide).selection_
    names = [selection.names[j] for j in np.flatnonzero(selection.selected)]
    assert len(names) > 40
    printed = str(selection)
    assert all(f"\n{name} " in printed for name in names)
    assert "more rows: print() shows them all" in repr(selection)
    assert str(selection.certificate) in repr(selection)  # what stands below the table is kept
    assert "more rows" in repr(selection.summary())


def test_a_table_in_html_counts_the_rows_that_it_leaves_out():
    table = Table({"k": list(range(250))})
    assert table._repr_html_().count("<tr>") == 1 + 100 + 1
    assert "and 150 more rows" in table._repr_html_()
    assert "<td>249</td>" in Table({"k": list(range(150, 250))})._repr_html_()


def test_a_summary_of_one_endless_line_is_cut():
    assert len(repr(Summary(("x" * 5000,), Table({})))) < MOST


def test_a_credible_set_of_thousands_names_some_of_them():
    names = tuple(f"v{j}" for j in range(3000))
    share = np.full(3000, 1 / 3000)
    one = CredibleSet(np.arange(3000), names, share, 0.95, 0.9, 0.95, 0.95)
    assert repr(one).startswith("<CredibleSet: one of v0, v1")
    assert "and 2,980 more (probability 0.95, purity 0.90)>" in repr(one)
    assert len(repr(one)) < MOST


def test_a_comparison_of_methods_is_short_too(wide):
    X, y = wide
    dense = {name: SparseRegressor(alpha=a) for name, a in (("few", 0.5), ("many", 0.02))}
    found = compare(X[:, :600], y, dense, cv=3)
    assert len(found.variables()) > 40
    assert len(repr(found)) < MOST
    assert repr(found) != str(found)
    assert found._repr_html_().count("<table") == 2


def test_a_certificate_shows_its_parts():
    html = equations({"inclusion": 2e-6, "weight": 3e-5})._repr_html_()
    assert "<td>weight</td><td>3e-05</td>" in html


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.1 + 0.2, "0.3"),
        (np.float64(2.5), "2.5"),
        (np.array([1.0, 2.0]), "[1, 2]"),
        (np.zeros((3, 4)), "<float64 array of shape (3, 4)>"),
        (tuple("abc"), "('a', 'b', 'c')"),
        (tuple(map(str, range(5000))), "<tuple of 5,000>"),
        ("a" * 500, repr("a" * 75 + "...")),
        ({}, "{}"),
        (None, "None"),
    ],
)
def test_values_are_told_in_a_few_words(value, said):
    assert brief(value) == said
