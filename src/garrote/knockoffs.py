"""Kinds of knockoffs as objects with their settings, for `Knockoffs`."""

from garrote.selecting.knockoffs.kinds import KINDS, FixedX, KnockoffKind, ModelX

__all__ = ["KINDS", "FixedX", "KnockoffKind", "ModelX"]
