"""Pictures of times until an event: the probability of rows to be without one."""
