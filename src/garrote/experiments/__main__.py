"""``python -m garrote.experiments vg-table-1``: run published studies and print the comparison."""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from garrote.experiments.data import SOURCES, VARIABLE
from garrote.experiments.registry import STUDIES, run_study
from garrote.experiments.report import StudySettings


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the studies named on the command line."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.list:
        print(_listing())
        return 0
    names, file = list(STUDIES) if options.all else list(options.studies), options.plot
    if file in STUDIES:  # `--plot vg-figure-1`: the optional file name was not meant
        names, file = [*names, file], ""
    if not names:
        parser.error("name a study, or see --list")
    if options.all and options.studies:
        parser.error(f"--all runs {options.studies[0]} too: leave one of them out")
    unknown = [name for name in names if name not in STUDIES]
    if unknown:
        parser.error(f"there is no study {unknown[0]!r}; see --list")
    if file and len(names) > 1:
        parser.error("--plot FILE takes one study; without FILE every figure is named by its study")
    try:
        settings = StudySettings(options.seed, options.instances, options.quick)
    except ValueError as error:
        parser.error(str(error))
    return max([_run_or_say(name, settings, file) for name in names])


def _run_or_say(name: str, settings: StudySettings, file: str | None) -> int:
    """Run one study; where its data, or the folder of its figure, is missing, say so and go on."""
    try:
        _run(name, settings, file)
    except FileNotFoundError as error:
        print(f"garrote: {name}: {error}", file=sys.stderr)
        return 1
    return 0


def _run(name: str, settings: StudySettings, file: str | None) -> None:
    start = time.perf_counter()
    report = run_study(name, settings)
    print(report)
    print(f"({name}: {time.perf_counter() - start:.1f} s)\n")
    if file is None:
        return
    if report.draw is None:
        print(f"{name} is a table: there is no figure to draw", file=sys.stderr)
        return
    target = Path(file or f"{name}.png")
    if target.is_dir():
        target /= f"{name}.png"
    report.draw().savefig(target, dpi=150)
    print(f"drawn to {target}\n")


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"garrote: {message} (see {self.prog} --help)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="garrote reproduce",
        description="Run published studies again and print paper and ours side by side.",
        epilog=_listing(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("studies", nargs="*", metavar="STUDY", help="for example vg-table-1")
    parser.add_argument("--all", action="store_true", help="run every study")
    parser.add_argument("--list", action="store_true", help="name the studies and stop")
    parser.add_argument(
        "--plot",
        nargs="?",
        const="",
        metavar="FILE",
        help="also draw the figure, to STUDY.png unless FILE is given (needs matplotlib)",
    )
    parser.add_argument("--seed", type=int, default=0, help="default 0")
    parser.add_argument("--instances", type=int, help="data sets to draw; default as published")
    parser.add_argument("--quick", action="store_true", help="a small version, in seconds")
    return parser


def _listing() -> str:
    width = max(map(len, STUDIES))
    lines = [
        f"  {name:<{width}}  {study.title}{' *' if study.needs else ''}"
        for name, study in STUDIES.items()
    ]
    texts = (
        "vg: Kappen & Gomez 2014; iba: Y. Iba; murphy: Murphy 2012, chapter 13;\n"
        "lecture: Odone & Rosasco; htt: Hastie, Tibshirani & Tibshirani 2017"
    )
    return "\n".join([f"studies ({texts}):", *lines, *_sources()])


def _sources() -> list[str]:
    """Say where the data of some studies comes from, in lines that fit a screen."""
    said = [f"* needs data in the folder that {VARIABLE} names:"]
    for name, (package, licence, _) in SOURCES.items():
        said += [f"  {name} from the {package}, licence {licence}"]
    return said


if __name__ == "__main__":
    sys.exit(main())
