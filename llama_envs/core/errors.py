"""Errors a user can act on; all are ``ValueError``."""

from __future__ import annotations


class IllegalAction(ValueError):
    """An action that the seat to move may not take; the game is unchanged."""


class ResetNeeded(ValueError):
    """A step after the end of the game."""
