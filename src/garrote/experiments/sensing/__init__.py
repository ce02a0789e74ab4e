"""Compressed sensing, measured: where l1 recovers sparse signals, and Murphy's model of it run."""
