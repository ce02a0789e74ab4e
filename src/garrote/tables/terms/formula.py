"""Formulas as in R, "y ~ a*b + C(site) + bs(x, 4)": formulaic reads them, terms are made here.

formulaic expands products, powers and differences to terms. What a factor may be is a list of its own,
below, so that neither a formula nor a saved model is ever run as code.
"""

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.summaries import listing
from garrote.tables.coding import CodedColumn, Coding
from garrote.tables.errors import TableError
from garrote.tables.terms.expansion import Factor, Term, blocks_of
from garrote.tables.terms.shapes import FUNCTIONS, Function, Levels, Parts, Power, Scaled, Shape
from garrote.tables.terms.splines import bs, natural, poly

_INSTALL = '--formula needs formulaic: run pip install "garrote[formula]"'
_QUOTED = re.compile(r"`([^`]*)`")
_MOST_WRITTEN = 60
# Splines and polynomials, what their numbers are called in turn, and these where they are not given.
_CURVES: dict[str, tuple[Callable[..., Shape], dict[str, Any]]] = {
    "bs": (bs, {"df": None, "degree": 3}),
    "cs": (natural, {"df": None}),
    "cr": (natural, {"df": None}),
    "ns": (natural, {"df": None}),
    "poly": (poly, {"degree": 1}),
}
_SCALES = ("center", "scale", "standardize")
_KNOWN = ("C", "I", *_CURVES, *_SCALES, *FUNCTIONS)


