"""Mean field in Bayesian variable selection, place by place."""

from garrote.experiments.texts.places import Entry, Text

_SPINS = "solvers.garrote.spins"

IBA = Text(
    "Iba, Y. (1998). Mean Field Approximation in Bayesian Variable Selection. Proc. ICONIP '98.",
    (
        Entry("section 1", "mean field", f"{_SPINS}.solve_spins VariationalGarrote"),
        Entry("section 2", "between ridge and selection", "penalties.Ridge penalties.L0"),
        Entry("section 3", "regression with switches", "VariationalGarrote"),
        Entry("Eqs. 1-4", "the likelihood of a model", "Problem"),
        Entry("Eq. 5", "normal equations of a model", "solvers.losses.least_squares.LeastSquares"),
        Entry("Eqs. 6-9", "the energy of spins", f"{_SPINS}.make_ising"),
        Entry(
            "Eqs. 10-11",
            "the prior and the posterior",
            "priors.SpikeTerms",
            remark="its penalty h is -gamma / 2",
        ),
        Entry("section 4", "mean field of the switches", f"{_SPINS}.solve_spins"),
        Entry("Eqs. 12-16", "factors, and how far they are", f"{_SPINS}.mean_energy"),
        Entry("Eq. 17", "the self-consistent equation", f"{_SPINS}.solve_spins rules.inclusion"),
        Entry("Eq. 18", "the bound on the partition function", f"{_SPINS}.log_partition"),
        Entry("Eq. 19", "inclusion probabilities", f"{_SPINS}.Spins"),
        Entry("Eqs. 20-22", "the likelihood that is maximised", f"{_SPINS}.log_likelihood"),
        Entry("Eqs. 23-24", "soft normal equations", f"{_SPINS}.soft_coefficients"),
        Entry("Eq. 25", "damped updates", f"{_SPINS}.solve_spins"),
        Entry("section 5", "Boston housing", studies="iba-figure-1 iba-figure-2"),
        Entry("Figure 1", "probabilities at typical penalties", studies="iba-figure-1"),
        Entry(
            "Figure 2",
            "the same as the penalty rises",
            studies="iba-figure-2",
            remark="plain columns, and those of Belsley's table, which give the text's variables",
        ),
        Entry(
            "section 6",
            "choosing the penalty, and several solutions",
            "VariationalGarrote results.optima.Optima",
            remark="the text leaves both for later; gamma is chosen by folds or by the evidence here",
        ),
    ),
)
