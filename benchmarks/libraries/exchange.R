# Read a problem's raw files, time one fit inside this process, write raw files back.

words <- strsplit(commandArgs(trailingOnly = TRUE)[-1], "=", fixed = TRUE)
given <- setNames(lapply(words, `[`, 2), sapply(words, `[`, 1))
number <- function(name, otherwise = NA) if (is.null(given[[name]])) otherwise else as.numeric(given[[name]])

read_raw <- function(name, what) {
  file <- file.path(given$folder, paste0(name, ".bin"))
  bytes <- if (what == "integer") 4 else 8
  readBin(file, what, n = file.size(file) / bytes, endian = "little")
}

read_design <- function() {
  if (number("sparse") == 1) {
    new("dgCMatrix", x = read_raw("data", "double"), i = read_raw("indices", "integer"),
        p = read_raw("indptr", "integer"), Dim = as.integer(c(number("N"), number("D"))))
  } else {
    X <- read_raw("X", "double")
    dim(X) <- c(number("N"), number("D"))  # sets an attribute; no copy
    X
  }
}

write_raw <- function(values, name) {
  writeBin(as.vector(values), file.path(given$out, paste0(name, ".bin")), endian = "little")
}

write_path <- function(beta) {
  write_raw(beta@x, "beta_x"); write_raw(beta@i, "beta_i"); write_raw(beta@p, "beta_p")
}

memory <- function(field) {
  line <- grep(field, readLines("/proc/self/status"), value = TRUE)
  1024 * as.numeric(strsplit(line, "[[:space:]]+")[[1]][2])
}

clocked <- function(work) {  # its argument is evaluated between the two times
  start <- Sys.time()
  force(work)
  as.numeric(difftime(Sys.time(), start, units = "secs"))
}

busy <- function() sum(proc.time()[c("user.self", "sys.self")])

# As the Python adapters do: fit a corner of the problem, then all of it, twice unless that is long.
measured <- function(fit, X, y, lambda) {
  if (number("warm_up") == 1) {
    rows <- seq_len(min(nrow(X), 300)); columns <- seq_len(min(ncol(X), 600))
    corner <- X[rows, columns]
    fit(corner, y[rows], max(abs(crossprod(corner, y[rows]))) / length(rows) * lambda / lambda[1])
    rm(corner)
  }
  invisible(gc())
  try(cat("5", file = "/proc/self/clear_refs"), silent = TRUE)
  before <- memory("VmRSS")
  start <- busy()
  seconds <- clocked(fitted <- fit(X, y, lambda))
  processor <- busy() - start
  peak <- memory("VmHWM")
  if (number("warm_up") == 1 && seconds < number("patience")) {
    start <- busy()
    seconds <- min(seconds, clocked(fit(X, y, lambda)))
    processor <- min(processor, busy() - start)
  }
  bytes <- if (is.matrix(X)) 8 * length(X) else 12 * length(X@x) + 4 * length(X@p)
  write_raw(c(seconds, before, peak, bytes, processor), "measured")
  fitted
}
