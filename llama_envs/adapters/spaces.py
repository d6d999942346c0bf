"""The Gymnasium spaces of a game, shared by every adapter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from llama_envs.core.game import Game

ILLEGAL = ("lose", "error")  # what an illegal action does where the adapter offers the choice
ILLEGAL_REWARD = -1.0


def observation_box(game: Game) -> spaces.Box:
    """Box in [0, 1], float32, shape (D,): one seat's observation vector."""
    return spaces.Box(0.0, 1.0, (game.observation.size,), np.float32)


def masked_observation(game: Game) -> spaces.Dict:
    """``{"observation": Box (D,) float32, "action_mask": MultiBinary-like Box (A,) int8}``."""
    return spaces.Dict(
        {
            "observation": observation_box(game),
            "action_mask": spaces.Box(0, 1, (game.num_actions,), np.int8),
        }
    )


def state_box(game: Game) -> spaces.Box:
    """Box in [0, 1], float32, shape (P * D,): every seat's observation, seat 0 first."""
    return spaces.Box(0.0, 1.0, (game.num_players * game.observation.size,), np.float32)


def as_action(action: Any, game: Game) -> int:
    """``action`` as a Python int: an int, a NumPy integer or a 0-d integer array; no bool, float or array.

    Raises:
        ValueError: another type, or outside 0 .. A-1.
    """
    if type(action) is int and 0 <= action < game.num_actions:
        return action
    plain = action
    if isinstance(action, np.ndarray) and action.shape == () and action.dtype.kind in "iu":
        plain = int(action)
    if isinstance(plain, (bool, np.bool_)) or not isinstance(plain, (int, np.integer)):
        raise ValueError(f"an action must be one integer from 0 to {game.num_actions - 1}, got {action!r}.")
    if not 0 <= plain < game.num_actions:
        raise ValueError(f"action {plain} does not exist; actions are 0 to {game.num_actions - 1}.")
    return int(plain)


def check_reset_options(options: Mapping[str, Any] | None, known: Sequence[str] = ()) -> None:
    """ValueError if ``reset`` is given an option that it does not know, such as a field of the game's configuration."""
    for name in options or ():
        if name not in known and name != "options":  # which PettingZoo's api_test and parallel_api_test pass
            there_are = f"it knows {', '.join(known)}" if known else "it knows none"
            raise ValueError(
                f"reset() knows no option {name!r}; {there_are}, and what a game is like is told when it is made."
            )


def global_state(game: Game, observe: Any) -> npt.NDArray[np.float32]:
    """The observations of all seats, concatenated, for centralised critics; ``observe(seat)`` gives (D,)."""
    return np.concatenate([observe(seat) for seat in range(game.num_players)])
