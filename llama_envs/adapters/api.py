"""What a user gets of a game: ``env``, ``raw_env``, ``parallel_env``, ``batch``; a ``<game>_v0`` module offers these.

::

    from llama_envs.adapters.api import env
    env("some_game", num_players=2)
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from pettingzoo import AECEnv

from llama_envs.adapters.aec import GameAECEnv, wrap
from llama_envs.adapters.parallel import GameParallelEnv
from llama_envs.core.batch import Batch
from llama_envs.core.chance import Seeds
from llama_envs.core.game import Game
from llama_envs.core.registry import make_game


def raw_env(
    game: str,
    num_players: int | None = None,
    render_mode: str | None = None,
    render_seat: int | None = None,
    reveal: bool = False,
    **config: Any,
) -> GameAECEnv:
    """The AEC environment without wrappers: an illegal action is an error and changes nothing.

    Every ``**config`` is an option of the game (see its README).
    """
    return GameAECEnv(_make(game, num_players, config), render_mode, render_seat, reveal)


def env(
    game: str, num_players: int | None = None, render_mode: str | None = None, **config: Any
) -> AECEnv[Any, Any, Any]:
    """The AEC environment, wrapped as PettingZoo's classic games are. Takes what :func:`raw_env` takes."""
    return wrap(raw_env(game, num_players, render_mode, **config))


def parallel_env(
    game: str,
    num_players: int | None = None,
    render_mode: str | None = None,
    render_seat: int | None = None,
    reveal: bool = False,
    illegal_action: str = "lose",
    **config: Any,
) -> GameParallelEnv:
    """The Parallel environment, native: all agents act in one step."""
    return GameParallelEnv(_make(game, num_players, config), render_mode, render_seat, reveal, illegal_action)


def batch(
    game: str,
    num_games: int,
    num_players: int | None = None,
    seed: Seeds = None,
    autoreset: bool = False,
    threads: int = 1,
    **config: Any,
) -> Batch:
    """``num_games`` games in one structured array; see :class:`llama_envs.core.batch.Batch`."""
    return Batch(_make(game, num_players, config), num_games, seed, autoreset, threads)


class PublicAPI(NamedTuple):
    """The four functions of one game, without its name as their first argument."""

    env: partial[AECEnv[Any, Any, Any]]
    raw_env: partial[GameAECEnv]
    parallel_env: partial[GameParallelEnv]
    batch: partial[Batch]


def public_api(game: str) -> PublicAPI:
    """``env, raw_env, parallel_env, batch`` of a game, for its module ``<game>_v0``."""
    return PublicAPI(partial(env, game), partial(raw_env, game), partial(parallel_env, game), partial(batch, game))


def _make(game: str, num_players: int | None, config: dict[str, Any]) -> Game:
    players = {} if num_players is None else {"num_players": num_players}
    return make_game(game, **players, **config)
