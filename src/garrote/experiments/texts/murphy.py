"""Murphy's chapter on sparse linear models, place by place."""

from garrote.experiments.texts.places import Entry, Text

_CODING = "learned dictionaries are planned"
_UNDRAWN = "a drawing that is not made again"

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
    Entry("Figure 13.12", "the lasso as a scale mixture", remark=_UNDRAWN),
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

_EXTENSIONS = (
    Entry("section 13.5", "beyond the lasso", "penalties.GroupLasso penalties.FusedLasso"),
    Entry("section 13.5.1", "groups", "penalties.GroupLasso"),
    Entry("Eqs. 13.98-13.101", "lengths of groups", "penalties.GroupLasso"),
    Entry("Eq. 13.102", "largest sizes of groups", "penalties.GroupLasso proximal.group_linf"),
    Entry("section 13.5.1.1", "groups as scale mixtures", "priors.GroupLaplacePrior"),
    Entry(
        "Eqs. 13.103-13.105",
        "the law of a group",
        "priors.GroupLaplacePrior",
        remark="the rate of Eq. 13.105 is corrected",
    ),
    Entry("Figure 13.13", "groups of normal coefficients", studies="murphy-figure-13.13"),
    Entry("Figure 13.14", "groups of equal coefficients", studies="murphy-figure-13.14"),
    Entry("Figure 13.15", "groups as a graphical model", remark=_UNDRAWN),
    Entry(
        "section 13.5.1.2",
        "algorithms for groups",
        "solvers.penalised.group_quadratic.solve_groups proximal.group_l2",
    ),
    Entry(
        "Eqs. 13.106-13.110",
        "proximal operators of groups",
        "proximal.group_l2 proximal.group_linf",
        remark="for half the squared distance, which Eq. 13.106 lacks and its solution has",
    ),
    Entry(
        "Eqs. 13.111-13.113",
        "EM and Gibbs sampling for groups",
        "rules.parabolas.ridge_weights priors.GroupLaplacePrior",
    ),
    Entry("section 13.5.2", "the fused lasso", "penalties.FusedLasso"),
    Entry(
        "Figure 13.16",
        "copy numbers, and an image",
        "paths.signals.fuse_signal",
        "murphy-figure-13.16a murphy-figure-13.16b-c",
    ),
    Entry("Eq. 13.114", "the fused lasso", "penalties.FusedLasso"),
    Entry("Eq. 13.115", "a signal on a chain", "proximal.fused_lasso proximal.total_variation"),
    Entry(
        "Eq. 13.116",
        "a signal on a graph",
        "proximal.graph_total_variation paths.signals.fuse_signal",
    ),
    Entry("section 13.5.2.1", "fusion as a scale mixture", "priors.FusedLaplacePrior"),
    Entry(
        "Eqs. 13.117-13.121",
        "its precision matrix",
        "priors.FusedLaplacePrior priors.covariance_root.Chain",
    ),
    Entry(
        "section 13.5.2.2",
        "algorithms for fusion",
        "solvers.penalised.fused_quadratic.solve_fused "
        "penalties.fusion.fused_precision.spread_of_precision",
    ),
    Entry("section 13.5.3", "the elastic net", "penalties.ElasticNet"),
    Entry("section 13.5.3.1", "the elastic net", "penalties.ElasticNet penalties.L1WithRidge"),
    Entry("Eq. 13.122", "its objective", "penalties.ElasticNet penalties.L1WithRidge"),
    Entry("section 13.5.3.2", "its path by LARS", "solvers.penalised.homotopy.walk"),
    Entry("Eqs. 13.123-13.124", "as a lasso on more rows", "solvers.penalised.homotopy.walk"),
    Entry("section 13.5.3.3", "corrected", "penalties.ElasticNet"),
    Entry(
        "Eqs. 13.125-13.127",
        "corrected coefficients",
        "penalties.ElasticNet paths.penalised.corrected",
    ),
    Entry("section 13.5.3.4", "as a scale mixture", "priors.ElasticNetPrior"),
    Entry("Eqs. 13.128-13.130", "its law", "priors.ElasticNetPrior"),
)

_NON_CONVEX = (
    Entry(
        "section 13.6",
        "penalties that are not convex",
        "penalties.MCP penalties.SCAD penalties.LogSum",
    ),
    Entry("section 13.6.1", "bridge regression", "penalties.Bridge"),
    Entry("Eqs. 13.131-13.132", "powers of coefficients", "penalties.Bridge"),
    Entry("Figure 13.17", "priors that are not log-concave", studies="murphy-figure-13.17"),
    Entry("section 13.6.2", "the hierarchical adaptive lasso", "penalties.HAL priors.HALPrior"),
    Entry("Eqs. 13.133-13.135", "its model", "penalties.HAL scale_mixtures.laws.HALLaw"),
    Entry("section 13.6.2.1", "EM for it", "solvers.penalised.reweighted.solve_reweighted"),
    Entry(
        "Eqs. 13.136-13.140",
        "weights of a lasso, again and again",
        "solvers.penalised.reweighted.solve_reweighted",
        remark="Eq. 13.140 with the noise variance that it lacks",
    ),
    Entry(
        "Figure 13.18",
        "its model and its contours",
        studies="murphy-figure-13.18 murphy-figure-13.18b",
    ),
    Entry("section 13.6.2.2", "how it behaves", "penalties.thresholding"),
    Entry("Eqs. 13.141-13.143", "its law and penalty", "penalties.HAL penalties.LogSum"),
    Entry("Eqs. 13.144-13.146", "its threshold", "penalties.thresholding"),
    Entry("Figure 13.19", "thresholds", "penalties.thresholding", "murphy-figure-13.19"),
    Entry(
        "Table 13.2",
        "scale mixtures of normal laws",
        "priors.LaplacePrior priors.HALPrior priors.NEGPrior priors.NormalGammaPrior "
        "penalties.NormalJeffreys priors.StudentPrior priors.HorseshoePrior",
        remark="normal-Jeffreys as a penalty only: its posterior is improper",
    ),
    Entry("section 13.6.3", "other hierarchies", "ShrinkageRegressor penalties.NormalJeffreys"),
)

