"""Gibbs sampling under priors that shrink every coefficient and leave none out."""
