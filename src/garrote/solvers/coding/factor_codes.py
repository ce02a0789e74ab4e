"""Non-negative codes improved by sweeps over their coordinates, a block of signals at a time."""

from garrote._jit import kernel
from garrote.arrays import Floats

# Signals that one call of the kernel sweeps over: some milliseconds of work.
_MOST_PRODUCTS = 1e7


def improve_codes(
    codes: Floats, products: Floats, gram: Floats, alpha: float, sweeps: int, share: float
) -> None:
    """Lower 1/2 |x - z W|^2 + alpha sum z over z >= 0 for every signal, in place.

    Parameters
    ----------
    codes : array of shape (n_signals, n_atoms)
    products : array of shape (n_signals, n_atoms)
        Of signals with atoms.
    gram : array of shape (n_atoms, n_atoms)
    alpha : float
    sweeps : int
        At most; the first is what costs most, as nothing is known of who moves.
    share : float
        A sweep that moves a signal by no more than this share of its first is its last.
    """
    together = max(1, int(_MOST_PRODUCTS / (len(gram) ** 2 * sweeps)))
    for first in range(0, len(codes), together):
        rows = slice(first, first + together)
        left = products[rows] - codes[rows] @ gram
        _improve(codes[rows], left, gram, alpha, sweeps, share)


@kernel
def _improve(codes, left, gram, alpha, sweeps, share):
    """Sweep over signals one after the other; ``left`` are the products of atoms with what is left."""
    count = gram.shape[0]
    for s in range(codes.shape[0]):
        code, pull, first = codes[s], left[s], 0.0
        for made in range(sweeps):
            moved = 0.0
            for j in range(count):
                size = gram[j, j]
                if size <= 0.0:
                    continue
                new = max(code[j] + (pull[j] - alpha) / size, 0.0)
                step = new - code[j]
                if step != 0.0:
                    code[j] = new
                    moved += size * step * step
                    row = gram[j]
                    for i in range(count):
                        pull[i] -= step * row[i]
            if made == 0:
                first = moved
            if moved <= share * first:
                break