_RELEVANCE = (
    Entry("section 13.7", "relevance determination", "RelevanceRegressor priors.RelevancePrior"),
    Entry("sections 13.7.1-13.7.3", "for numbers, and why it is sparse", "RelevanceRegressor"),
    Entry(
        "Eqs. 13.147-13.158",
        "its model, evidence and posterior",
        "solvers.relevance.evidence.log_evidence solvers.relevance.given_variances.implied",
        remark="Eq. 13.150 with beta^-1 I, Eq. 13.153 with its factor -1/2",
    ),
    Entry("Figure 13.20", "why it is sparse", studies="murphy-figure-13.20"),
    Entry("Eq. 13.159", "one variable", "solvers.relevance.evidence.gain_of_one"),
    Entry("Eqs. 13.160-13.161", "as an estimate of a mode", "inference.ReweightedL1"),
    Entry("section 13.7.4", "its algorithms", "RelevanceRegressor inference.Sequential"),
    Entry(
        "sections 13.7.4.1-13.7.4.3",
        "EM, fixed points, reweighted l1",
        "inference.EM inference.FixedPoint inference.ReweightedL1",
    ),
    Entry("Eqs. 13.162-13.168", "EM", "solvers.relevance.climbing.em_step"),
    Entry("Eqs. 13.169-13.171", "fixed points", "solvers.relevance.climbing.fixed_point_step"),
    Entry(
        "Eqs. 13.172-13.173",
        "reweighted l1",
        "inference.relevance.lassos.lassos_of_numbers",
        remark="Eq. 13.173 with X on both sides of the diagonal",
    ),
    Entry("section 13.7.5", "for labels", "RelevanceClassifier"),
)

_NOT_YET = (
    Entry("section 13.8", "sparse coding", "coding.SparseCoder", remark="over given dictionaries"),
    Entry("sections 13.8.1-13.8.4", "dictionaries, sensing, inpainting", remark=_CODING),
    Entry("Table 13.3", "models of latent factors", remark=_CODING),
    Entry("Eqs. 13.174-13.179", "learning a dictionary", remark=_CODING),
    Entry("Figure 13.21", "filters of natural images", remark=_CODING),
    Entry("Figure 13.22", "compressed sensing", remark=_CODING),
    Entry("Figure 13.23", "inpainting", remark=_CODING),
)

_EXERCISES = (
    Entry("exercise 13.1", "the gradient of squares", "solvers.losses.least_squares.LeastSquares"),
    Entry("Eqs. 13.180-13.184", "one coefficient of least squares", "rules.columns.column_dot"),
    Entry("exercise 13.2", "EM of relevance determination", "solvers.relevance.climbing.em_step"),
    Entry("Eqs. 13.185-13.189", "its steps", "solvers.relevance.evidence.log_evidence"),
    Entry("exercise 13.3", "its fixed points", "solvers.relevance.climbing.fixed_point_step"),
    Entry("exercise 13.4", "the evidence under a g-prior", "priors.GPrior"),
    Entry("Eqs. 13.190-13.191", "the same", "priors.GPrior priors.evidence.closed_forms.FixedG"),
    Entry("exercise 13.5", "elastic net as a lasso", "solvers.penalised.homotopy.walk"),
    Entry("Eqs. 13.192-13.196", "the same", "solvers.penalised.homotopy.walk"),
    Entry("exercise 13.6", "shrinkage in orthogonal designs", "orthogonal.shrinkage_curves"),
    Entry("Figure 13.24", "the same drawn", "displays.ShrinkageDisplay", "murphy-figure-13.24"),
    Entry(
        "exercise 13.7",
        "unknown probabilities of inclusion",
        "priors.BetaInclusion priors.IndependentInclusion",
        remark="one that all share; one for each variable comes to a known probability",
    ),
    Entry("exercise 13.8", "the E step of any mixture", "rules.parabolas.ridge_weights"),
    Entry("Eqs. 13.197-13.201", "the same", "rules.parabolas.ridge_weights"),
    Entry(
        "exercise 13.9",
        "EM for probit regression",
        "solvers.losses.latent.LatentLeastSquares likelihoods.Probit",
    ),
    Entry("exercise 13.10", "groups as scale mixtures", "priors.GroupLaplacePrior"),
    Entry(
        "Eqs. 13.202-13.207",
        "normal-gamma laws",
        "scale_mixtures.laws.NormalGammaLaw priors.GroupLaplacePrior",
    ),
    Entry(
        "exercise 13.11",
        "projected gradients for the lasso",
        "solvers.classical.projected_gradient.ProjectedGradient",
    ),
    Entry("exercise 13.12", "the subderivative of the hinge loss", remark="there is no hinge loss"),
    Entry(
        "exercise 13.13",
        "lower bounds of convex functions",
        "rules.optimality.dual_bound",
        remark="duality gaps bound an objective from below, by more than one tangent",
    ),
)

MURPHY = Text(
    "Murphy, K. P. (2012). Machine Learning: A Probabilistic Perspective, chapter 13. MIT Press.",
    (
        *_SELECTION,
        *_BASICS,
        *_ALGORITHMS,
        *_EXTENSIONS,
        *_NON_CONVEX,
        *_RELEVANCE,
        *_NOT_YET,
        *_EXERCISES,
    ),
)
