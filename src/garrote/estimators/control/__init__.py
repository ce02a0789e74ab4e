"""Estimators around other estimators, which bound how many of the selected variables are false."""
