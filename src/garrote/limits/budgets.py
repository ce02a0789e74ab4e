"""How much is done at once: how long a kernel runs, and how large a dense copy of X may be."""

# Entries of X, or non-zeros times right-hand sides, that one call of a kernel reads at most: 20 ms or
# less, so that Ctrl-C is heard between two calls.
ENTRIES_PER_CALL = 1 << 23
# Entries of a dense copy of columns that samplers and searches keep, at most: 1.2 GB, beside which a
# usual machine has room for the chains.
ENTRIES_KEPT = 150_000_000
# Bytes of a dense block of all columns that a method solves with at once, at most; beyond, neither it
# nor the cross products of its rows fit a usual machine.
BLOCK_BYTES = 4 * 2**30
