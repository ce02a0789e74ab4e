"""Regression with the fused lasso along a chain, beside celer and skglm on the lasso of its jumps.

Sums of the columns from j on have the jumps for coefficients; the first of them, the level, is free and
projected out for the rivals, which is exact and not timed, nor are the sums. All take turns in one
process, on one thread; objectives are computed here. A lattice and an l1 part have no rival.
"""

from processes import run_program, say
from tables import Table

PROGRAM = """
import json, sys, time, warnings
import numpy as np
from garrote import Problem, fit_path
from garrote.penalties import FusedLasso
warnings.simplefilter("ignore")
n, D, turns = map(int, sys.argv[1:])
rng = np.random.default_rng(0)
X = np.asfortranarray(rng.standard_normal((n, D)))
truth = np.zeros(D)
for _ in range(8):
    start = rng.integers(0, D - D // 20)
    truth[start : start + rng.integers(D // 50, D // 20)] += rng.normal()
y = X @ truth + 2 * rng.standard_normal(n)

sums = np.cumsum(X[:, ::-1], axis=1)[:, ::-1]
level = sums[:, 0] / np.linalg.norm(sums[:, 0])
jumps = np.asfortranarray(sums[:, 1:] - np.outer(level, level @ sums[:, 1:]))
rest = y - level * (level @ y)

def with_level(coef):
    free = (y - sums[:, 1:] @ coef) @ sums[:, 0] / (sums[:, 0] @ sums[:, 0])
    return np.cumsum(np.append(free, coef))

def ours(alpha, graph=None, l1_ratio=0.0):
    problem = Problem.from_rows(X, y, scale_response=False, standardize=False, fit_intercept=False)
    return fit_path(problem, FusedLasso(graph, l1_ratio), [alpha])

solvers = {"garrote": lambda alpha: ours(alpha)}
read = {"garrote": lambda path: path.coefficients().toarray()[0]}
try:
    from celer import Lasso
    settings = dict(fit_intercept=False, tol=1e-9, max_iter=1000)
    solvers["celer"] = lambda alpha: Lasso(alpha, **settings).fit(jumps, rest)
    read["celer"] = lambda model: with_level(model.coef_)
except ImportError:
    pass
try:
    from skglm import Lasso as Skglm
    solvers["skglm"] = lambda alpha: Skglm(alpha, fit_intercept=False, tol=1e-9).fit(jumps, rest)
    read["skglm"] = lambda model: with_level(model.coef_)
except ImportError:
    pass

def timed(solve):
    begin = time.perf_counter()
    answer = solve()
    return answer, time.perf_counter() - begin

largest = np.abs(jumps.T @ rest).max() / n
rows = []
for share in (0.1, 0.03, 0.01, 0.003, 0.001):
    alpha, best, objective = share * largest, {}, {}
    for turn in range(turns):
        for name, solve in solvers.items():
            answer, seconds = timed(lambda: solve(alpha))
            best[name] = min(best.get(name, np.inf), seconds)
            w = read[name](answer)
            objective[name] = 0.5 * np.mean((y - X @ w) ** 2) + alpha * np.abs(np.diff(w)).sum()
            if name == "garrote":
                gap, pieces = float(answer.certificate[0]), answer.fits[0].pieces
    above = {name: objective[name] / objective["garrote"] - 1 for name in objective}
    rows.append([share, pieces, gap, best, above])

side = int(np.sqrt(D))
width = D // side
others = []
lattice = ("lattice", (side, width))
for graph, l1_ratio in ((None, 0.3), (lattice, 0.0), (lattice, 0.3)):
    if graph and side * width != D:
        X = np.asfortranarray(X[:, : side * width])
    runs = [timed(lambda: ours(0.1, graph, l1_ratio)) for _ in range(turns)]
    path = runs[0][0]
    others.append(["chain" if graph is None else "lattice", l1_ratio, path.fits[0].pieces,
                   float(path.certificate[0]), min(seconds for _, seconds in runs)])
print(json.dumps([rows, others]))
"""


def run(settings):
    n, D = (100, 200) if settings.quick else (500, 1000)
    say(f"fused: regression at ({n}, {D})")
    found, reason = run_program(settings, PROGRAM, n, D, 2 + settings.reps)
    if found is None:
        return [], {"skipped": reason}
    chains, others = found
    headings = ["alpha / largest", "pieces", "garrote, s", "gap"]
    for rival in ("celer", "skglm"):
        headings += [f"{rival}, s", "objective above"]
    table = Table(f"Fused regression at ({n}, {D}), chain, one strength", headings)
    for share, pieces, gap, seconds, above in chains:
        cells = [x for rival in ("celer", "skglm") for x in (seconds.get(rival), above.get(rival))]
        table.add(f"{share:g}", pieces, seconds["garrote"], gap, *cells)
    headings = ["graph", "l1 ratio", "pieces", "garrote, s", "gap"]
    second = Table("The same with an l1 part, and on a lattice, at alpha = 0.1", headings)
    for graph, l1_ratio, pieces, gap, seconds in others:
        second.add(graph, f"{l1_ratio:g}", pieces, seconds, gap)
    return [table, second], {"chains": chains, "others": others}
