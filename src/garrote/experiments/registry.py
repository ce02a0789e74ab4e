"""Which studies there are: their names, what they show, and the function that runs each."""

from importlib import import_module
from typing import NamedTuple

from garrote.experiments.report import Report, StudySettings


class Study(NamedTuple):
    """A published table or figure, where the code lies that runs it again, and the files it needs."""

    title: str
    module: str
    function: str
    needs: tuple[str, ...] = ()


# Murphy, K. P. (2012). Machine Learning: A Probabilistic Perspective, chapter 13.
# VG: Kappen, H. J. and Gomez, V. (2014). The Variational Garrote. Machine Learning 96, 269-294.
STUDIES = {
    "vg-table-1": Study(
        "one relevant variable among 100", "variational_garrote.tables_1_2", "run_table_1"
    ),
    "vg-table-2": Study(
        "five among 100, correlated", "variational_garrote.tables_1_2", "run_table_2"
    ),
    "vg-table-3": Study(
        "where the lasso is inconsistent", "variational_garrote.table_3", "run_table_3"
    ),
    "vg-table-4": Study(
        "optima of garrote and paired mean field",
        "variational_garrote.boston",
        "run_table_4",
    ),
    "vg-figure-1": Study(
        "when two solutions coexist", "variational_garrote.figure_1", "run_figure_1"
    ),
    "vg-figure-2": Study(
        "shrinkage of one coefficient", "variational_garrote.figure_2", "run_figure_2"
    ),
    "vg-figure-3": Study(
        "one run of the garrote", "variational_garrote.figures_3_4", "run_figure_3"
    ),
    "vg-figure-4": Study(
        "lasso and ridge on the same data", "variational_garrote.figures_3_4", "run_figure_4"
    ),
    "vg-figure-5": Study(
        "paths where the lasso is inconsistent", "variational_garrote.figure_5", "run_figure_5"
    ),
    "vg-figure-6a": Study(
        "noise, weakly correlated columns", "variational_garrote.figures_6", "run_figure_6a"
    ),
    "vg-figure-6b": Study(
        "noise, strongly correlated columns", "variational_garrote.figures_6", "run_figure_6b"
    ),
    "vg-figure-6c": Study(
        "noise, effects of both signs", "variational_garrote.figures_6", "run_figure_6c"
    ),
    "vg-figure-7": Study(
        "table 4 drawn, and hysteresis in pi",
        "variational_garrote.boston",
        "run_figure_7",
    ),
    "vg-figure-8": Study(
        "recovery as rows are added", "variational_garrote.figures_8_10", "run_figure_8"
    ),
    "vg-figure-9": Study(
        "correlations of genotypes",
        "variational_garrote.figure_9",
        "run_figure_9",
        ("mice_genotypes.npz",),
    ),
    "vg-figure-10": Study(
        "the same with genotypes",
        "variational_garrote.figures_8_10",
        "run_figure_10",
        ("mice_genotypes.npz",),
    ),
    "vg-figure-11": Study(
        "scaling with the number of variables", "variational_garrote.figure_11", "run_figure_11"
    ),
    "vg-figure-12": Study(
        "fixed points of one variable", "variational_garrote.figure_12", "run_figure_12"
    ),
    "vg-section-5.5": Study(
        "optima on Boston housing as gamma changes",
        "variational_garrote.boston_gammas",
        "run_section_5_5",
    ),
    "iba-figure-1": Study(
        "mean field in spins at typical penalties", "iba_figures", "run_figure_1"
    ),
    "iba-figure-2": Study("the same as the penalty rises", "iba_figures", "run_figure_2"),
    "murphy-figure-13.1": Study(
        "the posterior over all models of ten variables", "murphy.figure_13_1", "run_figure_13_1"
    ),
    "murphy-table-13.1": Study(
        "four methods on the prostate data",
        "murphy.table_13_1",
        "run_table_13_1",
    ),
    "murphy-listing-13.1": Study(
        "the lasso's knots on the prostate data",
        "murphy.lasso_path",
        "run_listing_13_1",
    ),
    "murphy-figure-13.2b": Study(
        "all subsets of the prostate data's variables",
        "murphy.figure_13_2",
        "run_figure_13_2b",
    ),
    "murphy-best-subsets": Study(
        "the same by two exact solvers and by greedy searches",
        "subsets.prostate",
        "run_best_subsets",
    ),
    "murphy-figure-13.3": Study(
        "least squares in an l1 ball and in an l2 ball", "murphy.sketches.balls", "run_figure_13_3"
    ),
    "murphy-figure-13.4": Study(
        "subderivatives of the lasso's objective",
        "murphy.sketches.subderivatives",
        "run_figure_13_4",
    ),
    "murphy-figure-13.5": Study(
        "soft and hard thresholding", "murphy.thresholding", "run_figure_13_5"
    ),
    "murphy-figure-13.6": Study(
        "polynomials by lambda and by degree", "murphy.figure_13_6", "run_figure_13_6"
    ),
    "murphy-figure-13.7": Study(
        "profiles of ridge and lasso on the prostate data",
        "murphy.figure_13_7",
        "run_figure_13_7",
    ),
    "murphy-figure-13.8": Study(
        "the lasso's path is piecewise linear",
        "murphy.lasso_path",
        "run_figure_13_8",
    ),
    "murphy-figure-13.9": Study(
        "spikes by the lasso, debiased", "murphy.figure_13_9", "run_figure_13_9"
    ),
    "murphy-figure-13.10": Study(
        "lasso and bolasso over lambda", "murphy.figure_13_10", "run_figure_13_10"
    ),
    "murphy-figure-13.11": Study(
        "a projected gradient step", "murphy.sketches.projected_step", "run_figure_13_11"
    ),
    "murphy-figure-13.21": Study(
        "filters of natural images", "pictures.latent_factors", "run_figure_13_21"
    ),
    "murphy-figure-13.23": Study(
        "a photograph with text over it", "pictures.inpainting", "run_figure_13_23"
    ),
    "murphy-table-13.3": Study(
        "models of latent factors", "pictures.latent_factors", "run_table_13_3"
    ),
    "murphy-figure-13.22": Study(
        "the model of compressed sensing", "sensing.figure_13_22", "run_figure_13_22"
    ),
    "phase-diagram": Study(
        "where l1 recovers sparse signals", "sensing.phase_diagram", "run_phase_diagram"
    ),
    "murphy-figure-13.13": Study(
        "groups of normal coefficients", "murphy.groups", "run_figure_13_13"
    ),
    "murphy-figure-13.14": Study(
        "groups of equal coefficients", "murphy.groups", "run_figure_13_14"
    ),
    "murphy-figure-13.16a": Study(
        "the fused lasso on comparative genomic hybridization",
        "murphy.fused",
        "run_figure_13_16a",
        ("cgh.npz",),
    ),
    "murphy-figure-13.16b-c": Study(
        "an image denoised by the fused lasso over its lattice",
        "murphy.fused",
        "run_figure_13_16bc",
    ),
    "murphy-figure-13.17": Study(
        "priors that are not log-concave", "murphy.sparse_priors", "run_figure_13_17"
    ),
    "murphy-figure-13.18": Study(
        "the hierarchical adaptive lasso: its model and its contours",
        "murphy.sparse_priors",
        "run_figure_13_18",
    ),
    "murphy-figure-13.18b": Study(
        "contours of the hierarchical adaptive penalty", "murphy.sparse_priors", "run_figure_13_18b"
    ),
    "murphy-figure-13.19": Study(
        "thresholds of the hierarchical adaptive prior", "murphy.thresholding", "run_figure_13_19"
    ),
    "murphy-figure-13.20": Study(
        "why relevance determination is sparse", "murphy.relevance", "run_figure_13_20"
    ),
    "murphy-figure-13.24": Study(
        "three estimators of an orthonormal design",
        "murphy.sketches.orthonormal",
        "run_figure_13_24",
    ),
    # Lecture: Odone, F. and Rosasco, L., Variable Selection & Sparsity (RegML).
    "lecture-omp": Study(
        "matching pursuits as printed, beside best subsets",
        "subsets.lecture_omp",
        "run_lecture_omp",
    ),
    "lecture-ista": Study(
        "soft thresholding as printed and as derived", "lecture_ista", "run_lecture_ista"
    ),
    # VO: Staines, J. and Barber, D. (2012). Variational Optimization. arXiv:1212.4507.
    "vo-figure-1": Study(
        "the average of |w| and of a lasso of one coefficient",
        "variational_optimization.figures_1_2",
        "run_figure_1",
    ),
    "vo-figure-2": Study(
        "what the average adds to |w|", "variational_optimization.figures_1_2", "run_figure_2"
    ),
    "vo-figure-3": Study(
        "the hinge averaged, and with Huber's parabola, and their slopes",
        "variational_optimization.figure_3",
        "run_figure_3",
    ),
    "vo-figure-4": Study(
        "seconds to train support vector machines, by rows",
        "variational_optimization.figure_4",
        "run_figure_4",
    ),
    "vo-table-1": Study(
        "seven solvers of a lasso, and two of ours",
        "variational_optimization.table_1",
        "run_table_1",
    ),
    "vo-fused": Study(
        "fused lassos by smoothing, beside their optima",
        "variational_optimization.fused",
        "run_fused",
    ),
    "vo-binary": Study(
        "binary quadratic programmes: means, relaxations and all settings",
        "variational_optimization.binary_programmes",
        "run_binary",
    ),
    # Hastie, T., Tibshirani, R. and Tibshirani, R. J. (2017), arXiv:1707.08692.
    "htt-risks": Study(
        "forward, lasso, relaxed lasso and best subsets in published settings",
        "subsets.hastie_tibshirani",
        "run_htt",
    ),
    # Not of a text: what the documentation says of calibration.
    "calibration": Study(
        "are inclusion probabilities calibrated?", "calibration.bins", "run_calibration"
    ),
    "calibration-grid": Study(
        "the same over laws of data, by shapes of the slab",
        "calibration.grid",
        "run_calibration_grid",
    ),
    "error-control": Study(
        "false selections of Bayesian false discovery rates, knockoffs and stability selection",
        "calibration.error_control",
        "run_error_control",
    ),
}


def run_study(name: str, settings: StudySettings = StudySettings()) -> Report:  # noqa: B008 - frozen
    """Run one study by its name, such as ``"vg-table-1"``."""
    if name not in STUDIES:
        raise ValueError(f"there is no study {name!r}; known are {', '.join(STUDIES)}")
    study = STUDIES[name]
    module = import_module(f"garrote.experiments.{study.module}")
    report: Report = getattr(module, study.function)(settings)
    return report
