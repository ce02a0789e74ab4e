"""How much is done at once: how long a kernel runs, how much memory a step takes, what is kept."""

# One call of a kernel takes some 20 ms, so that Ctrl-C is heard between two calls. It reads at most so
# many entries of X, or non-zeros times right-hand sides,
ENTRIES_PER_CALL = 1 << 23
# ... or so many entries that it does several operations with,
ENTRIES_WEIGHED_PER_CALL = 4_000_000
# ... makes about so many products,
PRODUCTS_PER_CALL = 2e7
# ... visits so many columns in a chain's sweeps, or coefficients to draw their scales,
VISITS_PER_CALL = 2e6
SCALES_PER_CALL = 50_000
# ... looks at so many models, at models of so many signs in all, or at all models of so many columns.
MODELS_PER_CALL = 20_000
SIGNS_PER_CALL = 200_000
COLUMNS_PER_CALL = 18

# Entries of a dense block that is copied out of X at a time: 4 MB, which stay in cache.
ENTRIES_PER_BLOCK = 1 << 19
# Entries of X that are worked on at a time on a GPU, half a gigabyte of float64 numbers; that are made
# float64 and used at once, so that they stay in its cache; and rows of float32 numbers whose products
# are added up there before float64 takes over.
ENTRIES_ON_DEVICE = 1 << 26
ENTRIES_IN_CACHE = 1 << 22
ROWS_IN_SINGLE = 2048
# Numbers that are transformed, compared or read from a file at once: 32 MB.
NUMBERS_AT_ONCE = 4_000_000
# Rows that draws are averaged over at once when they predict.
ROWS_AT_ONCE = 5000
# Entries of tables of labels that have all their columns at hand at once: 160 MB.
ENTRIES_AT_HAND = 20_000_000

# Entries of a dense copy of columns that samplers and searches keep, at most: 1.2 GB, beside which a
# usual machine has room for the chains.
ENTRIES_KEPT = 150_000_000
# Bytes of rows of X'X that are kept by all chains together, and by other solvers.
GRAM_BYTES, GRAM_BYTES_OF_DESCENT = 120_000_000, 100_000_000
# Numbers that the draws of chains are thinned to: 80 MB.
NUMBERS_DRAWN = 10_000_000
# Bytes of a dense block of all columns that a method solves with at once, at most; beyond, neither it
# nor the cross products of its rows fit a usual machine.
BLOCK_BYTES = 4 * 2**30
# Entries of X that is refitted to parts of its rows without being asked: 20 refits take some seconds.
ENTRIES_REFITTED = 300_000
# The same of labels and counts, whose posteriors cost some thirty times as much an entry.
ENTRIES_OF_LABELS_REFITTED = 10_000
# Columns that interactions, curves and formulas may make of a table: beyond, a choice among them
# tells little.
COLUMNS_MADE = 20_000
