"""R's susieR: one model, its features those with inclusion probability above one half.

Credible sets are susie's own read-out; the threshold is only what compares it with the others.
Options: `effects` (its L).
"""

from libraries.answers import Answer
from libraries.rscript import measure_in_r, package_version


def version():
    return package_version("susieR")


def measure(job):
    def read_answer(_, chosen, probability):
        return Answer(coef=chosen, selected=probability > 0.5)

    return measure_in_r(job, "susie.R", read_answer)
