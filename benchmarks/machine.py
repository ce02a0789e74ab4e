"""Where and with what a run was made: processor, cores, memory, versions."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("numpy", "scipy", "numba")


def describe(results, threads):
    """Return the lines that belong above the tables; the libraries say their own versions."""
    seen = {name: installed(name) for name in PACKAGES} | measured_versions(results)
    return [
        f"Machine: {processor()}, {os.cpu_count()} cores, {memory()}, {platform.system()}.",
        f"Threads: {threads}. Python {platform.python_version()}.",
        "Versions: " + ", ".join(f"{name} {number}" for name, number in seen.items()) + ".",
    ]


def installed(package):
    try:
        return version(package)
    except PackageNotFoundError:
        return "(absent)"


def measured_versions(results):
    """Find every `library` and `version` in the nested results."""
    if isinstance(results, list):
        results = dict(enumerate(results))
    if not isinstance(results, dict):
        return {}
    found = {}
    if "library" in results and "version" in results:
        found[results["library"].replace("_", "-")] = results["version"]
    for value in results.values():
        found |= measured_versions(value)
    return found


def processor():
    """The model's name as lscpu would print it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def memory():
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
    except (ValueError, OSError):
        return "memory unknown"
