"""The command line's grammar. Nothing heavy is imported here: ``--help`` answers at once."""

import argparse
import math
from collections.abc import Sequence
from typing import Any, NoReturn

from garrote import __version__
from garrote.cli.commands.genotypes import add_genotypes
from garrote.cli.commands.survival import OPTIONS, add_survival, add_times
from garrote.cli.errors import UsageError, suggestion
from garrote.cli.pictures.arguments import add_image
from garrote.cli.values import (
    bound,
    count,
    folds,
    mismatch,
    names,
    penalty_strength,
    positive,
    refits,
    seed,
    setting,
    shares,
    some,
    strength,
)

COMMANDS = {
    "select": "choose the variables of a table that explain a response",
    "compare": "several methods side by side: who selects whom, and held-out errors",
    "predict": "predict new rows with a saved model",
    "report": "write the HTML report of a selection saved as JSON",
    "image": "take noise out of a picture, or fill its gaps in",
    "demo": "select among 64 variables of the embedded diabetes table",
    "methods": "list the methods of selection",
    "reproduce": "run published studies again, paper and ours side by side",
    "texts": "say which class, function or study has an equation or figure of the source texts",
    "warmup": "compile everything now, so that the first fit is quick",
    "completion": "print a script that lets bash, zsh or fish complete commands and options",
}

# Options of a method's settings, which are None where nobody gave them.
_SETTINGS = (
    "method", "gamma", "expected_size", "penalty", "alpha", "bound", "l1_ratio",
    "rule", "stability", "threads",
)  # fmt: skip
# Options whose value may begin with a minus sign, which argparse would take for an option.
_SIGNED = ("--gamma", "--na")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the settings of one command; raises `UsageError` with one line that helps."""
    parser = make_parser()
    given = list(arguments)
    if given and not given[0].startswith("-") and given[0] not in COMMANDS:
        hint = suggestion(given[0], COMMANDS) or f"; known are {', '.join(COMMANDS)}"
        raise UsageError(f"there is no command {given[0]!r}{hint}")
    if given and given[0] == "reproduce":
        return argparse.Namespace(command="reproduce", debug=False, arguments=given[1:])
    command = given[0] if given and given[0] in COMMANDS else None
    known = _options_of(parser, command)
    for word in (word.partition("=")[0] for word in given):
        if word.startswith("--") and word not in (*known, "--"):
            hint = suggestion(word, known)
            raise UsageError(f"{command or 'garrote'} has no option {word}{hint}", command)
    try:
        options, unknown = parser.parse_known_args(_with_signs_attached(given))
    except UsageError as error:
        raise UsageError(str(error), command) from None
    if unknown:
        raise UsageError(f"{command or 'garrote'} cannot use {unknown[0]!r}", command)
    if command is None:
        raise UsageError("name a command: " + ", ".join(COMMANDS))
    options.words = ["garrote", *given]
    return options


class _Parser(argparse.ArgumentParser):
    """Raises instead of printing the usage and leaving."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message.replace("argument ", "", 1))


