"""Effects that are curves: how much the response changes along one variable, with a band."""

from dataclasses import dataclass
from typing import Any

from garrote.arrays import Floats
from garrote.files.json_values import numbers
from garrote.summaries import Shown


@dataclass(frozen=True, repr=False)
class Curve(Shown):
    """The effect of a number on the response, against its effect on average over the rows.

    Attributes
    ----------
    name : str
        Of the column.
    variables : tuple of str
        The variables that it is made of: the straight line, and what bends.
    x : array of shape (P,)
        Places along the column, between its ends.
    effect, lower, upper : array of shape (P,)
        The effect there, and the ends of a band that holds it with the selection's ``level``, place by
        place; NaN where the method states none.
    """

    name: str
    variables: tuple[str, ...]
    x: Floats
    effect: Floats
    lower: Floats
    upper: Floats

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "name": self.name,
            "variables": list(self.variables),
            "x": numbers(self.x),
            "effect": numbers(self.effect),
            "lower": numbers(self.lower),
            "upper": numbers(self.upper),
        }
