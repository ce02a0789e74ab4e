"""Draws of all coefficients under shrinkage priors, where there are many more columns than rows.

One chain, on one thread: what 1000 states cost, and how many independent draws of the true effects
and of the worst coefficient they are worth, after as many states that do not count. No rival is run.
"""

from processes import run_program, say
from tables import Table

PROGRAM = """
import json, sys, time, warnings
import numpy as np
from garrote import ShrinkageRegressor
from garrote.inference import Gibbs
warnings.simplefilter("ignore")
N, D, states = map(int, sys.argv[1:])
rng = np.random.default_rng(0)
X = rng.standard_normal((N, D))
for j in range(1, D):
    X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
places = rng.choice(D, 20, replace=False)
signal = X[:, places] @ (rng.uniform(0.5, 1.5, 20) * rng.choice([-1.0, 1.0], 20))
noise = rng.standard_normal(N)
y = signal + noise * np.linalg.norm(signal) / (3 * np.linalg.norm(noise))
rows = []
for prior in ("laplace", "horseshoe", "neg", "normal-gamma", "student", "hal", "fused-laplace"):
    ShrinkageRegressor(prior, Gibbs(100, 0, 1), random_state=0).fit(X[:, : N + 100], y)
    seconds, processor = [], []
    for burn_in in (0, states):
        start, busy = time.perf_counter(), time.process_time()
        model = ShrinkageRegressor(prior, Gibbs(states, burn_in, 1), random_state=0).fit(X, y)
        seconds.append(time.perf_counter() - start)
        processor.append(time.process_time() - busy)
    size = model.posterior_.accuracy.effective_sample_size
    rows.append([prior, seconds[0], processor[0], float(np.median(size[places])), float(size.min())])
print(json.dumps(rows))
"""


def run(settings):
    N, D, states = (50, 300, 100) if settings.quick else (200, 5000, 1000)
    say(f"shrinkage: {states} draws of {D} coefficients given {N} rows")
    rows, reason = run_program(settings, PROGRAM, N, D, states)
    if rows is None:
        return [], {"skipped": reason}
    headings = ["prior", "clock, s", "processor, s", "effects worth", "worst coefficient"]
    title = f"Shrinkage priors: {states} draws, N = {N}, D = {D}"
    table = Table(title, headings)
    for row in rows:
        table.add(*row)
    return [table], {"rows": rows}
