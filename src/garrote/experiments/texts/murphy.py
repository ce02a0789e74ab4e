"""Murphy's chapter on sparse linear models, place by place."""

from garrote.experiments.texts.murphy_first_sections import FIRST_SECTIONS, UNDRAWN
from garrote.experiments.texts.places import Entry, Text

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
    Entry("Figure 13.15", "groups as a graphical model", remark=UNDRAWN),
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

_SPARSE_CODING = (
    Entry(
        "section 13.8",
        "sparse coding, and what not to confuse it with",
        "coding.SparseCoder coding.SparsePCA",
    ),
    Entry(
        "section 13.8.1",
        "learning a dictionary",
        "coding.DictionaryLearning coding.BetaProcessDictionary",
    ),
    Entry("section 13.8.2", "filters of natural images", "", "murphy-figure-13.21"),
    Entry(
        "section 13.8.3",
        "compressed sensing",
        "coding.CompressedSensing designs.operators.Operator",
    ),
    Entry("section 13.8.4", "inpainting", "coding.Inpainter coding.Denoiser"),
    Entry("Table 13.3", "models of latent factors", "", "murphy-table-13.3"),
    Entry(
        "Eq. 13.174",
        "the likelihood of a dictionary",
        "coding.BetaProcessDictionary coding.SpikeSlabCoding",
        remark="drawn from with a spike and a slab; of given dictionaries also bounded by mean field",
    ),
    Entry("Eqs. 13.175-13.177", "codes and dictionary together", "coding.DictionaryLearning"),
    Entry("Eq. 13.178", "non-negative factors", "coding.NonNegativeFactorization"),
    Entry("Eq. 13.179", "factors that are both sparse", "coding.SparseMatrixFactorization"),
    Entry("Figure 13.21", "filters of natural images", "", "murphy-figure-13.21"),
    Entry("Figure 13.22", "compressed sensing", "coding.CompressedSensing", "murphy-figure-13.22"),
    Entry("Figure 13.23", "inpainting", "coding.Inpainter", "murphy-figure-13.23"),
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
        *FIRST_SECTIONS,
        *_EXTENSIONS,
        *_NON_CONVEX,
        *_RELEVANCE,
        *_SPARSE_CODING,
        *_EXERCISES,
    ),
)
