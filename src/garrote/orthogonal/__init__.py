r"""Orthogonal designs: where the variational garrote, and its hysteresis, can be written down.

With orthonormal columns (X'X / N = I) a feature meets the others only through the noise variance,
so that everything reduces to scalar equations. They show when two solutions coexist and serve as
oracles for the solvers.

Throughout, N is the number of samples, gamma the prior log odds of a feature, b = x'y / N its
least squares coefficient, rho = b^2 / var(y) its squared correlation with the response, and
`explained` (delta) the share of var(y) that the other features explain. The inclusion probability
m solves

.. math:: m = \sigma\left(\gamma + \frac N2 \frac{\rho}{1 - \delta - \rho m}\right). \tag{15}

Read from right to left, gamma is a function of m with at most two turning points, which are the
ends of the sparse and of the dense branch. Equation numbers are those of Kappen & Gómez (2014),
"The Variational Garrote", Machine Learning 96, section 4 and Appendix A.
"""

from garrote.orthogonal.all_features import (
    OrthogonalSolution,
    exact_subset,
    orthogonal_solution,
)
from garrote.orthogonal.curves import (
    breiman_garrote_curve,
    lasso_curve,
    ridge_curve,
    shrinkage_curves,
    variational_garrote_curve,
)
from garrote.orthogonal.univariate import (
    UnivariateSolutions,
    best_univariate_solution,
    critical_point,
    even_odds_line,
    transition_lines,
    univariate_free_energy,
    univariate_solutions,
)

__all__ = [
    "OrthogonalSolution",
    "UnivariateSolutions",
    "best_univariate_solution",
    "breiman_garrote_curve",
    "critical_point",
    "even_odds_line",
    "exact_subset",
    "lasso_curve",
    "orthogonal_solution",
    "ridge_curve",
    "shrinkage_curves",
    "transition_lines",
    "univariate_free_energy",
    "univariate_solutions",
    "variational_garrote_curve",
]
