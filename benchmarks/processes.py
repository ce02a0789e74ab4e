"""Run measurements, each in a process of its own, ours and the rivals' taking turns.

A fresh process gives every library the same clean memory and lets the thread count be set by the
environment, which numerical libraries read only once. Turns, because a machine's speed drifts.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import libraries

HERE = Path(__file__).parent
PATIENCE = 10.0  # a fit that takes more seconds than this is not repeated within its process
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)


@dataclass(frozen=True)
class Contender:
    """A library with the options of one row of a table; `cold` leaves nothing compiled before."""

    label: str
    library: str
    options: dict = field(default_factory=dict)
    cold: bool = False
    reps: int | None = None


@dataclass(frozen=True)
class ProcessSettings:
    """What the command line asked for, and a folder for the problems' files."""

    scratch: Path
    sizes: tuple
    rivals: tuple
    reps: int = 3
    threads: int = 1
    quick: bool = False
    seed: int = 0
    timeout: float = 1200.0


def take_turns(settings, contenders, task, folder):
    """Measure every contender `reps` times, in turns; return one result a contender.

    A result is that of the first repetition with `seconds`, `processor` and `memory` the smallest of
    all and `all_seconds` the list of them. For a library that is absent or fails it is a dictionary with
    `skipped`, the reason.
    """
    results = {}
    for rep in range(settings.reps):
        for contender in contenders:
            known = results.get(contender.label)
            if known and ("skipped" in known or rep >= (contender.reps or settings.reps)):
                continue
            say(f"  {task}: {contender.label}, {rep + 1} of {contender.reps or settings.reps}")
            new = measure(settings, contender, task, folder, judge=rep == 0)
            results[contender.label] = merge(known, new)
    for label, result in results.items():
        if "skipped" in result:
            say(f"  left out: {label}: {result['skipped']}")
    return results


def merge(known, new):
    if "skipped" in new:
        return new
    if known is None:
        return new | {"all_seconds": [new["seconds"]]}
    return known | {
        "seconds": min(known["seconds"], new["seconds"]),
        "processor": least(known["processor"], new["processor"]),
        "memory": least(known["memory"], new["memory"]),
        "all_seconds": [*known["all_seconds"], new["seconds"]],
    }


def least(*values):
    return min((value for value in values if value is not None), default=None)


def measure(settings, contender, task, folder, judge=True):
    """Run one measurement in a child process and return its result."""
    with tempfile.TemporaryDirectory(dir=settings.scratch) as room:
        room = Path(room)
        job = {
            "library": contender.library,
            "task": task,
            "folder": str(folder),
            "options": contender.options,
            "threads": settings.threads,
            "warm_up": not contender.cold,
            "patience": PATIENCE,
            "judge": judge,
        }
        (room / "job.json").write_text(json.dumps(job))
        python = libraries.interpreter(contender.library)
        if not Path(python).exists():
            return {"skipped": "its interpreter is missing; run benchmarks/setup_rivals.sh"}
        more = {"NUMBA_CACHE_DIR": str(room / "numba")} if contender.cold else {}
        command = [python, str(HERE / "measure.py"), str(room / "job.json")]
        try:
            done = run(command, settings.threads, settings.timeout, more)
        except subprocess.TimeoutExpired:
            return {"skipped": f"over {settings.timeout:.0f} s"}
        if done.returncode:
            last_words = (done.stderr.strip().splitlines() or ["no message"])[-1]
            return {"skipped": f"failed: {last_words}"}
        return json.loads((room / "result.json").read_text())


def run(command, threads, timeout=None, environment=()):
    """Run a command with every thread count set, its output captured.

    It has a process group of its own, so that an R process it started ends with it.
    """
    variables = dict(os.environ) | {name: str(threads) for name in THREAD_VARIABLES}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    child = subprocess.Popen(
        command, env=variables | dict(environment), start_new_session=True, **pipes
    )
    try:
        stdout, stderr = child.communicate(timeout=timeout)
    except BaseException:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        raise
    return subprocess.CompletedProcess(command, child.returncode, stdout, stderr)


def run_program(settings, program, *arguments):
    """Run Python text in a process of its own; return what it printed as JSON, and why it could not.

    One of the two is None.
    """
    command = [sys.executable, "-c", program, *map(str, arguments)]
    done = run(command, settings.threads, settings.timeout)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        say(f"  left out: {reason}")
        return None, reason
    return json.loads(done.stdout), None


def say(text):
    print(text, file=sys.stderr, flush=True)
