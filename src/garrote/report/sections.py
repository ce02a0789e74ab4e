"""What each section of the page says in words."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from garrote.report.answer import PLURAL, effect_scale, effect_units, evidence_noun
from garrote.report.pictures import apart_ranges, has_branches
from garrote.report.rows import known_deviation
from garrote.report.sources import (
    certificate_sentences,
    certificate_words,
    citation,
    evidence_words,
    own_citation,
    strength_words,
)
from garrote.report.wording import (
    amount,
    at_most,
    brief,
    counted,
    ended,
    enumeration,
    exponent,
    in_words,
    isolated,
    probability,
    readable,
    sentence,
)
from garrote.results.selections.evidence import STANDARDISED, is_certainty

_MOST_STAND_INS = 40
_MOST_LISTED = 20
_MOST_MODELS = 10
_CERTAIN_MODEL = 0.95
# Free energies are logarithms of odds: solutions closer than this are within a factor of twenty.
_CLOSE_CALL = 3.0
_DRAWN = (
    " Beside it stands the effect of one standard deviation (SD) of the variable, which can be compared "
    "between variables of any units; the dots are on that scale."
)
_RULES = {
    "1se": "the sparsest model whose error is within one standard error of the least",
    "min": "the model of least error",
}


def warnings(document: Mapping[str, Any]) -> list[str]:
    """Return all warnings, each a sentence, but for doubts, which the answer begins with."""
    listed = [*document["interchangeable"], *(one["name"] for one in document["variables"])]
    names = tuple(f"{name}{after}" for name in listed for after in " ,")
    return [
        # A variable's name at the beginning keeps its own letters.
        ended(readable(text)) if text.startswith(names) else sentence(readable(text))
        for text in document["warnings"]
        if text not in document.get("doubts", ())
    ]


def variables_words(document: Mapping[str, Any]) -> str:
    """Say what evidence and effects in the table are."""
    response = isolated(readable(document["response"]))
    scale, (_, per) = effect_scale(document), effect_units(document)
    if scale == STANDARDISED:
        changes = f"how many {scale} {response} changes"
    else:
        verb = "change" if scale.endswith("s") else "changes"
        what = f"the {scale} of {response} {verb}" if scale else f"{response} changes"
        changes = f"how much {what}"
    about, remark = evidence_words(document["evidence"])
    classes = document.get("classes")
    strongest = (
        f" Of several {PLURAL[classes['kind']]} it is the effect on the one named."
        if classes
        else ""
    )
    drawn = _DRAWN if any(known_deviation(v) for v in document["variables"]) else ""
    return (
        f"{about}, and by {changes} for one {per} of it, all others held fixed.{strongest}{drawn} "
        f"Selected variables are set in bold.{_found_again(document)}{remark}"
    )


def _found_again(document: Mapping[str, Any]) -> str:
    """Say what "found again" counts, where there were refits."""
    made = document.get("stability")
    if not made:
        return ""
    share = f"{100 * made['share']:g}\u00a0%"
    fits = f"{made['refits']} fits to random {share} of the rows"
    return f" Found again: in how many of {fits} it was selected."


def unlisted(document: Mapping[str, Any], shown: int) -> str:
    """Say which variables have no row, and that nothing is hidden in them."""
    cut = len(document["variables"]) - shown
    said = []
    if cut:
        said.append(f"{counted(cut, 'further listed variable')} in the JSON document only.")
    count = document["unlisted"]["count"]
    largest = document["unlisted"].get("largest_probability")
    if count:
        bound = "" if largest is None else f", each of {evidence_noun(document)} {at_most(largest)}"
        said.append(f"{counted(count, 'other variable')} not listed{bound}.")
    if constant := len(document["constant"]):
        said.append(f"{counted(constant, 'column')} without variation cannot be selected.")
    return " ".join(said)


def path_words(document: Mapping[str, Any]) -> dict[str, str] | None:
    """Say what the strength is and where the path ends."""
    path = document["path"]
    if path is None or len(path["strengths"]) < 2:
        return None
    strength = readable(path["strength"], 30)
    cut = sentence(readable(path["cut"], 300)) if path["cut"] else ""
    chosen = amount(path["strengths"][path["chosen"]])
    decimals = 1 if is_certainty(document["evidence"]) else 0
    return {
        "strength": strength,
        "meaning": strength_words(strength)[1],
        "cut": cut,
        "chosen": chosen,
        "size": amount(path["expected_size"][path["chosen"]], decimals),
    }


def branch_words(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """Say where forward and backward solutions differ, and what it means for trust."""
    path = document["path"]
    if path is None or not has_branches(path):
        return None
    strength = readable(path["strength"], 30)
    ranges = apart_ranges(path)
    if not ranges:
        words = (
            "The path was followed forwards and then backwards, and both passes found the same "
            f"solution at every {strength}: the answer does not depend on the direction from which "
            "it was approached."
        )
        return {"words": words, "drawn": False}
    gaps = [
        0.0 if None in (f, b) else b - f
        for f, b in zip(path["energies"]["forward"], path["energies"]["backward"], strict=True)
    ]
    where = (
        f"Forward and backward solutions differ in {in_words(len(ranges))} "
        f"{'range' if len(ranges) == 1 else 'ranges'} of {strength} between {amount(ranges[0][0])} "
        f"and {amount(ranges[-1][1])} (shaded), by up to {max(map(abs, gaps)):.2g} in free energy; "
        "everywhere the better of the two is used."
    )
    here = path["strengths"][path["chosen"]]
    inside = any(low <= here <= high for low, high in ranges)
    trust = _trust(f"{strength} = {amount(here)}", gaps[path["chosen"]] if inside else None)
    return {"words": f"{where} {trust}", "drawn": True}


def _trust(chosen: str, gap: float | None) -> str:
    """Say what the two passes mean for the answer; ``gap`` is None where they agree."""
    if gap is None:
        return (
            f"At the chosen {chosen} both passes found the same solution, which speaks for the "
            "answer."
        )
    worse = "backward" if gap > 0 else "forward"
    other = (
        f"At the chosen {chosen} the {worse} pass ended in another solution, worse by "
        f"{abs(gap):.2g}: "
    )
    if abs(gap) >= _CLOSE_CALL:
        return other + "the one shown is clearly the better of the two."
    return other + (
        "two sets of variables explain the data almost equally well, so take the choice between "
        "correlated variables with care. A third solution could be better still; more starts would "
        "tell."
    )


def validation_words(document: Mapping[str, Any]) -> str:
    """Say how the errors were measured and which rule chose."""
    found = document["validation"]
    if found is None:
        return f"There was no validation. The choice: {readable(document['rule'], 200)}."
    if not found["rule"]:
        return (
            f"Mean {readable(found['measure'], 60)} over {found['folds']} folds: all of the method was "
            "run again without each of them, and then predicted it. Nothing was chosen by that."
        )
    rule = _RULES.get(found["rule"], readable(found["rule"], 60))
    return (
        f"Mean {readable(found['measure'], 60)} over {found['folds']} folds that took no part in the "
        f"fitting, with a band of one standard error. The rule chose {rule}."
    )


def stand_ins(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return, for selected variables, who could take their place: interchangeable ones first."""
    found = document["stand_ins"]
    same = document["interchangeable"]
    if found is None and not same:
        return None
    near = {entry["variable"]: entry["others"] for entry in found["near"]} if found else {}
    ordered = [*same, *(name for name in near if name not in same)]
    items = [
        {
            "name": readable(name, 200),
            "label": brief(readable(name)),
            "same": enumeration([readable(o) for o in same.get(name, ())], 12),
            "near": ", ".join(
                f"{isolated(readable(o['name']))} ({amount(o['correlation'], 2)})"
                for o in near.get(name, ())[:8]
                if o["name"] not in same.get(name, ())
            ),
        }
        for name in ordered[:_MOST_STAND_INS]
    ]
    threshold = amount(found["threshold"], 2).rstrip("0") if found else None
    return {
        "entries": items,
        "more": max(0, len(ordered) - _MOST_STAND_INS),
        "without": document["n_selected"] - len(ordered),
        "threshold": threshold,
        "where": " in what is left of LD" if document["provenance"].get("mismatch") else "",
    }