def make_parser(command: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of the whole command line, or of one command."""
    parser = _Parser(
        prog="garrote",
        description="Which variables matter, how sure can I be, and can I trust the optimiser?",
        epilog="garrote COMMAND --help tells about a command. Exit codes: 0 done, 1 error, "
        "2 wrong command line, 3 not converged.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"garrote {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, purpose in COMMANDS.items():
        added = commands.add_parser(
            name, help=purpose, description=purpose[0].upper() + purpose[1:] + ".",
            allow_abbrev=False,
        )  # fmt: skip
        added.add_argument("--debug", action="store_true", help=argparse.SUPPRESS)
        _DETAILS.get(name, lambda _: None)(added)
    return commands.choices[command] if command else parser


def _select(command: argparse.ArgumentParser) -> None:
    command.epilog = "Example: garrote select data.csv --target y --report out.html"
    command.add_argument(
        "file", nargs="?",
        help="CSV, TSV, .xlsx, Parquet, Arrow, Feather or .npz file; - reads standard input; or "
        "genotypes of PLINK or BGEN (.bed, .pgen, .bgen; 'chr*.bed' for several)",
    )  # fmt: skip
    command.add_argument("--target", metavar="COLUMN", help="the response")
    command.add_argument(
        "--max-memory", type=positive, metavar="GB",
        help="a Parquet or Arrow file that is larger as numbers is read in blocks (default: half of "
        "the free memory)",
    )  # fmt: skip
    add_survival(command)
    _add_zscores(command)
    add_genotypes(command)
    _add_columns(command)
    _add_method(command)
    output = command.add_argument_group("output")
    output.add_argument("--report", metavar="FILE", help="write an HTML report")
    output.add_argument("--json", metavar="FILE", help="write all results as JSON (- prints them)")
    output.add_argument(
        "--table", metavar="FILE", help="write the table of all variables, as .csv or .xlsx"
    )
    output.add_argument("--save", metavar="FILE", help="save the model for garrote predict")
    output.add_argument("--top", type=count, default=30, metavar="N", help="rows of the table")
    output.add_argument("--quiet", action="store_true", help="print the selected names only")


def _add_zscores(command: argparse.ArgumentParser) -> None:
    summary = command.add_argument_group("z-scores in place of a table")
    summary.add_argument(
        "--zscores", metavar="FILE", help="table with a column z, or beta and se, and one of names"
    )
    summary.add_argument(
        "--ld", metavar="FILE", help="correlations of the variables: .npz, .npy, CSV or TSV"
    )
    summary.add_argument(
        "--n",
        type=positive,
        metavar="N",
        help="samples behind the z-scores (default: the column N)",
    )
    summary.add_argument(
        "--mismatch", type=mismatch, metavar="S", default="estimate",
        help="0 if LD is of the same samples; else how far it is from theirs, up to 1 (default: "
        "estimated)",
    )  # fmt: skip


def _add_columns(command: argparse.ArgumentParser) -> None:
    columns = command.add_argument_group("columns (comma-separated names; * matches any text)")
    for name, meaning in (
        ("--include", "use these columns only"),
        ("--exclude", "leave these columns out"),
        ("--covariates", "always in the model, never penalised"),
    ):
        columns.add_argument(
            name, type=names, action="extend", default=[], metavar="A,B", help=meaning
        )
    columns.add_argument("--weights", metavar="COLUMN", help="weights of the rows")
    columns.add_argument("--groups", metavar="COLUMN", help="rows of a group share a fold")
    columns.add_argument(
        "--offset", metavar="COLUMN",
        help="a known part of the linear predictor, such as the logarithm of an exposure",
    )  # fmt: skip
    columns.add_argument(
        "--levels", choices=("together", "separate"),
        help="levels of a word are one variable, in or out together (default), or a variable each",
    )  # fmt: skip
    # Words and dates are coded without being asked; older commands still say so.
    columns.add_argument("--encode", action="store_true", help=argparse.SUPPRESS)
    columns.add_argument(
        "--categories", type=names, action="extend", default=[], metavar="A,B",
        help="code these as words, whatever they hold; of a target: labels of classes",
    )  # fmt: skip
    columns.add_argument(
        "--na", type=names, action="extend", default=[], metavar="TEXT,TEXT",
        help="texts that mean a missing value, beside blank cells and, among numbers, NA, n/a, -, ? and "
        "the like; COLUMN:TEXT means one in that column alone",
    )  # fmt: skip
    columns.add_argument(
        "--missing", choices=("error", "drop", "drop-most", "mean", "impute"), default="error",
        help="drop rows with missing values (drop refuses to lose more than half, drop-most does not), "
        "fill in means, or impute several times and pool the posteriors (default: refuse); rows "
        "without a target are always dropped, blanks among words are a level",
    )  # fmt: skip
    columns.add_argument(
        "--imputations", type=count, default=10, metavar="M",
        help="how often --missing impute imputes (default 10)",
    )  # fmt: skip
    _add_sheet(columns)
    _add_terms(command)


def _add_sheet(command: Any) -> None:
    command.add_argument(
        "--sheet",
        metavar="SHEET",
        help="name or number of the sheet of a workbook (default: first)",
    )


def _add_terms(command: argparse.ArgumentParser) -> None:
    terms = command.add_argument_group("beyond the columns themselves")
    for name, meaning in (
        (
            "--interactions",
            "all pairs of variables, or of those named; in only with both of the pair",
        ),
        ("--curves", "effects of numbers may be curves: of all, or of those named"),
    ):
        terms.add_argument(
            name, type=some, nargs="?", const=(), default=None, metavar="A,B", help=meaning
        )
    terms.add_argument(
        "--formula", metavar="F", help="the terms as in R: 'y ~ a*b + C(site) + bs(x, 4) + log(z)'"
    )


def _add_method(command: argparse.ArgumentParser) -> None:
    method = command.add_argument_group("method")
    method.add_argument(
        "--method", metavar="NAME",
        help="see garrote methods (default: spike-slab, or garrote beyond 5,000 columns; with "
        "--penalty lasso)",
    )  # fmt: skip
    method.add_argument(
        "--gamma", type=strength, metavar="G",
        help="prior log odds, or cv (default), or free_energy",
    )  # fmt: skip
    method.add_argument(
        "--expected-size", type=positive, metavar="M", help="variables expected a priori"
    )
    method.add_argument(
        "--family", metavar="NAME",
        help="what the response is: gaussian (numbers), huber (numbers with outliers), quantile (of "
        "numbers), poisson or negative-binomial (counts), gamma or inverse-gaussian (positive numbers), "
        "tweedie (zeros and positive numbers), binomial or probit (0 and 1), multinomial (labels of "
        "classes; words are such without being asked), or cox (times until an event: see --time); "
        "settings stand in parentheses, as in 'tweedie(1.6)'",
    )  # fmt: skip
    method.add_argument(
        "--penalty", metavar="NAME", help="lasso, elastic-net, mcp, group-lasso, ..."
    )
    method.add_argument(
        "--alpha", type=penalty_strength, metavar="A",
        help="strength of the penalty: a number, or cv (default), bic, ebic or square-root",
    )  # fmt: skip
    method.add_argument(
        "--bound", type=bound, metavar="B",
        help="in place of --alpha: the best fit whose penalty (lasso: the l1 norm) is at most B",
    )  # fmt: skip
    method.add_argument(
        "--l1-ratio", type=shares, metavar="R",
        help="of --penalty elastic-net: the share of l1, or several as .1,.5,.9 to choose from",
    )  # fmt: skip
    method.add_argument(
        "--cv", type=folds, metavar="K",
        help="folds (default 5); methods that choose nothing by folds are measured on them, beside "
        "the null model and the lasso",
    )  # fmt: skip
    method.add_argument(
        "--rule", choices=("min", "1se"), help="which strength of the curve to take"
    )
    method.add_argument(
        "--stability", type=refits, metavar="B",
        help="fits to random 90 %% of the rows: are the same variables selected again? (default: 20 "
        "up to 300,000 cells, of labels and counts up to 10,000; 0: none)",
    )  # fmt: skip
    method.add_argument("--annotations", metavar="FILE", help="of variables: names, then numbers")
    _add_error_control(method)
    method.add_argument("--seed", type=seed, default=0, metavar="S", help="default 0")
    method.add_argument("--threads", type=count, metavar="T", help="default: as many as help")
    method.add_argument(
        "--set", type=setting, action="append", default=[], metavar="NAME=VALUE",
        help="any other setting of the method or penalty; lists as 0.1,0.2, columns' numbers as "
        "age:0,dose:2",
    )  # fmt: skip


def _add_error_control(method: Any) -> None:
    method.add_argument(
        "--control", metavar="NAME",
        help="bound false selections, by fits to many halves of the rows (stability), to bootstrap "
        "samples (bolasso), or beside copies of the columns (knockoffs); with --method lasso by default",
    )  # fmt: skip
    method.add_argument(
        "--fdr", type=float, metavar="Q",
        help="with --control: which share of those selected may be false",
    )  # fmt: skip


def _compare(command: argparse.ArgumentParser) -> None:
    command.epilog = "Example: garrote compare data.csv --target y"
    # Methods are compared with their own settings.
    # Rows held out are picked from all of them, which must be at hand.
    command.set_defaults(set=[], max_memory=math.inf, **dict.fromkeys((*_SETTINGS, *OPTIONS)))
    command.add_argument("file", help="a table, as of garrote select")
    command.add_argument("--target", metavar="COLUMN", help="the response")
    _add_columns(command)
    method = command.add_argument_group("methods")
    method.add_argument(
        "--methods", type=names, action="extend", default=[], metavar="A,B",
        help="see garrote methods (default: one of each kind)",
    )  # fmt: skip
    method.add_argument(
        "--family", metavar="NAME",
        help="what the response is: gaussian (numbers), poisson or negative-binomial (counts), or "
        "multinomial (labels)",
    )  # fmt: skip
    method.add_argument("--cv", type=folds, default=5, metavar="K", help="folds (default 5)")
    method.add_argument("--seed", type=seed, default=0, metavar="S", help="default 0")
    output = command.add_argument_group("output")
    output.add_argument(
        "--report", default="garrote-compare.html", metavar="FILE",
        help="the page (default garrote-compare.html)",
    )  # fmt: skip
    output.add_argument("--top", type=count, default=30, metavar="N", help="rows of the table")


def _predict(command: argparse.ArgumentParser) -> None:
    command.epilog = "Example: garrote predict model.garrote new.csv --output predictions.csv"
    command.add_argument("model", help="a file written by garrote select --save")
    command.add_argument(
        "file", help="new rows, with the same column names; - reads standard input"
    )
    command.add_argument(
        "--output", metavar="FILE", help="file to write, .csv or .xlsx (default: print CSV)"
    )
    command.add_argument(
        "--keep", type=names, action="extend", default=[], metavar="A,B",
        help="columns to carry over to the output, such as an identifier",
    )  # fmt: skip
    command.add_argument(
        "--offset", metavar="COLUMN",
        help="the known part of the linear predictor (default: the column that was in the fit)",
    )  # fmt: skip
    command.add_argument("--missing", choices=("error", "mean"), default="error",
                         help="fill in the means of the fitted table (default: refuse)")  # fmt: skip
    add_times(command)
    _add_sheet(command)


def _report(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", help="JSON written by garrote select --json")
    command.add_argument("--output", metavar="FILE", help="default: the same name with .html")


def _demo(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--report", default="garrote-demo.html", metavar="FILE", help="default garrote-demo.html"
    )


def _completion(command: argparse.ArgumentParser) -> None:
    command.epilog = 'Example: eval "$(garrote completion bash)"'
    command.add_argument("shell", choices=("bash", "zsh", "fish"), help="for which shell")


def _texts(command: argparse.ArgumentParser) -> None:
    command.epilog = "Example: garrote texts murphy 13.31"
    command.add_argument(
        "text", nargs="?", help="vg, vo, lecture, murphy or iba (default: lists them)"
    )
    command.add_argument(
        "place", nargs="*", help="a number, such as 13.31 or figure 3 (default: all of the text)"
    )


_DETAILS = {
    "select": _select,
    "compare": _compare,
    "predict": _predict,
    "report": _report,
    "image": add_image,
    "demo": _demo,
    "completion": _completion,
    "texts": _texts,
}


def _with_signs_attached(arguments: Sequence[str]) -> list[str]:
    attached: list[str] = []
    for word in arguments:
        if attached and attached[-1] in _SIGNED:
            attached[-1] += f"={word}"
        else:
            attached.append(word)
    return attached


def _options_of(parser: argparse.ArgumentParser, name: str | None) -> list[str]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction) and name in action.choices:
            parser = action.choices[name]
    return [option for action in parser._actions for option in action.option_strings]
