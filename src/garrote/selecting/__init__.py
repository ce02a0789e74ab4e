"""From paths and posteriors to selections."""