def credible_sets(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return sets of variables of which one matters; None where each set is of one variable."""
    found = document.get("credible_sets") or []
    if not any(len(one["variables"]) > 1 for one in found):
        return None
    rows = [
        {
            "number": number,
            "names": _set_names(one),
            "coverage": probability(one["coverage"]),
            "purity": amount(one["purity"], 2) if len(one["variables"]) > 1 else "–",
            "evidence": amount(one["log_bayes_factor"], 1),
        }
        for number, one in enumerate(found, start=1)
    ]
    shared = sum(len(one["variables"]) > 1 for one in found)
    which = "one set has" if shared == 1 else f"{in_words(shared)} sets have"
    stated = any(one["log_bayes_factor"] is not None for one in found)
    words = (
        f"Of each set at least one variable has an effect; {which} several variables, which resemble "
        "each other so much that the data do not tell which one it is. A set, not one of its "
        "variables, is what was found."
    )
    more = max(0, len(rows) - _MOST_STAND_INS)
    return {"rows": rows[:_MOST_STAND_INS], "words": words, "stated": stated, "more": more}


def _set_names(one: Mapping[str, Any]) -> str:
    """Return who is in a set, each with its probability; "one of three" where there are several."""
    members = list(zip(one["variables"], one["probability"], strict=True))
    if len(members) == 1:
        return isolated(readable(members[0][0]))
    listed = [f"{isolated(readable(name))} ({probability(p)})" for name, p in members]
    more = len(listed) - _MOST_LISTED
    rest = f" and {more:,} more" if more > 0 else ""
    return f"one of these {in_words(len(listed))}: {', '.join(listed[:_MOST_LISTED])}{rest}"


def models(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the most probable models as rows of a table, and what to make of them."""
    found = document.get("models")
    if found is None or not found["probability"]:
        return None
    rows = [
        {
            "rank": rank,
            "probability": probability(chance),
            "size": size,
            "names": _model_names(found["variables"], effects, size),
        }
        for rank, (chance, size, effects) in enumerate(
            zip(found["probability"], found["size"], found["effect"], strict=True), start=1
        )
    ][:_MOST_MODELS]
    return {"rows": rows, "words": _model_words(found["probability"], len(rows))}


def _model_names(names: Sequence[str], effects: Sequence[float | None], size: int) -> str:
    """Return the variables of one model; some may be beyond those that the document lists."""
    shown = [readable(n) for n, e in zip(names, effects, strict=True) if e is not None]
    unlisted = size - len(shown)
    if not size:
        return "no variable"
    if unlisted > 0:
        return ", ".join(isolated(name) for name in shown) + f" and {unlisted} not listed"
    return enumeration(shown, most=_MOST_LISTED)


def _model_words(chances: Sequence[float], shown: int) -> str:
    """Say how much one should make of the best model."""
    best = chances[0]
    if best >= _CERTAIN_MODEL:
        verdict = "One model has nearly all of the probability."
    elif best >= 0.5:
        verdict = "One model is more probable than all others together."
    else:
        verdict = (
            f"No single model is probable: the best has {probability(best)}. Read the variables one by "
            "one above, and the models for who goes with whom."
        )
    if shown == 1:
        return verdict
    return f"{verdict} The {shown} shown have {probability(min(sum(chances[:shown]), 1.0))} in all."


def computed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return how it was computed: facts, settings, versions, certificate and citations."""
    made = document["provenance"]
    versions = made.get("versions") if isinstance(made.get("versions"), dict) else {}
    settings = made.get("settings") if isinstance(made.get("settings"), dict) else {}
    certificate = document["certificate"]
    tol = settings.get("tol")
    facts = [
        ("Method", document["method"]),
        ("Data", made.get("source")),
        ("Choice", document["rule"]),
        ("Folds", (document["validation"] or {}).get("folds")),
        ("Evidence", document["evidence"]),
        ("Rows" if document.get("consistency") is None else "Samples", made.get("n_rows")),
        ("LD mismatch", made.get("mismatch")),
        ("Columns", made.get("n_columns")),
        ("Covariates", document["always_in"] or None),
        ("Total weight", made.get("total_weight")),
        ("Noise variance", document["noise_variance"]),
        ("Seed", "none given" if made.get("seed") is None else str(made["seed"])),
        ("Data fingerprint", made.get("fingerprint")),
    ]
    sources = [citation(document), own_citation(_text(versions.get("garrote", "")))]
    meaning, reached, missed, _ = certificate_sentences(certificate)
    return {
        "facts": _texts(facts),
        "command": _command(made.get("command")),
        "settings": _texts(settings.items()),
        "versions": _texts(versions.items()),
        "certificate": exponent(certificate["value"]),
        "meaning": meaning,
        "reached": reached,
        "missed": missed,
        "tolerance": exponent(tol) if isinstance(tol, int | float) else None,
        "parts": [
            (readable(name, 60), exponent(value), certificate_words(name))
            for name, value in list(certificate["parts"].items())[:20]
        ],
        "sources": [readable(source) for source in sources if source],
    }


def _command(words: Any) -> str:
    """Return the words of a command as one line for a shell."""
    if not isinstance(words, list) or not words:
        return ""
    return readable(shlex.join(map(str, words)), 4000)


def _texts(facts: Iterable[tuple[str, Any]]) -> list[tuple[str, str]]:
    """Return facts as texts, without those that are not there."""
    shown = [(readable(str(key), 60), _text(value)) for key, value in list(facts)[:60]]
    return [(key, text) for key, text in shown if text]


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and abs(value) < 1e15:
        return f"{value:,}" if abs(value) >= 1e5 else str(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        more = f" and {len(value) - _MOST_LISTED:,} more" if len(value) > _MOST_LISTED else ""
        return ", ".join(readable(str(v), 60) for v in value[:_MOST_LISTED]) + more
    return readable(str(value), 200)
