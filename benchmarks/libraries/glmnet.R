# The lasso by glmnet: the path, or cross-validation with the path on all data.

source(file.path(commandArgs(trailingOnly = TRUE)[1], "exchange.R"))
suppressPackageStartupMessages({ library(Matrix); library(glmnet) })

validated <- given$task %in% c("cv", "label_cv", "class_cv")

fit <- function(X, y, lambda) {
  if (given$task %in% c("label_cv", "class_cv"))
    cv.glmnet(X, y, family = if (given$task == "label_cv") "binomial" else "multinomial", lambda = lambda,
              standardize = FALSE, thresh = number("thresh", 1e-7), nfolds = number("folds", 5))
  else if (!validated)
    glmnet(X, y, family = if (given$task == "labels") "binomial" else "gaussian", lambda = lambda,
           standardize = FALSE, intercept = FALSE, thresh = number("thresh", 1e-7))
  else
    cv.glmnet(X, y, lambda = lambda, standardize = FALSE, intercept = FALSE,
              thresh = number("thresh", 1e-7), nfolds = number("folds", 5))
}

set.seed(0)  # the folds
fitted <- measured(fit, read_design(), read_raw("y", "double"), read_raw("lambdas", "double"))
if (given$task == "class_cv") {  # of several classes the largest coefficient of each column
  write_raw(Reduce(pmax, lapply(coef(fitted, s = "lambda.min"), function(each) abs(each[-1]))), "chosen")
} else if (!validated) {
  write_path(fitted$beta)
} else {
  write_path(fitted$glmnet.fit$beta)
  write_raw(coef(fitted, s = "lambda.min")[-1], "chosen")
}
