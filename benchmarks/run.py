"""Measure garrote beside other libraries.

python benchmarks/run.py --quick
python benchmarks/run.py --sizes wide,huge --sections path,cv --reps 3 --markdown
"""

import argparse
import importlib
import json
import sys
import tempfile
from pathlib import Path

import libraries
import machine
import problems
import sections
from processes import ProcessSettings


def main(arguments=None):
    asked = parse(arguments)
    results = {}
    with tempfile.TemporaryDirectory(prefix="garrote-benchmark-", dir=asked.scratch) as scratch:
        settings = ProcessSettings(
            scratch=Path(scratch),
            sizes=asked.sizes,
            rivals=asked.rivals,
            reps=1 if asked.quick and asked.reps is None else asked.reps or 3,
            threads=asked.threads,
            quick=asked.quick,
            seed=asked.seed,
            timeout=asked.timeout,
        )
        for name in asked.sections:
            section = importlib.import_module(f"sections.{name}")
            tables, results[name] = section.run(settings)
            # After every section, so that an interrupted run keeps what it has.
            for table in tables:
                print(table.markdown() if asked.markdown else table.text(), end="\n\n", flush=True)
            if asked.json:
                asked.json.write_text(json.dumps(results, indent=1))
    print("\n".join(machine.describe(results, asked.threads)))
    return 0


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=among(problems.SIZES), default=tuple(problems.SIZES))
    parser.add_argument("--sections", type=among(sections.NAMES), default=sections.NAMES)
    parser.add_argument(
        "--rivals", type=among((*libraries.RIVALS, "none")), default=libraries.RIVALS
    )
    parser.add_argument("--reps", type=int, help="repetitions; 3, with --quick 1")
    parser.add_argument("--threads", type=int, default=1, help="of every library; 1")
    parser.add_argument("--seed", type=int, default=0, help="of the problems, not of `hard`; 0")
    parser.add_argument("--timeout", type=float, default=1200, help="seconds a measurement; 1200")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does everything run?")
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    parser.add_argument("--json", type=Path, help="write all results to this file")
    parser.add_argument("--scratch", type=Path, help="where problems are written (up to 2 GB)")
    return parser.parse_args(arguments)


def among(allowed):
    """A comma-separated list, every word of it one of `allowed`."""

    def read(text):
        words = tuple(word for word in text.split(",") if word)
        unknown = [word for word in words if word not in allowed]
        if unknown:
            raise argparse.ArgumentTypeError(
                f"unknown {', '.join(unknown)}; allowed are {', '.join(allowed)}"
            )
        return words

    return read


if __name__ == "__main__":
    sys.exit(main())
