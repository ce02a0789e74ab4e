"""The kinds of evidence for a variable, as methods name them, and beyond what it selects it."""

from garrote.arrays import Floats

# The evidence of a penalised path, whose last word is its noun as with every kind of evidence.
ENTRY = "alpha at which a variable enters, of the largest: entry"
# The evidence of a greedy search: 1 for what came first, falling evenly along the path.
ORDER = "place in the order in which variables enter, from 1 down: entry"
# The evidence of an annealed garrote: too sure among correlated columns, as every mean field is.
VARIATIONAL = "variational inclusion probability"
# The evidence where no variable is ever left out: how sure the sign of its effect is.
SIGN = "posterior sign probability"
# The evidence of resampling: in which share of the resamples a variable is selected. It is no
# probability that the variable has an effect.
FREQUENCY = "selection frequency"
# The evidence of knockoffs: the smaller it is the stronger.
Q_VALUE = "least false discovery rate at which a variable is selected: q-value"
# What effects change, and for what of a variable, where neither has units of its own.
STANDARDISED = "standard deviations"


def is_certainty(evidence: str) -> bool:
    """Tell whether a kind of evidence says how sure a variable is: `border` has the border then."""
    return evidence.split()[-1:] not in (ENTRY.split()[-1:], Q_VALUE.split()[-1:])


def strength(evidence: str, values: Floats) -> Floats:
    """Return evidence of which more is stronger: itself, but for q-values what they lack of 1."""
    return 1.0 - values if evidence == Q_VALUE else values


def border(evidence: str, level: float = 0.95) -> float:
    """Return what the evidence of a selected variable is beyond, intervals being of some level.

    That of frequencies is not here: it is the threshold of the selection's ``control``.
    """
    return 0.5 + level / 2 if evidence == SIGN else 0.5
