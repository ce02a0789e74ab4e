"""Times until an event: who was at risk when, the partial likelihood, and hazards that go with it."""
