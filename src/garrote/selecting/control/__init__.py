"""Error control around any selector: resamples of rows, bounds on false selections, frequencies."""
