"""Labels as weighted regressions: Jaakkola's bound, and Polya-Gamma variables."""
