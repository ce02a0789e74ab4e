# Credible sets of susieR for several responses of one design: one line for each set, "response: columns".

source(file.path(commandArgs(trailingOnly = TRUE)[1], "exchange.R"))
suppressPackageStartupMessages(library(susieR))

X <- read_design()
Y <- read_raw("Y", "double")
dim(Y) <- c(number("N"), length(Y) / number("N"))
lines <- c()
seconds <- clocked(for (k in seq_len(ncol(Y))) {
  fit <- suppressMessages(suppressWarnings(susie(X, Y[, k], L = number("effects", 10), max_iter = 500)))
  for (i in seq_along(fit$sets$cs)) {
    members <- paste(fit$sets$cs[[i]] - 1, collapse = " ")
    lines <- c(lines, paste0(k - 1, " ", fit$sets$purity[i, 1], " : ", members))
  }
})
writeLines(c(paste("seconds", seconds), lines), file.path(given$out, "sets.txt"))
