"""Placeholder."""
class LamaRenderer:
    pass
