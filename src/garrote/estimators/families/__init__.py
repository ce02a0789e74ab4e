"""What families ask of estimators: dispersions told or learned, and predictions of times."""
