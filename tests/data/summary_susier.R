# Reference numbers of R's susieR for z-scores and LD, as summary_susier.json beside this file holds them.
#
#   Rscript summary_susier.R folder > summary_susier.json
#
# The folder holds z.csv (z-scores) and ld.csv (their LD matrix, a row a line): arrays z and ldref of
# susie_SummaryConsistency.npz, which came with susieR, as numpy.savetxt writes them with "%.17g".

suppressMessages(library(susieR))
folder <- commandArgs(trailingOnly = TRUE)[1]
z <- scan(file.path(folder, "z.csv"), quiet = TRUE)
ld <- as.matrix(read.csv(file.path(folder, "ld.csv"), header = FALSE))
dimnames(ld) <- NULL
n <- 10000
s <- estimate_s_rss(z, ld, n)
found <- kriging_rss(z, ld, n, s = s)$conditional_dist
whole <- function(values) paste0("[", paste(sprintf("%.10g", values), collapse = ", "), "]")
cat("{\n")
cat(sprintf('  "source": "susieR %s, R %s.%s", \n', packageVersion("susieR"), R.version$major, R.version$minor))
cat(sprintf('  "n": %d,\n', n))
cat(sprintf('  "mismatch": %.10g,\n', s))
for (name in c("condmean", "condvar", "z_std_diff", "logLR")) {
  cat(sprintf('  "%s": %s%s\n', name, whole(found[[name]]), if (name == "logLR") "" else ","))
}
cat("}\n")
