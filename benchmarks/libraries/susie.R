# The sum of single effects by susieR: chosen coefficients, and inclusion probabilities as scores.

source(file.path(commandArgs(trailingOnly = TRUE)[1], "exchange.R"))
suppressPackageStartupMessages({ library(Matrix); library(susieR) })

fit <- function(X, y, lambda) {
  susie(X, y, L = number("effects", 20), standardize = FALSE, intercept = FALSE)
}

fitted <- measured(fit, read_design(), read_raw("y", "double"), read_raw("lambdas", "double"))
write_raw(coef(fitted)[-1], "chosen")
write_raw(susie_get_pip(fitted), "score")
