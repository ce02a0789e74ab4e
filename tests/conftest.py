"""What every test shares: a compile cache that follows the sources, data, and no silent skips."""

import gc
import os
import re
import shutil
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import hypothesis
import pytest

from garrote.kernel_sources import fingerprint

ROOT = Path(__file__).resolve().parents[1]
SHARED_DATA = ROOT.parent / "shared" / "data"
NO_SHARED_DATA = "the shared data folder is absent"
# What scripts/install_browser.sh installs, or finds.
NO_NODE = "no node was found: install Node.js to run the report's scripts without a browser"
NO_TORCH = 'PyTorch is absent: run pip install "garrote[gpu]"'
NO_GENETICS = 'Pgenlib or cbgen is absent: run pip install "garrote[genetics]"'
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
IN_CI = bool(os.environ.get("CI"))

# Reasons for which a test may be skipped in CI, each with the condition under which it is true.
ALLOWED_SKIPS = [
    (re.escape(NO_SHARED_DATA), lambda: not SHARED_DATA.is_dir()),
    # scripts/install_browser.sh has tried, and said why it could not.
    ("no Chromium was found.*", lambda: not any(map(shutil.which, BROWSERS))),
    (re.escape(NO_NODE), lambda: shutil.which("node") is None),
    (re.escape(NO_TORCH), lambda: find_spec("torch") is None),
    (re.escape(NO_GENETICS), lambda: None in map(find_spec, ("pgenlib", "cbgen"))),
    ("no (bash|zsh|fish) was found", lambda: None in map(shutil.which, ("bash", "zsh", "fish"))),
]


# numba's disk cache watches only the file of a kernel, not the files of the functions it calls: an edit
# there would be tested with the old machine code. It must be set before numba is imported.
os.environ["NUMBA_CACHE_DIR"] = str(ROOT / ".pytest_cache" / "numba" / fingerprint())

# Fixtures that tests of several rooms share.
pytest_plugins = ["command_line", "report_pages", "table_files"]

# scikit-learn checks array API input only where SciPy was imported with this setting.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

hypothesis.settings.register_profile("default", deadline=None, max_examples=25)
hypothesis.settings.register_profile("ci", deadline=None, max_examples=25, derandomize=True)
hypothesis.settings.load_profile("ci" if IN_CI else "default")


# Where the published studies look for data.
os.environ.setdefault("GARROTE_DATA", str(SHARED_DATA))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of the published data sets, which lies beside the repository."""
    if not SHARED_DATA.is_dir():
        pytest.skip(NO_SHARED_DATA)
    return SHARED_DATA


class SilentSkips:
    """Fails a CI run in which a test was skipped for an unexpected reason, or none passed."""

    def __init__(self) -> None:
        self.unexpected: list[str] = []
        self.allowed: list[str] = []
        self.passed = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.passed += report.when == "call" and report.passed
        self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._note(report)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if not report.skipped or hasattr(report, "wasxfail"):
            return
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reason = reason.removeprefix("Skipped: ")
        if any(re.fullmatch(allowed, reason) and holds() for allowed, holds in ALLOWED_SKIPS):
            self.allowed.append(reason)
        else:
            self.unexpected.append(f"{report.nodeid}: {reason}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        collecting_only = session.config.option.collectonly
        if session.exitstatus == 0 and not collecting_only and (self.unexpected or not self.passed):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.allowed:
            terminalreporter.section("skipped here, each for its reason")
            for reason, count in Counter(self.allowed).items():
                terminalreporter.write_line(f"{count} x {reason}")
        if self.unexpected:
            terminalreporter.section("skipped for a reason that CI does not allow", red=True)
            for line in self.unexpected:
                terminalreporter.write_line(line)
        if not self.passed:
            terminalreporter.section("no test passed", red=True)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Keep the garbage collector from looking at thousands of tests again and again.

    Compiling kernels makes garbage quickly, and looking for it would take a sixth of that time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 100)


def pytest_configure(config: pytest.Config) -> None:
    # Under xdist the reports of all workers reach the controller, whose exit status counts.
    if IN_CI and not hasattr(config, "workerinput"):
        config.pluginmanager.register(SilentSkips(), "silent-skips")
