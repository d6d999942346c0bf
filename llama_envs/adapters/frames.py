"""Rendering for every adapter: the modes, the viewer's seat, and a window for ``human``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import logger

from llama_envs.core.game import Game
from llama_envs.core.validation import check_choice, check_int

MODES = ("human", "ansi", "rgb_array")


class FrameRenderer:
    """Draws one game in one mode.

    Args:
        mode: "human" (a pygame window), "ansi" (text), "rgb_array" (uint8 (H, W, 3)), or None.
        seat: whose eyes to look through; None follows the seat to move.
        reveal: show everything, hidden cards included.
    """

    def __init__(self, game: Game, mode: str | None, seat: int | None, reveal: bool) -> None:
        if mode is not None:
            check_choice("render_mode", mode, MODES)
        if seat is not None:
            check_int("render_seat", seat, 0, game.num_players - 1, " or None")
        self.game, self.mode, self.seat, self.reveal = game, mode, seat, bool(reveal)
        self._window: Any = None

    def render(self, state: Any, to_move: int) -> str | npt.NDArray[np.uint8] | None:
        """One frame of ``state`` (a record); a warning and None without a mode."""
        if self.mode is None:
            logger.warn("render() does nothing without a render_mode; pass render_mode='ansi', 'rgb_array' or 'human'.")
            return None
        seat = None if self.reveal else to_move if self.seat is None else self.seat
        if self.mode == "ansi":
            return self.game.renderer.text(self.game, state, seat)
        frame = self.game.renderer.picture(self.game, state, seat)
        if self.mode == "rgb_array":
            return frame
        self._show(frame)
        return None

    def _show(self, frame: npt.NDArray[np.uint8]) -> None:
        try:
            import pygame
        except ImportError:
            raise ImportError("render_mode='human' needs pygame: pip install 'llama-envs[render]'.") from None
        if self._window is None:
            pygame.display.init()
            pygame.display.set_caption(self.game.title)
            self._window = pygame.display.set_mode((frame.shape[1], frame.shape[0]))
        pygame.event.pump()
        self._window.blit(pygame.surfarray.make_surface(frame.swapaxes(0, 1)), (0, 0))
        pygame.display.flip()

    def close(self) -> None:
        """Close the window, if any; closing twice is fine."""
        if self._window is not None:
            import pygame

            pygame.display.quit()
            self._window = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_window": None}  # a copy opens its own window
