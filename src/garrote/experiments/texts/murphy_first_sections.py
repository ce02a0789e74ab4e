"""Murphy's chapter on sparse linear models, place by place: up to the algorithms of section 13.4."""

from garrote.experiments.texts.places import Entry

UNDRAWN = "a drawing that is not made again"

_SELECTION = (
    Entry("section 13.1", "why sparse", "SparseRegressor SpikeSlabRegressor"),
    Entry("section 13.2", "Bayesian variable selection", "SpikeSlabRegressor"),
    Entry("Eqs. 13.1-13.2", "the posterior of a model", "SpikeSlabRegressor Posterior.models"),
    Entry("Eq. 13.3", "the most probable model", "Posterior.most_probable_model"),
    Entry(
        "Figure 13.1",
        "the posterior over all models of ten variables",
        "inference.Enumerate displays.ModelsDisplay",
        "murphy-figure-13.1",
    ),
    Entry("Eq. 13.4", "the median model", "Posterior.median_model"),
    Entry("section 13.2.1", "spike and slab", "SpikeSlabRegressor priors.GaussianSlab"),
    Entry(
        "Eqs. 13.5-13.9",
        "known probabilities of inclusion",
        "priors.IndependentInclusion",
        remark="by default they are unknown: priors.BetaInclusion",
    ),
    Entry("Eqs. 13.10-13.12", "slabs", "priors.GaussianSlab"),
    Entry(
        "Eqs. 13.13-13.14", "the evidence, noise known", "priors.evidence.closed_forms.KnownNoise"
    ),
    Entry(
        "Eqs. 13.15-13.17",
        "the evidence, noise integrated out",
        "priors.evidence.closed_forms.UnknownNoise",
    ),
    Entry("Eqs. 13.18-13.19", "models weighed by BIC", "priors.BIC"),
    Entry(
        "section 13.2.2",
        "from switches to l0",
        "inference.em.bernoulli_gaussian.BernoulliGaussian penalties.L0",
    ),
    Entry(
        "Eqs. 13.20-13.25",
        "coefficients behind switches",
        "inference.em.bernoulli_gaussian.BernoulliGaussian priors.mask.MaskRule",
    ),
    Entry("Eqs. 13.26-13.27", "a price for each variable", "penalties.BestSubset penalties.L0"),
    Entry(
        "section 13.2.3",
        "models that differ by one variable",
        "solvers.models.factor_walk.FactorWalk solvers.models.enumeration.enumerate_models",
    ),
    Entry(
        "Figure 13.2",
        "all subsets of the prostate data's variables",
        "solvers.penalised.best_subset.best_subsets greedy.LeapsAndBounds",
        "murphy-figure-13.2b murphy-best-subsets",
        "the lattice of panel a is not drawn",
    ),
    Entry(
        "section 13.2.3.1",
        "greedy search",
        "GreedyRegressor greedy.SingleBestReplacement greedy.Backward greedy.FoBa "
        "inference.BayesianMatchingPursuit",
    ),
    Entry(
        "Eqs. 13.28-13.30",
        "orthogonal least squares, matching pursuits",
        "greedy.Forward greedy.OMP greedy.MatchingPursuit",
    ),
    Entry(
        "section 13.2.3.2",
        "stochastic search",
        "inference.Metropolis inference.Search inference.Sample",
    ),
    Entry(
        "Eq. 13.31",
        "probabilities renormalised over the models found",
        "inference.Search solvers.models.model_search.search_models "
        "solvers.models.fitted_walk.walk_models",
    ),
    Entry(
        "section 13.2.3.3",
        "EM and variational inference",
        "inference.EM inference.em.narrow_spike.NarrowSpike inference.MeanField VariationalGarrote",
    ),
)

_BASICS = (
    Entry("section 13.3", "l1 regularisation", "SparseRegressor penalties.L1"),
    Entry(
        "Eqs. 13.32-13.36",
        "from the Laplace prior to the lasso",
        "priors.LaplacePrior penalties.L1",
    ),
    Entry("section 13.3.1", "why l1 is sparse", "proximal.project_l1_ball"),
    Entry("Figure 13.3", "corners of the l1 ball", studies="murphy-figure-13.3"),
    Entry(
        "Eqs. 13.37-13.42",
        "penalties and bounds on them",
        "penalties.L1 penalties.Ridge paths.Bound proximal.project_l1_ball",
        remark="alpha=Bound(B) is Eq. 13.38; with a ridge Bound(B / 2) is Eq. 13.40",
    ),
    Entry(
        "section 13.3.2", "optimality", "results.certificates.optimality rules.optimality.violation"
    ),
    Entry("Figure 13.4", "subderivatives", studies="murphy-figure-13.4"),
    Entry(
        "Eqs. 13.43-13.47",
        "subgradients",
        "solvers.classical.subgradient.Subgradient rules.optimality.violation",
    ),
    Entry("Eqs. 13.48-13.54", "one coefficient of the lasso", "rules.shrink penalties.L1"),
    Entry(
        "Eqs. 13.55-13.57",
        "soft and hard thresholds",
        "proximal.soft_threshold proximal.hard_threshold",
    ),
    Entry(
        "Figure 13.5", "soft and hard thresholding", "penalties.thresholding", "murphy-figure-13.5"
    ),
    Entry("Eq. 13.58", "where a path begins", "paths.penalised.alpha_grid"),
    Entry(
        "section 13.3.3",
        "least squares, lasso, ridge and subsets",
        "penalties.NoPenalty penalties.L1 penalties.Ridge penalties.BestSubset",
        "murphy-table-13.1",
    ),
    Entry(
        "Eqs. 13.59-13.64",
        "the same for orthogonal designs",
        "orthogonal.lasso_curve orthogonal.ridge_curve proximal.hard_threshold",
    ),
    Entry("Figure 13.6", "polynomials by lambda and by degree", studies="murphy-figure-13.6"),
    Entry(
        "Table 13.1",
        "four methods on the prostate data",
        "datasets.load_prostate",
        "murphy-table-13.1",
    ),
    Entry("section 13.3.4", "paths", "fit_path displays.PathDisplay", "murphy-figure-13.7"),
    Entry(
        "Figure 13.7", "profiles of ridge and lasso", "displays.PathDisplay", "murphy-figure-13.7"
    ),
    Entry("Figure 13.8", "the lasso's path is piecewise linear", "Path", "murphy-figure-13.8"),
    Entry("Figure 13.9", "spikes by the lasso, debiased", studies="murphy-figure-13.9"),
    Entry("Listing 13.1", "the lasso's knots on the prostate data", studies="murphy-listing-13.1"),
    Entry(
        "section 13.3.5",
        "debiasing, cross-validation, stability",
        "solvers.penalised.refitting.relaxed selecting.cross_validation.CrossValidation "
        "results.selections.stability.Stability StabilitySelection Bolasso",
        "murphy-figure-13.9 murphy-figure-13.10",
        "a selection frequency is not taken for an inclusion probability",
    ),
    Entry(
        "Figure 13.10",
        "the bolasso",
        "Bolasso displays.StabilityDisplay",
        "murphy-figure-13.10",
    ),
    Entry("section 13.3.6", "the Bayesian lasso", "ShrinkageRegressor priors.LaplacePrior"),
)

