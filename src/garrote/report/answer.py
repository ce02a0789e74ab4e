"""The answer in two sentences: which variables, how sure, how good."""

from collections.abc import Mapping, Sequence
from typing import Any

from garrote.report.held_out import held_out_sentences
from garrote.report.sources import certificate_sentences
from garrote.report.wording import (
    amount,
    counted,
    enumeration,
    in_words,
    isolated,
    joined,
    probability,
    readable,
)
from garrote.results.selections.evidence import (
    FREQUENCY,
    Q_VALUE,
    STANDARDISED,
    VARIATIONAL,
    is_certainty,
)
from garrote.results.selections.stability import NEARLY_ALWAYS

# Evidence beyond this is called nearly certain, where refits bear it out.
_SURE = 0.99
# More names than this are not all spelled out.
_MOST_NAMED = 12
# Credible sets that are told one by one, and variables that could be it in place of a selected one.
_MOST_SETS, _MOST_INSTEAD = 3, 3
# Classes whose variables are counted in the sentence.
_MOST_CLASSES = 8
# What a variable may have several effects on.
PLURAL = {"class": "classes", "response": "responses"}


def evidence_noun(document: Mapping[str, Any]) -> str:
    """Return one word for the kind of evidence: probability, frequency, ..."""
    words = document["evidence"].split()
    return readable(words[-1], 30) if words else "evidence"


def effect_scale(document: Mapping[str, Any]) -> str:
    """Return what of the response effects change, in words; "" for the response itself."""
    said = document.get("effect_scale", "")
    return readable(said, 30) if said else ""


def effect_units(document: Mapping[str, Any]) -> tuple[str, str]:
    """Return what effects change, and for how much of a variable, in words."""
    response, scale = readable(document["response"], 60), effect_scale(document)
    if scale == STANDARDISED:
        return f"{response} in {scale}", scale[:-1]
    return f"{scale} of {response}" if scale else response, "unit"


def answer(document: Mapping[str, Any]) -> list[str]:
    """Return the answer as sentences; what puts all of it in doubt comes first."""
    said = []
    if not document["converged"]:
        reservation = certificate_sentences(document["certificate"])[-1]
        said.append(f"Not converged: {reservation}, so take what follows as provisional.")
    doubts = (readable(text, 300) for text in document.get("doubts") or ())
    said += [f"{text[0].upper()}{text[1:]}." for text in doubts]
    return [
        *said,
        _which(document),
        *_promised(document),
        *_refitted(document),
        *_undecided(document),
        _how_good(document),
        *held_out_sentences(document),
    ]


def _which(document: Mapping[str, Any]) -> str:
    response = isolated(readable(document["response"]))
    fixed = document["always_in"]
    count = counted(document["n_variables"] - len(fixed), "variable")
    chosen = [v for v in document["variables"] if v["selected"] and v["name"] not in fixed]
    if not chosen:
        start = f"none of {count} was selected to explain {response}"
        return _beside(fixed, start + _next_best(document))
    names = [_or_another(document, v["name"]) + _of_class(v) for v in chosen]
    verb = "explains" if len(chosen) == 1 else "explain"
    many = len(names) > _MOST_NAMED
    listed = f"foremost {joined(names[:5])}" if many else joined(names, _MOST_NAMED)
    if document.get("classes"):
        start = f"{_by_class(document, count, response)}; {'foremost ' * (not many)}{listed}"
        return _beside(fixed, f"{start}; {_how_sure(document, chosen)}")
    pieces = document.get("pieces")
    shared = f", in {counted(pieces, 'piece')} of equal effects" if pieces else ""
    start = f"{document['n_selected']:,} of {count} {verb} {response}{shared}: {listed}"
    return _beside(fixed, f"{start}; {_how_sure(document, chosen)}")


