"""The lecture on variable selection and sparsity, place by place."""

from garrote.experiments.texts.places import Entry, Text

LECTURE = Text(
    "Odone, F. and Rosasco, L. Variable Selection and Sparsity. RegML, lecture 6.",
    (
        Entry("Eq. 6.1", "a linear model", "Problem"),
        Entry(
            "section 6.1",
            "subset selection",
            "penalties.BestSubset penalties.L0 greedy.LeapsAndBounds",
            "lecture-omp",
        ),
        Entry(
            "Eq. 6.2",
            "a price for each variable",
            "penalties.BestSubset penalties.L0",
            remark="best subsets of least squares are exact; hard thresholding for other losses",
        ),
        Entry(
            "section 6.2",
            "matching pursuit, also orthogonal",
            "GreedyRegressor greedy.MatchingPursuit greedy.OMP",
            "lecture-omp",
        ),
        Entry("Eq. 6.3", "a step of matching pursuit", "greedy.MatchingPursuit"),
        Entry(
            "section 6.3",
            "lasso and elastic net, basis pursuit",
            "SparseRegressor penalties.BasisPursuit",
            "lecture-ista",
            "basis pursuit matches y exactly; the text's name for the lasso is basis pursuit denoising",
        ),
        Entry(
            "Eq. 6.4",
            "the lasso, and ISTA with soft thresholding",
            "penalties.L1 solvers.classical.ista.Ista proximal.soft_threshold",
            "lecture-ista",
            "the printed step has the wrong sign; the study shows both",
        ),
        Entry(
            "Eq. 6.5",
            "the elastic net, and its ISTA",
            "penalties.ElasticNet proximal.elastic_net solvers.classical.ista.Ista",
            "lecture-ista",
        ),
    ),
)
