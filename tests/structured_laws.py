"""Laws of inclusion in which variables hang together, each told as a story by plain Python."""

from itertools import product

import numpy as np
from scipy.special import betaln, gammaln

from garrote.priors import (
    CategoryInclusion,
    ChainInclusion,
    GraphInclusion,
    HeredityInclusion,
    TwoLevelInclusion,
)

D = 8
BLOCKS = [0, 0, 0, 1, 1, 2, 2, 2]
CHAINS = [[3, 1, 0], [2, 4, 5, 7, 6]]
EDGES = [(0, 1), (1, 5), (2, 3), (5, 6)]
PARENTS = {7: [0, 1], 6: [5]}
OFFSETS = np.array([0.0, 0.5, -0.4, 0.0, 0.3, 1.0, 0.0, -0.7])

LAWS = {
    "two levels": TwoLevelInclusion(BLOCKS, within=(1.0, 2.0)),
    "two levels, known": TwoLevelInclusion(BLOCKS, law=0.3, within=0.4),
    "categories": CategoryInclusion(BLOCKS, laws={0: 0.2, 1: (1.0, 3.0), 2: (2.0, 2.0)}),
    "chain": ChainInclusion(come=(1.0, 3.0)),
    "chains, known": ChainInclusion(CHAINS, come=0.1, stay=0.7),
    "graph": GraphInclusion(EDGES, coupling=1.5, probability=0.2),
    "strong": HeredityInclusion(PARENTS, law=0.4),
    "weak": HeredityInclusion(PARENTS, "weak", law=(1.0, 2.0)),
    "by parents": HeredityInclusion(PARENTS, (0.01, 0.2, 0.5), law=0.4),
}


def sets(count=D):
    """Return all sets of so many switches, a row of truth values each."""
    return np.array(list(product([False, True], repeat=count)))


def _members_of_blocks(s):
    return [[s[j] for j in range(D) if BLOCKS[j] == b] for b in range(3)]


def _two_levels(group_law, member_law):
    def log_prior(s):
        total, active = 0.0, 0
        for members in _members_of_blocks(s):
            if any(members):
                active += 1
                total += member_law(sum(members), len(members))
                total -= np.log1p(-np.exp(member_law(0, len(members))))
        return total + group_law(active, 3)

    return log_prior


def _independent(p):
    return lambda k, n: k * np.log(p) + (n - k) * np.log1p(-p)


def _beta(a, b):
    return lambda k, n: betaln(a + k, b + n - k) - betaln(a, b)


def _categories(s):
    laws = _independent(0.2), _beta(1.0, 3.0), _beta(2.0, 2.0)
    parts = zip(laws, _members_of_blocks(s), strict=True)
    return sum(law(sum(members), len(members)) for law, members in parts)


def _chain(s):
    """Integrate both probabilities out: draws without replacement from two urns."""
    total, came, stayed = 0.0, [1.0, 3.0], [1.0, 1.0]
    for was, now in zip([False, *s[:-1]], s, strict=True):
        urn = stayed if was else came
        total += np.log(urn[0 if now else 1] / sum(urn))
        urn[0 if now else 1] += 1
    return total


def _known_chains(s):
    total = 0.0
    for chain in CHAINS:
        was = False
        for j in chain:
            p = 0.7 if was else 0.1
            total += np.log(p if s[j] else 1 - p)
            was = s[j]
    return total


def _graph(s):
    return sum(s) * np.log(0.25) + 1.5 * sum(s[i] and s[j] for i, j in EDGES)


def _heredity(needed, size):
    def log_prior(s):
        for child, above in PARENTS.items():
            if s[child] and sum(s[j] for j in above) < needed(len(above)):
                return -np.inf
        return size(sum(s), D)

    return log_prior


def _by_parents(s):
    total = _independent(0.4)(sum(s[:6]), 6)
    for child, above in PARENTS.items():
        p = (0.01, 0.2, 0.5)[sum(s[j] for j in above)]
        total += np.log(p if s[child] else 1 - p)
    return total


STORIES = {
    "two levels": _two_levels(_beta(1.0, np.sqrt(3)), _beta(1.0, 2.0)),
    "two levels, known": _two_levels(_independent(0.3), _independent(0.4)),
    "categories": _categories,
    "chain": _chain,
    "chains, known": _known_chains,
    "graph": _graph,
    "strong": _heredity(lambda count: count, _independent(0.4)),
    "weak": _heredity(lambda count: 1, _beta(1.0, 2.0)),
    "by parents": _by_parents,
}


def log_story(name, offsets=None, inside=None):
    """Return the log prior of all sets by the story, their odds raised by offsets, summing to 1."""
    inside = sets() if inside is None else inside
    logs = np.array([STORIES[name](tuple(map(bool, row))) for row in inside])
    logs = logs if offsets is None else logs + inside @ offsets
    return logs - np.logaddexp.reduce(logs)


def table(seed=0, n=60):
    """Return X and y: eight numbers, of which three have effects, one on its neighbour's side."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D))
    X[:, 1] += 0.7 * X[:, 0]
    y = 0.5 * X[:, 0] + 0.4 * X[:, 1] + 0.35 * X[:, 5] + rng.standard_normal(n)
    return X, y


def log_evidences(X, y, variance, inside):
    """Return the log evidence of models under a slab of known variance, the noise integrated out."""
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y, n, logs = y - y.mean(), len(y) - 1.0, []
    for row in inside:
        own = X[:, row]
        gram = own.T @ own + np.eye(own.shape[1]) / variance
        left = y @ y - y @ own @ np.linalg.solve(gram, own.T @ y)
        log_det = np.linalg.slogdet(gram)[1] + own.shape[1] * np.log(variance)
        logs.append(gammaln(n / 2) - 0.5 * log_det - 0.5 * n * np.log(left))
    return np.array(logs)


def posterior(X, y, name, variance=1.0, offsets=None):
    """Return inclusion probabilities, and those of sizes, by summing over all sets."""
    inside = sets()
    logs = log_story(name, offsets) + log_evidences(X, y, variance, inside)
    share = np.exp(logs - np.logaddexp.reduce(logs))
    return share @ inside, np.bincount(inside.sum(axis=1), share, D + 1)
