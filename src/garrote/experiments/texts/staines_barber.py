"""Variational Optimization, place by place."""

from garrote.experiments.texts.places import Entry, Text

STAINES_BARBER = Text(
    "Staines, J. and Barber, D. (2012). Variational Optimization. arXiv:1212.4507.",
    (
        Entry(
            "section 1",
            "a bound by averaging over a law",
            "smoothing.GaussianBound smoothing.BernoulliBound smoothing.minimise",
            remark="of a minimum, so that the bound is from above",
        ),
        Entry(
            "sections 1.1-1.3",
            "its gradient, concavity and optimum",
            "smoothing.GaussianBound smoothing.Newton smoothing.LBFGS smoothing.NaturalGradient",
        ),
        Entry(
            "Eqs. 1-3",
            "the bound and its gradient",
            "smoothing.GaussianBound smoothing.averages.from_values",
            remark="the gradient from values of f alone, where the average is not known",
        ),
        Entry(
            "Eqs. 4-10",
            "when the bound is concave",
            "smoothing.GaussianBound",
            remark="convex here; over mean and widths at once with LBFGS(learn=True)",
        ),
        Entry(
            "Figure 1",
            "the bound on |w| and on a lasso",
            "solvers.smoothing.kinks.GaussianKink",
            "vo-figure-1",
        ),
        Entry("section 2", "lasso by smoothing", "solvers.smoothing.newton.Smoothing"),
        Entry(
            "Eqs. 11-12",
            "the lasso, from cross products",
            "penalties.L1 Problem.from_moments",
            remark="solved by coordinates, LARS and proximal steps",
        ),
        Entry(
            "Eqs. 13-16",
            "its bound, gradient and Hessian",
            "solvers.smoothing.smooth_squares.SmoothSquares",
            remark="the second derivative in Eq. 16 is over sigma, not over its square",
        ),
        Entry("Figure 2", "the gap between |w| and its bound", studies="vo-figure-2"),
        Entry(
            "section 2.1", "the error of the bound", "solvers.smoothing.guarantee.smoothing_error"
        ),
        Entry(
            "Eqs. 17-18",
            "how small the variance has to be",
            "solvers.smoothing.guarantee.width_for",
            remark="Eq. 18 divides by the root of the trace where its derivation has the trace",
        ),
        Entry("section 2.2", "lassos timed", studies="vo-table-1"),
        Entry(
            "Eqs. 19-20",
            "its data, and diagonal Newton steps",
            "experiments.variational_optimization.lassos.draw_lasso smoothing.Newton",
            remark="Newton(length=0.1, steps=1, search=False)",
        ),
        Entry(
            "Table 1",
            "seven solvers of a lasso",
            "solvers.smoothing.newton.Smoothing solvers.smoothing.newton.SigmoidSmoothing "
            "solvers.smoothing.newton.RootSmoothing solvers.classical.shooting.Shooting "
            "solvers.classical.iterated_ridge.IteratedRidge "
            "solvers.classical.projected_gradient.ProjectedGradient "
            "solvers.classical.subgradient.Subgradient",
            "vo-table-1",
        ),
        Entry(
            "section 2.3",
            "the fused lasso by smoothing",
            "solvers.smoothing.newton.Smoothing penalties.FusedLasso",
            remark="solved by pieces, too, exactly",
        ),
        Entry("Eq. 21", "the fused lasso", "penalties.FusedLasso"),
        Entry("Eq. 22", "its bound", "solvers.smoothing.smooth_squares.SmoothSquares"),
        Entry(
            "section 2.4",
            "fused lassos timed",
            studies="vo-fused",
            remark="the printed error comes out where variances shrink by a tenth, not deviations",
        ),
        Entry("Eq. 23", "its data", "experiments.variational_optimization.lassos.draw_lasso"),
        Entry(
            "section 3",
            "support vector machines in the primal",
            "SmoothSVC SmoothSVR",
            remark="with the duality gap of the hinge itself as certificate",
        ),
        Entry(
            "Eqs. 24-28",
            "the soft margin, without constraints, and by a kernel",
            "SmoothSVC solvers.margins.losses.Margins.hinge solvers.margins.spaces.KernelSpace",
            remark="Eq. 25 has C once too often, and the slack after it is max(1 - y(...), 0)",
        ),
        Entry(
            "Eqs. 29-30",
            "its average over Gaussian coefficients",
            "solvers.smoothing.kinks.GaussianKink solvers.margins.losses.Margins.smooth_value "
            "solvers.margins.spaces.KernelSpace.squared_rows",
            remark="Eq. 30 prints + mu_b y_n where Eq. 28 asks for a minus",
        ),
        Entry(
            "Eqs. 31-32",
            "its gradient",
            "solvers.margins.losses.Margins.pull",
            remark="printed with 1 / zeta once too often",
        ),
        Entry(
            "Eqs. 33-36",
            "the error of the bound, and the width for a given one",
            "solvers.margins.guarantee.error_bound solvers.margins.guarantee.guaranteed_width",
            remark="Eq. 35 divides by the root of the trace where its derivation has the trace",
        ),
        Entry(
            "section 3.1",
            "Chapelle's smoothing",
            "SmoothSVC solvers.smoothing.kinks.HuberKink",
            remark='loss="huber"; with one width by shrinking=False',
        ),
        Entry("Eq. 37", "any loss of a margin", "solvers.margins.newton.Smoothed.value"),
        Entry(
            "Eq. 38",
            "Huber's loss of a margin",
            "solvers.smoothing.kinks.HuberKink",
            remark="(h + xi)^2 / (4 h): as printed it does not meet the hinge",
        ),
        Entry(
            "Eqs. 39-40",
            "Newton steps on it",
            "solvers.margins.newton.step solvers.margins.spaces.KernelSpace.newton",
            remark="C / (2 h) for 2 C beside the rows that bend, and y for 1; where no row bends, the "
            "nearest do",
        ),
        Entry("Figure 3", "hinge and Huber losses", studies="vo-figure-3"),
        Entry(
            "section 3.2",
            "support vector machines timed",
            "experiments.variational_optimization.machines.draw_machines",
            "vo-figure-4",
        ),
        Entry("Figure 4", "seconds by the number of rows", studies="vo-figure-4"),
        Entry(
            "section 4",
            "relation to other methods",
            "binary.maximise_binary smoothing.BernoulliBound",
        ),
        Entry(
            "sections 4.1-4.3",
            "smoothing, relaxation, free energies",
            "binary.maximise_binary",
            "vo-binary",
        ),
        Entry(
            "Eqs. 41-43",
            "quadratic functions of switches, averaged over independent ones",
            "binary.BinaryProgramme.mean binary.Ascent binary.subset_programme "
            "solvers.garrote.spins.mean_energy",
            "vo-binary",
            remark="mean_energy is that of Iba's mean field; without its entropy it is this bound",
        ),
        Entry(
            "Eq. 44",
            "bound and relaxation together",
            "binary.maximise_binary",
            "vo-binary",
            remark="the relaxation is semidefinite, or a linear programme solved by a minimum cut",
        ),
        Entry(
            "Eqs. 45-46",
            "the free energy, with annealing",
            "binary.Annealing binary.BinaryProgramme.free_energy "
            "solvers.garrote.certificate.free_energy solvers.annealing.anneal",
            "vo-binary",
            remark="in the garrote gamma takes the place of a temperature",
        ),
        Entry(
            "section 4.4",
            "estimation of distributions",
            "smoothing.BernoulliBound smoothing.NaturalGradient binary.BinaryProgramme.slope",
            remark="sampled by the first two; of programmes the slope is known, and nothing is drawn",
        ),
    ),
)
