# Writes susie.json: sums of single effects by the R package susieR, on the data that it carries.
# Run: Rscript susie.R susie.json
suppressMessages(library(susieR))
arguments <- commandArgs(trailingOnly = TRUE)
data(N2finemapping); data(N3finemapping); data(FinemappingConvergence)

number <- function(values) paste(format(values, digits = 12, trim = TRUE), collapse = ", ")
listed <- function(values) paste0("[", number(values), "]")
# Positions are counted from 0.
whole <- function(values) paste0("[", paste(values - 1, collapse = ", "), "]")

described <- function(label, fit) {
  sets <- fit$sets$cs
  purity <- fit$sets$purity
  pip <- susie_get_pip(fit)
  shown <- which(pip > 0.02)
  paste0(
    '  "', label, '": {\n    "bound": ', number(tail(fit$elbo, 1)),
    ',\n    "noise_variance": ', number(fit$sigma2),
    ',\n    "prior_variance": ', listed(sort(fit$V[fit$V > 1e-9], decreasing = TRUE)),
    ',\n    "columns": ', whole(shown), ',\n    "inclusion": ', listed(pip[shown]),
    ',\n    "sets": [', paste(sapply(sets, function(s) whole(sort(s))), collapse = ", "),
    '],\n    "purity": [',
    paste(apply(as.matrix(purity), 1, listed), collapse = ", "), "]\n  }"
  )
}
rows <- function(label, data, trait, ...) {
  described(label, susie(data$X, data$Y[, trait], L = 10, tol = 1e-8, max_iter = 2000, ...))
}
moments <- function(label, ...) {
  d <- FinemappingConvergence
  described(label, susie_suff_stat(d$XtX, d$Xty, d$yty, d$n, L = 10, tol = 1e-8, max_iter = 2000, ...))
}
studies <- c(
  rows("N3 trait 1", N3finemapping, 1),
  rows("N3 trait 2", N3finemapping, 2),
  rows("N2 trait 1", N2finemapping, 1),
  rows("N2 trait 2", N2finemapping, 2),
  rows("N3 trait 1, variance 0.2", N3finemapping, 1, estimate_prior_variance = FALSE),
  rows("N3 trait 1, noise 6", N3finemapping, 1, residual_variance = 6, estimate_residual_variance = FALSE),
  moments("convergence"),
  moments("convergence, refined", refine = TRUE)
)
call <- "susie(X, y, L = 10, tol = 1e-8, max_iter = 2000)"
writeLines(c(
  "{",
  paste0('  "package": "susieR ', packageVersion("susieR"), ", ", R.version.string, '",'),
  paste0('  "call": "', call, '",'),
  paste(studies, collapse = ",\n"),
  "}"
), arguments[1])
