# Numbers of glmnet and survival for tests/estimators: Rscript cox_r.R writes cox_r.json.
suppressMessages({library(glmnet); library(survival)})
d <- na.omit(lung); d$status <- d$status-1
vars <- c("age","sex","ph.ecog","ph.karno","pat.karno","meal.cal","wt.loss")
X <- as.matrix(d[,vars])
out <- list()
num <- function(x) paste0("[", paste(sprintf("%.12g", as.numeric(x)), collapse=","), "]")
cat("{\n", file="cox_r.json")
put <- function(name, x, last=FALSE) cat(sprintf('"%s": %s%s\n', name, x, if(last) "" else ","), file="cox_r.json", append=TRUE)
put("versions", sprintf('["glmnet %s", "survival %s"]', packageVersion("glmnet"), packageVersion("survival")))
put("time", num(d$time)); put("event", num(d$status))
for (v in vars) put(paste0("x_",v), num(d[[v]]))
for (ties in c("efron","breslow")) {
  f <- coxph(Surv(time,status) ~ age+sex+ph.ecog+ph.karno+pat.karno+meal.cal+wt.loss, d, ties=ties, control=coxph.control(eps=1e-12, iter.max=100))
  put(paste0(ties,"_coef"), num(coef(f))); put(paste0(ties,"_loglik"), num(f$loglik)); put(paste0(ties,"_var"), num(vcov(f)))
  b <- basehaz(f, centered=TRUE); put(paste0(ties,"_basetime"), num(b$time)); put(paste0(ties,"_basehaz"), num(b$hazard))
}
w <- (seq_len(nrow(d)) %% 3 + 1)/2
f <- coxph(Surv(time,status) ~ age+ph.ecog+wt.loss+strata(sex), d, weights=w, ties="efron", control=coxph.control(eps=1e-12, iter.max=100))
put("weighted_coef", num(coef(f))); put("weighted_loglik", num(f$loglik))
put("concordance", num(concordance(Surv(time,status) ~ age, d, reverse=TRUE)$concordance))
# glmnet takes rows that are censored at the time of an event for gone before it; half a day avoids that.
y <- Surv(d$time + (1 - d$status) / 2, d$status)
g <- glmnet(X, y, family="cox", thresh=1e-14, maxit=1e7, nlambda=20)
put("lambda", num(g$lambda)); put("beta", num(as.matrix(g$beta))); put("dev_ratio", num(g$dev.ratio)); put("nulldev", num(g$nulldev))
foldid <- (seq_len(nrow(d))-1) %% 5 + 1
cv <- cv.glmnet(X, y, family="cox", lambda=g$lambda, foldid=foldid, thresh=1e-14, maxit=1e7)
put("cvm", num(cv$cvm)); put("cvsd", num(cv$cvsd)); put("cv_lambda", num(cv$lambda))
h <- heart; XH <- cbind(age=h$age, year=h$year, surgery=as.numeric(h$surgery), transplant=as.numeric(h$transplant)-1)
put("h_start", num(h$start)); put("h_stop", num(h$stop)); put("h_event", num(h$event)); put("h_x", num(XH))
f <- coxph(Surv(start,stop,event) ~ XH, h, ties="efron", control=coxph.control(eps=1e-12, iter.max=100))
put("h_coef", num(coef(f))); put("h_loglik", num(f$loglik), TRUE)
cat("}\n", file="cox_r.json", append=TRUE)
