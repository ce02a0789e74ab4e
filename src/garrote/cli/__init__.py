"""The command `garrote`: from a file to a selection, a report and predictions, without Python."""
