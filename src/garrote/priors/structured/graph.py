"""An Ising prior: variables that are neighbours in a graph are in together."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, xlog1py, xlogy

from garrote.arrays import Array, Floats
from garrote.priors.inclusion import Inclusion
from garrote.priors.structured.base import TiedInclusion, nobody, number_of, places_of
from garrote.priors.structured.ties import Ties
from garrote.proximal.labels import is_list
from garrote.settings import is_number

# Variables whose sets are all summed over for the prior's normaliser, at most.
_SUMMED = 16
# Rounds by which the prior's mean field settles, and the share of variables that is nearly everything.
_ROUNDS, _MOST = 500, 0.5


@dataclass(frozen=True)
class GraphInclusion(TiedInclusion):
    """Log odds of a variable rise with every neighbour that is in: log odds + coupling * neighbours in.

    log P(s) = constant + sum_j log_odds_j s_j + sum over edges of coupling s_i s_j, an Ising model (Li &
    Zhang 2010). Beyond a certain coupling its prior puts nearly everything in at once, whatever the
    log odds of single variables say: of that there is a warning.

    Parameters
    ----------
    edges : list of pairs, mapping from variables to their neighbours, or matrix (D x D)
        Variables by name or number; a third entry of a pair, or an entry of the matrix, is a weight that
        the coupling is multiplied by.
    coupling : float, default=1.0
        By how much one neighbour raises the log odds; negative where neighbours exclude each other.
    probability : float or array of shape (D,), default=0.1
        That of a variable none of whose neighbours is in.

    References
    ----------
    Li, F. and Zhang, N. R. (2010). Bayesian variable selection in structured high-dimensional covariate
    spaces with applications in genomics. Journal of the American Statistical Association 105, 1202-1214.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.priors import GraphInclusion
    >>> law = GraphInclusion([(0, 1)], coupling=2.0, probability=0.2).over(np.arange(3), 3)
    >>> np.exp(law.log_prior([[True, True, False], [True, False, True]])).round(3)
    array([0.188, 0.025])
    """

    edges: Any = ()
    coupling: float = 1.0
    probability: Any = 0.1

    def __post_init__(self) -> None:
        """Refuse what is no graph, no coupling and no probability."""
        if not is_number(self.coupling):
            raise ValueError(f"coupling must be a finite number, got {self.coupling!r}")
        p = np.asarray(self.probability, dtype=np.float64)
        if not ((p > 0) & (p < 1)).all():
            raise ValueError(f"probability must lie between 0 and 1, got {self.probability!r}")
        object.__setattr__(self, "probability", p.tolist())
        object.__setattr__(self, "edges", _as_edges(self.edges))

    def found_among(self, names: Sequence[str], resolve: Callable[[Any], Any]) -> "GraphInclusion":
        """Return the law with the variables of its edges by their numbers."""
        place, seen, edges = places_of(names), set(), []
        for one, two, weight in self.edges:
            i, j = (number_of(entry, place, "edges of a GraphInclusion") for entry in (one, two))
            if i == j:
                raise ValueError(
                    f"edges of a GraphInclusion has {names[i]!r} as a neighbour of itself: leave it out"
                )
            if (min(i, j), max(i, j)) not in seen:
                seen.add((min(i, j), max(i, j)))
                edges.append((i, j, weight))
        return replace(self, edges=edges)

    def parts(
        self, present: Array, count: int, offsets: Floats
    ) -> tuple[Inclusion, tuple[Array, ...], Ties]:
        """Return size and odds, parents and ties of the variables present, by their places."""
        p = np.asarray(self.probability, dtype=np.float64)
        if p.ndim and p.shape != (count,):
            raise ValueError(
                f"probability of a GraphInclusion has {len(p)} entries for {count} columns"
            )
        p = np.broadcast_to(p, (count,))[present]
        odds = np.log(p) - np.log1p(-p) + offsets
        place = {int(j): k for k, j in enumerate(present)}
        numbered = self.found_among([f"x{j}" for j in range(count)], lambda groups: groups).edges
        kept = [(place[i], place[j], w) for i, j, w in numbered if i in place and j in place]
        links = np.array([edge[:2] for edge in kept], dtype=np.int64).reshape(-1, 2)
        coupling = float(self.coupling) * np.array([edge[2] for edge in kept], dtype=np.float64)
        _warn_of_everything(odds, links, coupling)
        D = len(present)
        words = (
            f"in a graph of {len(links)} edges every neighbour that is in raises the log odds of a "
            f"variable by {self.coupling:g}"
        )
        ties = Ties(D, links=links, coupling=coupling, words=words)
        return Inclusion(np.full(D + 1, -_log_sum(odds, ties)), odds), nobody(D), ties


def _as_edges(edges: Any) -> list[tuple[Any, Any, float]]:
    """Return edges as triples of two variables and a weight."""
    if isinstance(edges, Mapping):
        return [(one, two, 1.0) for one, near in edges.items() for two in near]
    if hasattr(edges, "tocoo") or (
        hasattr(edges, "ndim") and edges.ndim == 2 and edges.shape[1] > 3
    ):
        matrix = edges.tocoo() if hasattr(edges, "tocoo") else None
        if edges.shape[0] != edges.shape[1]:
            raise ValueError(f"edges as a matrix must be square, got shape {edges.shape}")
        if matrix is None:
            i, j = np.nonzero(np.asarray(edges))
            weights = np.asarray(edges)[i, j]
        else:
            i, j, weights = matrix.row, matrix.col, matrix.data
        return [(int(a), int(b), float(w)) for a, b, w in zip(i, j, weights, strict=True) if w != 0]
    made = []
    for edge in edges.tolist() if hasattr(edges, "tolist") else edges:
        entries = list(edge) if is_list(edge) else []
        if len(entries) not in (2, 3) or (len(entries) == 3 and not is_number(entries[2])):
            raise ValueError(
                f"edges of a GraphInclusion must be pairs of variables, with a weight or without, got "
                f"{edge!r}"
            )
        one, two, *weight = entries
        made.append((_plain(one), _plain(two), float(weight[0]) if weight else 1.0))
    return made


def _plain(entry: Any) -> Any:
    return entry.item() if isinstance(entry, np.generic) else entry


def _log_sum(odds: Floats, ties: Ties) -> float:
    """Return the log of the sum over all sets of few variables; 0 of many, whose sum nobody knows."""
    if len(odds) > _SUMMED:
        return 0.0
    inside = (np.arange(2 ** len(odds))[:, None] >> np.arange(len(odds))) & 1
    logs = inside @ odds + ties.log_prior(inside, nobody(len(odds)))
    return float(np.logaddexp.reduce(logs))


def _warn_of_everything(odds: Floats, links: Array, coupling: Floats) -> None:
    """Warn where the prior's mean field has nearly everything in, and prefers that."""
    if not len(links) or not (coupling > 0).any():
        return

    def field(m: Floats) -> Floats:
        near = np.bincount(links[:, 0], coupling * m[links[:, 1]], len(odds))
        return np.asarray(near + np.bincount(links[:, 1], coupling * m[links[:, 0]], len(odds)))

    def settle(m: Floats) -> tuple[Floats, float]:
        for _ in range(_ROUNDS):
            m = expit(odds + field(m))
        entropy = -np.sum(xlogy(m, m) + xlog1py(1 - m, -m))
        return m, float(m @ odds + 0.5 * m @ field(m) + entropy)

    few, at_few = settle(np.zeros(len(odds)))
    most, at_most = settle(np.ones(len(odds)))
    dense = most if at_most >= at_few else few
    if dense.mean() > _MOST and expit(odds).mean() < _MOST:
        warnings.warn(
            f"coupling makes the prior of a GraphInclusion expect {dense.sum():.0f} of {len(odds)} "
            "variables: beyond a transition neighbours put each other in; lower coupling or probability",
            UserWarning,
            stacklevel=2,
        )
