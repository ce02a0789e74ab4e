"""What a method promises of the variables that it selects falsely, and what that asks for."""

from dataclasses import dataclass
from typing import Any

from garrote.files.json_values import number
from garrote.summaries import Shown


@dataclass(frozen=True, repr=False)
class ErrorControl(Shown):
    """A bound on false selections in words and numbers; it claims no more than its theorem does.

    Attributes
    ----------
    method : str
        "stability selection", say.
    promise : str
        The statement, a sentence without its full stop.
    asks : tuple of str
        What it rests on, and what it does not say, in such sentences.
    threshold : float
        The evidence from which on variables are selected.
    bound : float
        The number that is promised; NaN where there is none.
    counts : str
        What the number counts.
    """

    method: str
    promise: str
    asks: tuple[str, ...]
    threshold: float
    bound: float
    counts: str

    @property
    def sentences(self) -> tuple[str, ...]:
        """The promise and what it rests on."""
        return (self.promise, *self.asks)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "method": self.method,
            "promise": self.promise,
            "asks": list(self.asks),
            "threshold": number(self.threshold),
            "bound": number(self.bound),
            "counts": self.counts,
        }
