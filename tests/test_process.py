"""Processes: what importing costs, Ctrl-C, threads, forks, memory."""

import ast
import importlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from garrote import VariationalGarrote
from garrote.paths import Anneal
from reference import sparse_regression

DATA = """
import numpy as np
import scipy.sparse
from garrote import VariationalGarrote
from garrote.paths import Anneal

rng = np.random.default_rng(0)
"""


def run(code, timeout=300, **environment):
    """Run code, or a script, in a fresh interpreter; return what it printed."""
    command = [str(code)] if isinstance(code, Path) else ["-c", textwrap.dedent(code)]
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True, text=True, timeout=timeout, check=False,
        env=os.environ | environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# --- importing


def test_importing_garrote_is_quick_because_it_imports_little():
    code = """
    import sys
    import garrote
    garrote.__version__, dir(garrote)
    heavy = ["numba", "sklearn", "scipy", "numpy", "pandas", "polars", "matplotlib", "joblib"]
    print([name for name in heavy if name in sys.modules])
    """
    assert run(code) == "[]"


def test_fitting_imports_no_optional_library():
    code = (
        "import sys\nimport sklearn.base\nbefore = set(sys.modules)\n"  # which may bring pandas
        + DATA
        + """
X = rng.standard_normal((30, 4))
model = VariationalGarrote(gamma=-5.0).fit(X, X[:, 0] + rng.standard_normal(30))
str(model.summary()), model.summary()._repr_html_(), model.selection_.to_json()
optional = {"pandas", "polars", "matplotlib", "torch", "dask", "jinja2", "typer"}
print(sorted(optional & (set(sys.modules) - before)))
"""
    )
    assert run(code) == "[]"


def test_every_public_name_is_there_and_no_other():
    import garrote

    for name in garrote.__all__:
        assert getattr(garrote, name).__name__ == name
    assert set(garrote.__all__) <= set(dir(garrote))
    with pytest.raises(AttributeError, match="'nonsense'"):
        garrote.nonsense  # noqa: B018 - looking it up is the test


@pytest.mark.parametrize("room", ["garrote", "garrote.estimators"])
def test_type_checkers_are_told_of_every_public_name(room):
    module = importlib.import_module(room)
    tree = ast.parse(Path(module.__file__).read_text())
    told = next(node for node in tree.body if isinstance(node, ast.If))
    assert ast.unparse(told.test) == "TYPE_CHECKING"
    given = [alias.asname for line in told.body for alias in line.names]
    assert sorted(given) == module.__all__


# --- Ctrl-C


# How to make X of a given shape, the shape, and the settings.
LONG_FITS = {
    "dense": ("rng.standard_normal((d, n)).T", (1000, 8000), {}),
    "dense C order": ("rng.standard_normal((n, d))", (1000, 8000), {}),
    "float32": ("rng.standard_normal((n, d), dtype=np.float32)", (1000, 8000), {}),
    "sparse": (
        "scipy.sparse.random_array((n, d), density=0.1, rng=rng, format='csc')", (2000, 8000), {}
    ),
    "tall": ("rng.standard_normal((n, d))", (30_000, 600), {}),
    "two jobs": ("rng.standard_normal((n, d))", (1000, 8000), {"n_jobs": 2}),
    "dual": ("rng.standard_normal((n, d))", (400, 2000), {"method": Anneal("dual"), "gamma": -8.0}),
    "starts": (
        "rng.standard_normal((n, d))", (300, 2000),
        {"method": Anneal(n_starts=1000, gammas=5), "gamma": -9.0},
    ),
    "slow sweeps": (
        "0.01 * rng.standard_normal((n, d)) + rng.standard_normal((n, 1))", (60, 250),
        {"method": Anneal(tol=1e-12, max_iter=10**9), "gamma": -5.0},
    ),
}  # fmt: skip


QUICK = ["dense", "sparse", "tall", "two jobs", "slow sweeps"]
OTHERS = [kind for kind in LONG_FITS if kind not in QUICK]


