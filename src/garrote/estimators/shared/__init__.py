"""What several estimators share: settings, predictions, files."""