_ALGORITHMS = (
    Entry("section 13.4", "algorithms for l1", "paths.FollowPath"),
    Entry(
        "section 13.4.1",
        "coordinate descent, in three orders",
        "solvers.classical.shooting.Shooting solvers.descent.sweep.sweep",
    ),
    Entry("Eq. 13.65", "one coordinate", "rules.shrink"),
    Entry(
        "Algorithm 13.1",
        "coordinate descent (shooting)",
        "solvers.classical.shooting.Shooting solvers.descent.sweep.sweep",
        remark="it starts from the strength before in place of a ridge regression",
    ),
    Entry(
        "section 13.4.2",
        "LARS and homotopy",
        "solvers.penalised.homotopy.walk",
        "murphy-listing-13.1",
    ),
    Entry("section 13.4.3", "proximal methods", "proximal_gradient proximal.soft_threshold"),
    Entry("Eqs. 13.66-13.69", "proximal operators", "rules.proximal_points.proximal_point"),
    Entry(
        "section 13.4.3.1", "proximal operators", "proximal.soft_threshold proximal.hard_threshold"
    ),
    Entry("Eqs. 13.70-13.71", "of l1 and l0", "proximal.soft_threshold proximal.hard_threshold"),
    Entry("Eqs. 13.72-13.73", "projections, onto a box", "proximal.project_box"),
    Entry("Figure 13.11", "projected gradients", studies="murphy-figure-13.11"),
    Entry("Eq. 13.74", "onto an l2 ball", "proximal.project_l2_ball"),
    Entry("Eqs. 13.75-13.76", "onto an l1 ball", "proximal.project_l1_ball"),
    Entry(
        "section 13.4.3.2", "proximal gradients", "solvers.classical.ista.Ista proximal_gradient"
    ),
    Entry("Eqs. 13.77-13.80", "a proximal step", "solvers.classical.ista.Ista"),
    Entry(
        "Eqs. 13.81-13.82",
        "Barzilai and Borwein's step",
        "solvers.classical.spectral_descent.descend",
    ),
    Entry("Algorithm 13.2", "SpaRSA, which the text calls ISTA", "solvers.classical.sparsa.Sparsa"),
    Entry("section 13.4.3.3", "Nesterov's method", "solvers.classical.fista.Fista"),
    Entry("Eqs. 13.83-13.85", "FISTA", "solvers.classical.fista.Fista"),
    Entry(
        "section 13.4.4",
        "EM for the lasso",
        "solvers.classical.scale_mixture_em.ScaleMixtureEM",
    ),
    Entry(
        "sections 13.4.4.1-13.4.4.5",
        "why EM, its steps, and a caveat",
        "solvers.classical.scale_mixture_em.ScaleMixtureEM",
        remark="it starts from sizes that are not 0, as a 0 would stay",
    ),
    Entry("Figure 13.12", "the lasso as a scale mixture", remark=UNDRAWN),
    Entry(
        "Eqs. 13.86-13.89",
        "the Laplace law as a scale mixture",
        "scale_mixtures.laws.LaplaceLaw priors.LaplacePrior paths.PriorRate",
    ),
    Entry(
        "Eqs. 13.90-13.91",
        "the E step of coefficients, and full conditionals",
        "rules.parabolas.ridge_weights solvers.shrinkage.shrinkage_gibbs.draw_variances",
    ),
    Entry(
        "Eqs. 13.92-13.93",
        "the E step of the noise",
        "paths.PriorRate solvers.classical.learned_noise.learn_noise",
        remark="an intercept is integrated out, where the text takes y as centred: N is N - 1",
    ),
    Entry("Eqs. 13.94-13.97", "the M step", "solvers.classical.scale_mixture_em.ScaleMixtureEM"),
)

FIRST_SECTIONS = (*_SELECTION, *_BASICS, *_ALGORITHMS)
