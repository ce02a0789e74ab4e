"""Relevance determination as estimators: of columns, and of rows by kernels."""
