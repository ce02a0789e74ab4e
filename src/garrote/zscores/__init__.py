"""Summary statistics in place of rows: z-scores, LD, and whether the two agree."""