@dataclass(frozen=True)
class Written:
    """One factor of a formula as it is written: a column, and what is done to it."""

    text: str
    column: str
    function: str = ""
    numbers: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Formula:
    """A formula: what is explained, if it says so, and the factors of each term."""

    text: str
    response: str | None
    terms: tuple[tuple[Written, ...], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it names, in order."""
        return tuple(dict.fromkeys(factor.column for term in self.terms for factor in term))

    @property
    def categories(self) -> tuple[str, ...]:
        """The columns that it takes for words, whatever they hold."""
        return tuple(
            dict.fromkeys(f.column for term in self.terms for f in term if f.function == "C")
        )


def read_formula(text: str, available: Sequence[str] = ()) -> Formula:
    """Read a formula; ``available`` are the columns that "." stands for.

    Examples
    --------
    >>> from garrote.tables.terms.formula import read_formula
    >>> formula = read_formula("y ~ age*sex + log(dose)")
    >>> formula.response, [":".join(f.text for f in term) for term in formula.terms]
    ('y', ['age', 'sex', 'log(dose)', 'age:sex'])
    """
    try:
        import formulaic
        from formulaic.errors import FormulaicError
    except ImportError as error:
        raise ImportError(_INSTALL) from error
    context = {"__formulaic_variables_available__": list(available)}
    try:
        read: Any = formulaic.Formula(text, _context=context)
    except (FormulaicError, SyntaxError, ValueError) as error:
        reason = str(error).strip().splitlines()[:1] or ["it is no formula"]
        why = f"cannot be read ({reason[0]}): write it as 'y ~ a*b + C(site)'"
        raise _refused(text, why) from None
    right = getattr(read, "rhs", read)
    left = getattr(read, "lhs", None)
    if isinstance(right, tuple) or not hasattr(right, "__iter__"):
        raise _refused(text, "has several parts: leave out |")
    terms = [tuple(_written(text, factor) for factor in term.factors) for term in right]
    constant = [term for term in terms if _is_constant(term)]
    if not constant:
        raise _refused(
            text,
            "leaves out the intercept: leave out '0 +' or '- 1', or give --set fit_intercept=false "
            "beside the formula",
        )
    kept = tuple(term for term in terms if not _is_constant(term))
    if not kept:
        raise _refused(text, "has no variable: name some behind ~")
    return Formula(text, _response(text, left), kept)


def formula_terms(formula: Formula, coding: Coding, X: Floats) -> list[Term]:
    """Return the terms of a formula, made from the rows fitted to."""
    known = {column.name: column for column in coding.columns}
    blocks = blocks_of(coding, X)
    keys = [frozenset(factor.text for factor in term) for term in formula.terms]
    names = {
        key: ":".join(_text(w, known[w.column]) for w in term)
        for key, term in zip(keys, formula.terms, strict=True)
    }
    made = []
    for key, term in zip(keys, formula.terms, strict=True):
        factors = tuple(
            Factor(
                w.column,
                _text(w, known[w.column]),
                _shape(
                    formula.text,
                    w,
                    known[w.column],
                    blocks[w.column],
                    reduced=len(key) == 1 or key - {w.text} in keys,
                    alone=len(key) == 1,
                ),
            )
            for w in term
        )
        parents = tuple(names[other] for other in keys if other < key)
        made.append(Term(factors, _kind(term, factors, known), names[key], parents))
    return made


def _is_constant(term: Sequence[Written]) -> bool:
    return [factor.text for factor in term] == ["1"]


def _refused(text: str, why: str) -> TableError:
    short = text if len(text) <= _MOST_WRITTEN else text[:_MOST_WRITTEN] + "..."
    return TableError(f"--formula {short!r} {why}")


def _response(text: str, left: Any) -> str | None:
    """Return the column that is explained, None if a formula does not say."""
    if left is None:
        return None
    found = [factor for term in left for factor in term.factors]
    if len(found) != 1 or found[0].eval_method.value != "lookup":
        raise _refused(
            text, "must have one column before ~: put a function of it into the table as a column"
        )
    return str(found[0].expr)


def _written(text: str, factor: Any) -> Written:
    """Return a factor of a formula, taken apart."""
    expression = str(factor.expr)
    if factor.eval_method.value in ("lookup", "literal"):
        if factor.eval_method.value == "literal" and expression != "1":
            raise _refused(text, f"has the number {expression} among its variables: leave it out")
        return Written(expression, expression)
    quoted = _QUOTED.findall(expression)
    plain = _QUOTED.sub(lambda found: f"__column_{quoted.index(found[1])}", expression)
    names = {f"__column_{k}": name for k, name in enumerate(quoted)}
    try:
        call = ast.parse(plain, mode="eval").body
        return _call(expression, call, names)
    except (SyntaxError, _UnknownPartError):
        known = listing(_KNOWN, str)
        raise _refused(
            text, f"has {expression!r}, and a factor is a column or one of {known} of a column, as "
            "log(dose), I(dose**2) or bs(dose, 4): make others in the table"
        ) from None  # fmt: skip


class _UnknownPartError(ValueError):
    """A part of a factor that is none of those that are known."""


def _call(text: str, call: ast.expr, names: dict[str, str]) -> Written:
    """Return a call of a known function of one column."""
    if not (isinstance(call, ast.Call) and call.args):
        raise _UnknownPartError
    function, first = _function(call.func), call.args[0]
    if function == "I":
        return _power(text, first, names)
    if function not in _KNOWN or not isinstance(first, ast.Name):
        raise _UnknownPartError
    column = names.get(first.id, first.id)
    settings = _CURVES[function][1] if function in _CURVES else {}
    given = dict(zip(settings, call.args[1:], strict=False))
    given |= {str(word.arg): word.value for word in call.keywords}
    if len(call.args) - 1 > len(settings) or not set(given) <= set(settings):
        raise _UnknownPartError
    numbers = {**settings, **{name: _number(value) for name, value in given.items()}}
    if any(value is None or value < 1 or value != int(value) for value in numbers.values()):
        raise _UnknownPartError
    return Written(text, column, function, tuple(numbers.items()))


def _function(func: ast.expr) -> str:
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
        return func.attr if func.value.id in ("np", "numpy") and func.attr in FUNCTIONS else ""
    return func.id if isinstance(func, ast.Name) else ""


def _power(text: str, part: ast.expr, names: dict[str, str]) -> Written:
    if isinstance(part, ast.Name):
        return Written(text, names.get(part.id, part.id), "power", (("exponent", 1.0),))
    if not (isinstance(part, ast.BinOp) and isinstance(part.op, ast.Pow | ast.BitXor)):
        raise _UnknownPartError
    if not isinstance(part.left, ast.Name):
        raise _UnknownPartError
    column = names.get(part.left.id, part.left.id)
    return Written(text, column, "power", (("exponent", _number(part.right)),))


def _number(value: ast.expr) -> float:
    sign = 1.0
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        sign, value = -1.0, value.operand
    if not (isinstance(value, ast.Constant) and type(value.value) in (int, float)):
        raise _UnknownPartError
    return sign * float(value.value)  # type: ignore[arg-type]


def _text(written: Written, column: CodedColumn) -> str:
    """Return how a factor is called: a column of words by its own name, which its levels have."""
    return column.name if written.function == "C" or column.kind == "word" else written.text


def _kind(term: Sequence[Written], factors: Sequence[Factor], known: dict[str, CodedColumn]) -> str:
    if len(term) > 1:
        return "interaction"
    column = known[term[0].column]
    if column.kind == "word":
        return "levels"
    if column.kind == "date":
        return "parts"
    return "curve" if term[0].function in _CURVES else "column"


def _shape(
    text: str, written: Written, column: CodedColumn, block: Floats, *, reduced: bool, alone: bool
) -> Shape:
    """Return the shape of a factor.

    Where the term without the factor is in the model (``reduced``), levels leave the reference out, and
    a number in a product is taken from its mean: the same functions can be fitted, and the effects of
    the other factors are those at the mean.
    """
    function, numbers = written.function, dict(written.numbers)
    if column.kind in ("word", "date"):
        if function not in ("", "C"):
            what = f"{column.name!r} is a column of {column.kind}s"
            raise _refused(text, f"has {written.text}, but {what}: write its name alone")
        whole = None if reduced else column.reference
        return Levels(whole) if column.kind == "word" else Parts()
    x = block[:, 0]
    x = x[np.isfinite(x)]
    if function in _CURVES:
        try:
            return _CURVES[function][0](x, **{name: int(value) for name, value in numbers.items()})
        except TableError as error:
            raise _refused(text, f"has {written.text}: {error}") from None
    if function in _SCALES:
        spread = 1.0 if function == "center" else float(x.std()) or 1.0
        return Scaled(float(x.mean()), spread)
    if function == "power":
        return Power(numbers["exponent"])
    if function in FUNCTIONS:
        return Function(function)
    return Scaled(float(x.mean())) if reduced and not alone else Scaled()