def long_fit(kind):
    """Return code that compiles, says that it begins, fits for long, and says when it is interrupted."""
    make, shape, settings = LONG_FITS[kind]
    return f"""
settings = {settings}


def problem(n, d):
    X = {make}
    y = X[:, :20] @ rng.choice([-1.0, 1.0], 20)
    return X, y + y.std() * rng.standard_normal(n)


# Compile beforehand, whichever way a problem of this kind is solved.
solver = settings.get("method", Anneal()).solver
quick = {{**settings, "method": Anneal(solver, tol=1e-2, n_starts=1, max_iter=100)}}
for shape in ((40, 30), (50, 400), (400, 50), (60, 250)):
    VariationalGarrote(**quick).fit(*problem(*shape))
X, y = problem{shape}
print("begins", flush=True)
try:
    for _ in range(200):  # not for ever, should nobody be left to interrupt it
        VariationalGarrote(**settings).fit(X, y)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


# One process for several fits: to import and to compile takes longer than to interrupt.
@pytest.mark.parametrize(
    "kinds", [QUICK, pytest.param(OTHERS, marks=pytest.mark.slow)], ids=", ".join
)
def test_control_c_ends_a_long_fit_within_a_second(kinds):
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", DATA + "".join(map(long_fit, kinds))],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    said, heard = [], []
    try:
        for _ in kinds:
            assert process.stdout.readline().strip() == "begins", process.stderr.read()
            time.sleep(0.7)
            process.send_signal(signal.SIGINT)
            sent = time.monotonic()
            said.append(process.stdout.readline().strip())
            heard.append(time.monotonic() - sent)
        process.wait(timeout=20)
        ended = time.monotonic() - sent
    finally:
        process.kill()
        _, errors = process.communicate()
    assert said == ["interrupted"] * len(kinds), errors
    assert process.returncode == 0, errors
    # More is given to a machine that is busy with other tests; the fits themselves take far longer.
    assert max(heard) < 4.0, dict(zip(kinds, heard, strict=True))
    assert ended < 5.0


# --- threads, processes, forks


def test_two_threads_at_once_find_what_one_finds():
    tasks = [sparse_regression(n=60, d=d, seed=d)[:2] for d in (10, 40, 300, 10, 40, 300)]
    alone = [VariationalGarrote(method=Anneal(gammas=15)).fit(X, y) for X, y in tasks]
    with ThreadPoolExecutor(2) as pool:
        together = list(
            pool.map(lambda task: VariationalGarrote(method=Anneal(gammas=15)).fit(*task), tasks)
        )
    for one, two in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one.coef_, two.coef_)
        assert one.gamma_ == two.gamma_


def test_one_estimator_per_thread_may_share_the_data():
    X, y, _ = sparse_regression(n=60, d=40)
    X.flags.writeable = y.flags.writeable = False
    with ThreadPoolExecutor(4) as pool:
        models = list(pool.map(lambda _: VariationalGarrote(n_jobs=2).fit(X, y), range(8)))
    for model in models[1:]:
        np.testing.assert_allclose(model.coef_, models[0].coef_, atol=1e-9)


def test_a_fork_after_a_fit_fits_again():
    code = (
        DATA
        + """
import multiprocessing
import os
import warnings
warnings.simplefilter("ignore")
X = rng.standard_normal((80, 300))
y = X[:, 0] + rng.standard_normal(80)


def fit(_=None):
    return VariationalGarrote(n_jobs=2, method=Anneal(gammas=10)).fit(X, y).coef_


first = fit()
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(fit(), first) else 1)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0
with multiprocessing.get_context("fork").Pool(2) as pool:
    for again in pool.map(fit, range(3)):
        assert np.array_equal(again, first)
print("done")
"""
    )
    assert run(code, timeout=120) == "done"


def test_other_processes_find_the_same():
    X, y, _ = sparse_regression(n=60, d=20)
    one = cross_val_score(VariationalGarrote(method=Anneal(gammas=10)), X, y, cv=3)
    two = cross_val_score(VariationalGarrote(method=Anneal(gammas=10)), X, y, cv=3, n_jobs=2)
    np.testing.assert_allclose(one, two, rtol=1e-9)


# --- memory


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read the Linux way")
@pytest.mark.parametrize("kind", ["F float64", "C float64", "F float32", "CSC"])
def test_a_fit_needs_little_memory_beside_the_data(kind):
    make = {
        "F float64": "np.asfortranarray(rng.standard_normal((1000, 20_000)))",
        "C float64": "rng.standard_normal((1000, 20_000))",
        "F float32": "rng.standard_normal((20_000, 1000), dtype=np.float32).T",
        "CSC": "scipy.sparse.random_array((10_000, 20_000), density=0.05, rng=rng, format='csc')",
    }[kind]
    code = (
        DATA
        + f"""
import resource

small = rng.standard_normal((50, 400))
for given in (small, small.T.copy().T, np.float32(small), scipy.sparse.csc_array(small)):
    VariationalGarrote(method=Anneal(gammas=5)).fit(given, small[:, 0] + rng.standard_normal(50))
