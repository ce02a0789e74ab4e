"""Pictures at the command line: options of `garrote image`, and what its page shows."""
