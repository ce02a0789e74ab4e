# Writes uscrime_bms.json: the posterior over all 2^15 models by the R package BMS (Zeugner & Feldkircher).
# Run: Rscript uscrime_bms.R path/to/uscrime.csv uscrime_bms.json
suppressMessages(library(BMS))
arguments <- commandArgs(trailingOnly = TRUE)
table <- read.csv(arguments[1])
names <- setdiff(colnames(table), "y")
columns <- lapply(names, function(name) if (name == "So") table[[name]] else log(table[[name]]))
data <- setNames(data.frame(log(table$y), columns), c("y", names))

number <- function(values) paste0("[", paste(format(values, digits = 15), collapse = ", "), "]")
quoted <- function(values) paste0("[", paste0('"', values, '"', collapse = ", "), "]")
study <- function(g) {
  fit <- bms(data, g = g, mprior = "uniform", mcmc = "enumerate", nmodel = 2^15, user.int = FALSE)
  found <- coef(fit, exact = TRUE, order.by.pip = FALSE)[, 1:3]
  weights <- pmp.bma(fit)[, 1]  # not normalised where every model is kept
  best <- topmodels.bma(fit)[names, 1:10]
  members <- apply(best == 1, 2, function(inside) quoted(names[inside]))
  paste0(
    '  "', g, '": {\n',
    '    "inclusion": ', number(found[, 1]), ",\n    \"mean\": ", number(found[, 2]),
    ",\n    \"deviation\": ", number(found[, 3]),
    ",\n    \"probability\": ", number(weights[1:10] / sum(weights)),
    ",\n    \"members\": [", paste(members, collapse = ", "), "]\n  }"
  )
}
call <- "bms(data, g = g, mprior = 'uniform', mcmc = 'enumerate', nmodel = 2^15)"
writeLines(c(
  "{",
  paste0('  "package": "BMS ', packageVersion("BMS"), ", ", R.version.string, '",'),
  paste0('  "call": "', call, '",'),
  paste0('  "names": ', quoted(names), ","),
  paste(sapply(c("UIP", "EBL", "hyper=3"), study), collapse = ",\n"),
  "}"
), arguments[2])
