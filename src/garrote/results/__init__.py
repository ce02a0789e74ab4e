"""What methods hand back: fits and paths, posteriors, selections, each with its certificate."""
