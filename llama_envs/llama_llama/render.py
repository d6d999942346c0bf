"""Placeholder."""


class LlamaLlamaRenderer:
    """Draws nothing yet."""
