"""BMS: all models under a g-prior with g = N and even odds, by the R package."""

from libraries.answers import Answer
from libraries.rscript import measure_in_r, package_version


def version():
    return package_version("BMS")


def measure(job):
    def read_answer(_, chosen, probability):
        return Answer(coef=chosen, selected=probability > 0.5)

    return measure_in_r(job, "bms.R", read_answer)