X = {make}
y = X[:, :5] @ np.ones(5)
y = y + y.std() * rng.standard_normal(len(y))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
size = (X.data.nbytes + X.indices.nbytes if scipy.sparse.issparse(X) else X.nbytes) / 1024
VariationalGarrote(method=Anneal(gammas=10)).fit(X, y)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) / size)
"""
    )
    # Blocks of columns, the products of all folds with them: not a float64 copy of X.
    assert float(run(code, timeout=500)) < (1.5 if "32" in kind else 0.75)


@pytest.mark.slow
def test_the_cache_of_compiled_code_is_found_by_the_next_process(tmp_path):
    code = (
        DATA
        + """
import time
X = rng.standard_normal((40, 10))
start = time.perf_counter()
VariationalGarrote(gamma=-5.0).fit(X, X[:, 0] + rng.standard_normal(40))
print(time.perf_counter() - start)
"""
    )

    def seconds():
        return float(run(code, NUMBA_CACHE_DIR=str(tmp_path)))

    cold, warm = seconds(), seconds()
    assert any(tmp_path.rglob("*.nbc"))
    assert warm < cold / 2


def test_warming_up_leaves_nothing_to_compile_for_shrinkage_priors():
    code = (
        DATA
        + """
import warnings
from garrote.scale_mixtures import log_concave_draws as variates
from garrote import ShrinkageRegressor
from garrote.inference import Gibbs
from garrote.cli.commands.warmup import compile_priors
from garrote.solvers.shrinkage import local_moves
from garrote.solvers.shrinkage import shrinkage_gibbs
from garrote.solvers.shrinkage import swap_moves
from garrote.solvers.shrinkage import columns_of_a_draw as needed_columns

kernels = [variates._try, local_moves._visit, swap_moves._exchange, needed_columns._use]
kernels += [shrinkage_gibbs._log_densities]
warnings.simplefilter("ignore")
compile_priors()
compiled = [len(kernel.signatures) for kernel in kernels]
assert min(compiled) > 0, compiled
X = rng.standard_normal((30, 110))
X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
y = X[:, 0] + rng.standard_normal(30)
for prior in ("laplace", "horseshoe", "normal-gamma", "student"):
    for rows in (X[:, :5], np.asfortranarray(X), X.astype(np.float32), scipy.sparse.csc_array(X)):
        ShrinkageRegressor(prior, Gibbs(n_steps=100, burn_in=0)).fit(rows, y)
assert [len(kernel.signatures) for kernel in kernels] == compiled
print("ready")
"""
    )
    assert run(code).split() == ["ready"]


def test_a_rule_of_ones_own_does_not_spoil_the_cache_for_other_processes(tmp_path):
    # The index of compiled code names the classes it was compiled for: another process, which
    # cannot import this one, must go on all the same.
    rule = """
from typing import NamedTuple
import numpy as np
from garrote.rules import shrink

class MyRule(NamedTuple):
    threshold: np.ndarray

@shrink.register
def _(rule: MyRule, j, z, curvature):
    return z if abs(z) > rule.threshold[j] else 0.0
"""
    use = """
from garrote.designs import DenseDesign
from garrote.rules import Residual
from garrote.solvers.descent.sweep import sweep

X = np.asfortranarray(np.random.default_rng(0).standard_normal((20, 3)))
columns = DenseDesign(X).columns(np.zeros(3), np.ones(3), np.ones(20))
residual = Residual(np.ones(20), np.zeros(1), np.ones(20))
sweep(columns, MyRule(np.ones(3)), np.arange(3), np.zeros(3), np.zeros(3), residual, np.ones(3), 0.0)
"""
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    (tmp_path / "my_rules.py").write_text(rule)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    run("import numpy as np\nfrom my_rules import MyRule\n" + use, PYTHONPATH=path, **cache)
    (tmp_path / "script.py").write_text(rule + use)
    run(tmp_path / "script.py", **cache)
    theirs = """
import numpy as np
from garrote.penalties import L1
from garrote.penalties.base import Terms

ours = L1().at(1.0, Terms.equal(3))
""" + use.replace("MyRule(np.ones(3))", "ours")
    assert run(theirs + "print(sum(sweep.stats.cache_misses.values()))", **cache) == "1"
    # And found again by the next.
    assert run(theirs + "print(sum(sweep.stats.cache_misses.values()))", **cache) == "0"
