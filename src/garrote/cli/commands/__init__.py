"""What each command of `garrote` does."""
