"""Are stated inclusion probabilities those of the truth? Two studies on simulated tables."""
