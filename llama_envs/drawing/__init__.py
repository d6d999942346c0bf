"""Pictures of card games: each described once, and drawn as pixels or as an SVG document."""

from llama_envs.drawing.renderer import Shown, show

__all__ = ["Shown", "show"]
