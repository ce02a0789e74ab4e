"""Total variation on a chain and on a lattice, beside prox_tv's taut string and its 2-d splitting.

Both libraries take turns in one process, on one thread; the processor's time is compared. Chains have
nanoseconds a number, lattices seconds. The largest difference between the chains, and for lattices
how far the rival's objective lies above the certified one, tell whether the answers agree.
"""

from processes import run_program, say
from tables import Table

PROGRAM = """
import json, sys, time
import numpy as np
from garrote.proximal import Graph, denoise_on_graph, total_variation
try:
    import prox_tv
except ImportError:
    prox_tv = None
n, side, turns = map(int, sys.argv[1:])
rng = np.random.default_rng(0)
noise, line = rng.normal(size=n), np.linspace(-1, 1, n)
chains = {
    "noise": noise,
    "steps": np.repeat(3 * rng.normal(size=n // 1000), 1000) + noise,
    "random walk": 0.1 * np.cumsum(noise),
    "ramp": 0.005 * n * line,
    "parabola": 1e-3 * n * line**2,
}

def timed(solve, best):
    start = time.thread_time()
    answer = solve()
    return answer, min(best, time.thread_time() - start)

rows = []
for name, x in chains.items():
    for strength in (1.0, 5.0, 100.0):
        ours = theirs = float("inf")
        apart = None
        for _ in range(turns):
            z, ours = timed(lambda: total_variation(x, strength), ours)
            if prox_tv:
                w, theirs = timed(lambda: prox_tv.tv1_1d(x, strength), theirs)
                apart = float(np.abs(z - w).max())
        rows.append([name, strength, 1e9 * ours / n, 1e9 * theirs / n if prox_tv else None, apart])

picture = np.zeros((side, side))
picture[side // 4 : side // 2, side // 3 : -side // 5] = 1.0
x = picture + 0.3 * rng.normal(size=picture.shape)
graph = Graph.lattice(side, side)
first, second = graph.edges.T
denoise_on_graph(x.ravel(), 0.0, graph)
unit = 0.5 * ((x - x.mean()) ** 2).sum()
objective = lambda z, s: 0.5 * ((z - x.ravel()) ** 2).sum() + s * np.abs(z[first] - z[second]).sum()
lattices = []
for strength in (0.1, 0.3, 1.0):
    ours = theirs = float("inf")
    above = None
    for _ in range(turns):
        answer, ours = timed(lambda: denoise_on_graph(x.ravel(), strength, graph), ours)
        if prox_tv:
            w, theirs = timed(
                lambda: prox_tv.tv1_2d(x, strength, n_threads=1, max_iters=1000), theirs
            )
            above = float((objective(w.ravel(), strength) - objective(answer.values, strength)) / unit)
    lattices.append([strength, ours, answer.gap, theirs if prox_tv else None, above])
print(json.dumps([rows, lattices]))
"""


def run(settings):
    n, side = (100_000, 64) if settings.quick else (1_000_000, 256)
    say(f"variation: chains of {n}, a lattice of {side} x {side}")
    found, reason = run_program(settings, PROGRAM, n, side, 2 + settings.reps)
    if found is None:
        return [], {"skipped": reason}
    chains, lattices = found
    headings = ["chain", "strength", "garrote, ns", "prox_tv, ns", "largest difference"]
    chain_table = Table(f"Total variation, chain of {n}: nanoseconds a number", headings)
    for name, strength, ours, theirs, apart in chains:
        chain_table.add(name, f"{strength:g}", ours, theirs, apart)
    headings = ["strength", "garrote, s", "gap", "prox_tv, s", "objective above"]
    lattice_table = Table(f"Total variation, lattice of {side} x {side}", headings)
    for strength, ours, gap, theirs, above in lattices:
        lattice_table.add(f"{strength:g}", ours, gap, theirs, above)
    return [chain_table, lattice_table], {"chains": chains, "lattices": lattices}
