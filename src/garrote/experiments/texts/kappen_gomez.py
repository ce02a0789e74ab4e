"""The Variational Garrote, place by place."""

from garrote.experiments.texts.places import Entry, Text

_PARALLEL = "solvers.garrote.parallel_updates"

KAPPEN_GOMEZ = Text(
    "Kappen, H. J. and Gomez, V. (2014). The Variational Garrote. Machine Learning 96, 269-294.",
    (
        Entry(
            "section 1",
            "least squares, ridge, lasso and bridge",
            "SparseRegressor penalties.Bridge",
        ),
        Entry("Eq. 1", "linear regression", "Problem"),
        Entry("section 2", "the variational approximation", "VariationalGarrote"),
        Entry(
            "Eqs. 2-5",
            "switches, their prior and posterior",
            "VariationalGarrote priors.SpikeTerms",
        ),
        Entry(
            "Eqs. 6-7",
            "the free energy",
            "solvers.garrote.certificate.free_energy Path.free_energy",
        ),
        Entry(
            "Eq. 8",
            "inclusion probabilities",
            "priors.garrote.SpikeRule rules.inclusion",
            remark="the part 'inclusion' of a certificate says how far an answer is from it",
        ),
        Entry("Eq. 9", "weights given the inclusions", f"{_PARALLEL}.primal_weights"),
        Entry(
            "Eq. 10",
            "the noise variance",
            f"priors.garrote.implied_noise {_PARALLEL}.noise_precision",
            remark="between sweeps in the form that holds before Eq. 9 has been used",
        ),
        Entry(
            "Algorithm 1",
            "annealing and reheating",
            f"{_PARALLEL}.anneal_in_parallel solvers.annealing.anneal paths.Anneal",
            remark='literally by method="primal" and "dual"; by default the same path is swept '
            "coordinate by coordinate",
        ),
        Entry("Eq. 11", "predictions", "VariationalGarrote.predict"),
        Entry("Eq. 12", "the same as a spike and slab", "priors.SpikeTerms priors.GaussianSlab"),
        Entry("Eq. 13", "where a path begins", "paths.annealed.gamma_grid"),
        Entry(
            "section 3",
            "related work: paired mean field, its grid and SCAD",
            "inference.fit_paired inference.MeanField penalties.SCAD penalties.NEG",
            remark="expectation propagation is not there",
        ),
        Entry("section 4", "orthogonal designs", "orthogonal.orthogonal_solution"),
        Entry("Eq. 14", "the exact subset", "orthogonal.exact_subset"),
        Entry("Figure 1", "when two solutions coexist", "displays.PhaseDisplay", "vg-figure-1"),
        Entry("Eqs. 15-16", "one variable", "orthogonal.univariate_solutions"),
        Entry(
            "Figure 2", "shrinkage of one coefficient", "displays.ShrinkageDisplay", "vg-figure-2"
        ),
        Entry("section 5", "numerical examples", "fit_path", "vg-table-1 vg-table-2"),
        Entry("section 5.1", "one variable of 100", "datasets.make_kappen_gomez_1", "vg-table-1"),
        Entry("Figure 3", "one run of the garrote", "displays.HysteresisDisplay", "vg-figure-3"),
        Entry("Table 1", "example 1", studies="vg-table-1"),
        Entry("Figure 4", "lasso and ridge on the same data", studies="vg-figure-4"),
        Entry(
            "section 5.2", "five of 100, correlated", "datasets.make_kappen_gomez_2", "vg-table-2"
        ),
        Entry("Table 2", "example 2", studies="vg-table-2"),
        Entry(
            "section 5.3",
            "where the lasso is inconsistent",
            "datasets.make_zhao_yu",
            "vg-table-3 vg-figure-5",
        ),
        Entry("Figure 5", "paths where the lasso is inconsistent", studies="vg-figure-5"),
        Entry("Table 3", "the same in numbers", studies="vg-table-3"),
        Entry("section 5.4", "noise", studies="vg-figure-6a vg-figure-6b vg-figure-6c"),
        Entry("Figure 6", "noise", studies="vg-figure-6a vg-figure-6b vg-figure-6c"),
        Entry(
            "section 5.5",
            "Boston housing, beside paired mean field",
            "inference.anneal_paired inference.paired_path",
            "vg-table-4 vg-figure-7 vg-section-5.5",
        ),
        Entry("Table 4", "optima of both", studies="vg-table-4"),
        Entry("Figure 7", "the same drawn, and hysteresis", studies="vg-figure-7"),
        Entry("section 5.6", "the number of samples", studies="vg-figure-8 vg-figure-10"),
        Entry(
            "sections 5.6.1-5.6.2",
            "independent columns, genotypes",
            studies="vg-figure-8 vg-figure-10",
        ),
        Entry("Figure 8", "recovery as rows are added", studies="vg-figure-8"),
        Entry("Figure 9", "correlations of the genotypes", studies="vg-figure-9"),
        Entry("Figure 10", "recovery with genotypes", studies="vg-figure-10"),
        Entry("section 5.7", "the number of variables", studies="vg-figure-11"),
        Entry("Figure 11", "scaling with the number of variables", studies="vg-figure-11"),
        Entry(
            "section 6",
            "discussion: sequential updates",
            "solvers.garrote.coordinate_annealing.anneal_by_sweeps",
            remark="its other proposals (belief propagation, structured mean field) are not there",
        ),
        Entry(
            "Figure 12",
            "fixed points of one variable",
            "orthogonal.univariate_solutions displays.PhaseDisplay",
            "vg-figure-12",
        ),
        Entry("appendix A", "the phase plot", "orthogonal.transition_lines"),
        Entry("Eq. 17", "where branches end", "orthogonal.transition_lines"),
        Entry("Eq. 18", "the critical correlation", "orthogonal.critical_point"),
        Entry("Eq. 19", "the prior log odds of the borders", "orthogonal.transition_lines"),
        Entry("Eq. 20", "the critical prior log odds", "orthogonal.critical_point"),
        Entry("appendix B", "the dual", f"{_PARALLEL}.dual_weights"),
        Entry("Eqs. 21-28", "an N x N system in place of D x D", f"{_PARALLEL}.dual_weights"),
    ),
)