def _by_class(document: Mapping[str, Any], count: str, response: str) -> str:
    """Say how many of so many variables matter for which of several classes."""
    found, chosen = document["classes"], document["n_selected"]
    counts = found["counts"]
    matter = f"{chosen:,} of {count} {'matters' if chosen == 1 else 'matter'}"
    if set(counts) == {chosen}:
        return f"{matter} for all {in_words(len(counts))} {PLURAL[found['kind']]} of {response}"
    told = [
        f"{number:,} for {isolated(readable(name))}"
        for name, number in zip(found["names"], counts, strict=True)
    ]
    return f"{matter} for some {found['kind']} of {response}: {joined(told, _MOST_CLASSES)}"


def _of_class(variable: Mapping[str, Any]) -> str:
    """Return in brackets which class a variable matters most to."""
    return f" ({isolated(readable(variable['class']))})" if variable.get("class") else ""


def _shared_sets(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the credible sets of several variables."""
    return [one for one in document.get("credible_sets") or [] if len(one["variables"]) > 1]


def _or_another(document: Mapping[str, Any], name: str) -> str:
    """Return the name of a selected variable, and which others could be meant in its place.

    Near copies cannot be told apart at all; others of its credible set hardly.
    """
    said = isolated(readable(name))
    copies = document["interchangeable"].get(name) or ()
    if copies:
        instead = [isolated(readable(other)) for other in copies[:_MOST_INSTEAD]]
        more = len(copies) - len(instead)
        listed = " or ".join([said, *instead, *([f"{more:,} more"] if more > 0 else [])])
        return f"{listed} (which nearly equal each other)"
    mine = next(
        (one["variables"] for one in _shared_sets(document) if name in one["variables"]), ()
    )
    others = [other for other in mine if other != name]
    if not others:
        return said
    if len(others) > _MOST_INSTEAD:
        return f"{said} (or one of {len(others):,} like it)"
    return f"{said} (or {' or '.join(isolated(readable(other)) for other in others)})"


def _undecided(document: Mapping[str, Any]) -> list[str]:
    """Say that one of several has an effect, where none of them was selected by itself."""
    selected = {v["name"] for v in document["variables"] if v["selected"]}
    sets = [one for one in _shared_sets(document) if selected.isdisjoint(one["variables"])]
    if not sets:
        return []
    told = [
        f"one of {enumeration(_readable(one['variables']), 5)} (probability "
        f"{probability(one['coverage'])})"
        for one in sets[:_MOST_SETS]
    ]
    if len(sets) > _MOST_SETS:
        told.append(f"one of each of {counted(len(sets) - _MOST_SETS, 'further set')}")
    found = len(selected.difference(document["always_in"]))
    start = ("But ", "Beside it ", "Beside these ")[min(found, 2)]
    have = "has an effect" if len(sets) == 1 else "have effects"
    listed = ", and ".join(told)
    return [f"{start}{listed} {have}; the others of a set resemble it too much to tell which."]


def _beside(fixed: Sequence[str], words: str) -> str:
    """Return a sentence that names the covariates first."""
    if not fixed:
        return f"{words[0].upper()}{words[1:]}."
    noun = "covariate" if len(fixed) == 1 else "covariates"
    return f"Beside the {noun} {enumeration(_readable(fixed), 4)}, {words}."


def _how_sure(document: Mapping[str, Any], chosen: Sequence[Mapping[str, Any]]) -> str:
    noun = evidence_noun(document)
    known = [v for v in chosen if v["probability"] is not None]
    if not known:
        return "the method does not state how sure that is"
    values = [v["probability"] for v in known]
    if document["evidence"] == Q_VALUE:
        return _range(noun, values)
    if not is_certainty(document["evidence"]):
        if len(chosen) == 1:
            return f"its {noun} is {probability(values[0])}"
        return "they are named in the order in which they enter as the penalty falls"
    if document["evidence"] == FREQUENCY:
        return _range(noun, values)
    if document["evidence"] == VARIATIONAL:
        are = "is" if len(values) == 1 else "are"
        return f"{_range(noun, values)}, which among correlated variables {are} too sure"
    sure = [v for v in known if v["probability"] > _SURE and _borne_out(document, v)]
    if not sure:
        return _range(noun, values)
    least = min(known, key=lambda v: v["probability"])
    if len(chosen) == 1:
        return f"it is nearly certain ({noun} above {_SURE})"
    if len(sure) == len(chosen):
        whole = "both" if len(sure) == 2 else f"all {in_words(len(sure))}"
        return f"{whole} are nearly certain ({noun} above {_SURE})"
    are = "is" if len(sure) == 1 else "are"
    return (
        f"{in_words(len(sure))} of them {are} nearly certain ({noun} above {_SURE}), the least sure is "
        f"{isolated(readable(least['name']))} ({probability(least['probability'])})"
    )


def _range(noun: str, values: Sequence[float]) -> str:
    """Return the evidence of the selected variables, from the least to the most."""
    if len(values) == 1:
        return f"its {noun} is {probability(values[0])}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    low, high = probability(min(values)), probability(max(values))
    return f"their {plural} are {low} to {high}" if low != high else f"their {plural} are {low}"


def _borne_out(document: Mapping[str, Any], variable: Mapping[str, Any]) -> bool:
    """Tell whether refits found a variable again nearly always; where there were none, nothing is."""
    refits = (document.get("stability") or {}).get("refits", 0)
    return bool(refits and variable["found_again"] >= NEARLY_ALWAYS * refits)


def _promised(document: Mapping[str, Any]) -> list[str]:
    """Say what is promised of false selections, and what that rests on."""
    control = document.get("control")
    if control is None:
        return []
    said = [readable(one, 400) for one in (control["promise"], *control["asks"])]
    return [" ".join(f"{one[0].upper()}{one[1:]}." for one in said)]


def _refitted(document: Mapping[str, Any]) -> list[str]:
    """Say which selected variables refits did not find again."""
    said = document.get("stability") or {}
    rare = said.get("rare") or []
    if not rare:
        return []
    told = [
        f"{isolated(readable(one['name']))} in {one['found_again']} of {said['refits']}"
        for one in rare[:_MOST_SETS]
    ]
    if len(rare) > _MOST_SETS:
        told.append(f"{len(rare) - _MOST_SETS:,} more as rarely")
    return [
        f"But fits to random {100 * said['share']:g}\u00a0% of the rows find some of these in fewer "
        f"than half: {joined(told)}. Another sample may well point to other variables."
    ]


def _next_best(document: Mapping[str, Any]) -> str:
    others = [
        v
        for v in document["variables"]
        if v["name"] not in document["always_in"] and v["probability"] is not None
    ]
    if not others:
        return ""
    best = max(others, key=lambda v: v["probability"])
    return (
        f"; the nearest to it is {isolated(readable(best['name']))} "
        f"({evidence_noun(document)} {probability(best['probability'])})"
    )


def _how_good(document: Mapping[str, Any]) -> str:
    error, null = held_out(document)
    if error is None and document.get("consistency") is not None:
        return "How well it predicts was not measured: z-scores have no rows to hold out."
    if error is None:
        return (
            "How well it predicts rows that it has not seen was not measured: there was no "
            "validation."
        )
    measure = readable(document["validation"]["measure"], 60)
    start = f"On rows it had not seen the model's {measure} is {amount(error)}"
    if null is None:
        return start + "."
    less = 100 * (1 - error / null) if null > 0 else 0.0
    if less < 0.5:
        return f"{start}, no better than the {amount(null)} {null_model(document)}."
    return f"{start}, against {amount(null)} {null_model(document)} ({less:.0f}\u00a0% less)."


def null_model(document: Mapping[str, Any]) -> str:
    """Say what the null model knows: nothing, or the covariates."""
    count = len(document["always_in"])
    if not count:
        return "without any variable"
    return f"with the {'covariate' if count == 1 else 'covariates'} alone"


def held_out(document: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """Return the validation error at the strength in use and that of the null model."""
    validation, path = document["validation"], document["path"]
    if validation is None or not validation["mean"]:
        return None, None
    # Without a path there is one error, that of the answer.
    return validation["mean"][path["chosen"] if path else 0], validation["null"]


def _readable(names: Any) -> list[str]:
    return [readable(name) for name in names]
