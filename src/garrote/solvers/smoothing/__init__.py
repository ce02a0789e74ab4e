"""Objectives with kinks, made smooth over a width that shrinks until the kinks are back."""
