"""The functions of a ``<game>_v<version>`` module, made from a game's name: env, raw_env, parallel_env, batch."""

from __future__ import annotations

from typing import Any

from pettingzoo import AECEnv

from llama_envs.adapters.aec import GameAECEnv, wrap
from llama_envs.adapters.parallel import GameParallelEnv
from llama_envs.core.batch import Batch
from llama_envs.core.chance import Seeds
from llama_envs.core.registry import make_game


class Door:
    """What a user gets of one game; every ``**config`` is the game's own options (see its README)."""

    def __init__(self, name: str) -> None:
        self.name = name

    def raw_env(
        self,
        num_players: int | None = None,
        render_mode: str | None = None,
        render_seat: int | None = None,
        reveal: bool = False,
        **config: Any,
    ) -> GameAECEnv:
        """The AEC environment without wrappers: an illegal action is an error and changes nothing."""
        return GameAECEnv(self._game(num_players, config), render_mode, render_seat, reveal)

    def env(
        self, num_players: int | None = None, render_mode: str | None = None, **config: Any
    ) -> AECEnv[Any, Any, Any]:
        """The AEC environment, wrapped as PettingZoo's classic games are. Takes what ``raw_env`` takes."""
        return wrap(self.raw_env(num_players, render_mode, **config))

    def parallel_env(
        self,
        num_players: int | None = None,
        render_mode: str | None = None,
        render_seat: int | None = None,
        reveal: bool = False,
        illegal_action: str = "lose",
        **config: Any,
    ) -> GameParallelEnv:
        """The Parallel environment, native: all agents act in one step."""
        return GameParallelEnv(self._game(num_players, config), render_mode, render_seat, reveal, illegal_action)

    def batch(
        self,
        num_games: int,
        num_players: int | None = None,
        seed: Seeds = None,
        autoreset: bool = False,
        threads: int = 1,
        **config: Any,
    ) -> Batch:
        """``num_games`` games in one structured array; see :class:`llama_envs.core.batch.Batch`."""
        return Batch(self._game(num_players, config), num_games, seed, autoreset, threads)

    def _game(self, num_players: int | None, config: dict[str, Any]) -> Any:
        players = {} if num_players is None else {"num_players": num_players}
        return make_game(self.name, **players, **config)
