"""The sections of the benchmark, each with `run(settings) -> (tables, results)`."""

NAMES = (
    "path",
    "cv",
    "lasso",
    "memory",
    "scaling",
    "hard",
    "models",
    "effects",
    "shrinkage",
    "labels",
    "variation",
    "fused",
    "greedy",
    "survival",
    "coding",
    "margins",
    "startup",
)
