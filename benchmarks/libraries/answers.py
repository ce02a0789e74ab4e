"""What every adapter hands back, and how those written in Python take time and memory."""

import contextlib
import gc
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

import problems


@dataclass(frozen=True)
class Answer:
    """A path, a chosen model, or both; `lambdas` marks a lasso's, `garrote_state` one of ours.

    `draws` is how many independent ones a sampler's are worth.
    """

    coefficients: sparse.csr_matrix | None = None
    lambdas: np.ndarray | None = None
    coef: np.ndarray | None = None
    selected: np.ndarray | None = None
    garrote_state: dict | None = None
    claimed: float | None = None
    draws: float | None = None


@dataclass(frozen=True)
class Measurement:
    """Seconds of a fit alone, bytes it needed above those held before it, and its answer.

    `processor` are the seconds that the process computed: without the time it waited for a core.
    """

    seconds: float
    memory: int | None
    design_bytes: int
    answer: Answer | None
    processor: float | None = None


def measure_here(job, fit, read_answer):
    """Time ``fit(problem)`` in this process; ``read_answer(fitted, problem)`` is not timed.

    A small problem is fitted first, then the real one twice unless that takes long: the first fit
    of a process still pays for fresh memory (glmnet's at 1000 x 10000 takes 1.8 times its next).
    """
    problem = problems.load(job["folder"])
    if job["warm_up"]:
        fit(problems.small_twin(problem, job["task"] == "groups"))
    gc.collect()
    forget_peak_memory()
    before = memory_in_use("VmRSS")
    seconds, processor, fitted = clocked(fit, problem)
    memory = None if before is None else memory_in_use("VmHWM") - before
    if job["warm_up"] and seconds < job["patience"]:
        again = clocked(fit, problem)[:2]
        seconds, processor = min(seconds, again[0]), min(processor, again[1])
    answer = read_answer(fitted, problem) if job["judge"] else None
    return Measurement(seconds, memory, design_bytes(problem.X), answer, processor)


def clocked(fit, problem):
    start, processor = time.perf_counter(), time.process_time()
    fitted = fit(problem)
    return time.perf_counter() - start, time.process_time() - processor, fitted


def design_bytes(X):
    if sparse.issparse(X):
        return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    return X.nbytes


def memory_in_use(field):
    """Read VmRSS (now) or VmHWM (peak) of this process in bytes; None where there is no /proc.

    getrusage would not do: its peak is inherited from the parent process.
    """
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except FileNotFoundError:
        return None
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field))


def forget_peak_memory():
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
