"""``tabular:PATH``: a policy written down in a file, a probability for each action at each seat and observation.

``experiments.exact`` writes such files for games small enough to be solved. A file belongs to one exact configuration:
it names every observation that a seat can meet, and a policy that meets another one says so.
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from llama_envs.core.chance import HALF, LOW, PHILOX_WEYL, draw_unit, philox
from llama_envs.core.compile import kernel
from llama_envs.core.contract import Floats, Integers, Streams
from llama_envs.core.game import Game
from llama_envs.core.recording import config_to_json
from llama_envs.policies.view import Actions, View

FORMAT = "llama_envs table 1"


@kernel
def mix(key: Any, left: Any, right: Any) -> Any:
    """A uint64 ``key`` that has taken in two more numbers (uint64 below 2^32)."""
    return philox((key & LOW) ^ left, (key >> HALF) ^ right, PHILOX_WEYL)


@kernel
def hash_rows(words: npt.NDArray[np.uint32], keys: npt.NDArray[np.uint64]) -> None:
    """Let ``keys[i]`` (uint64) take in the row ``words[i]`` (uint32): what is not zero, and where."""
    for i in range(len(words)):
        for k in range(words.shape[1]):
            if words[i, k] != 0:
                keys[i] = mix(keys[i], np.uint64(words[i, k]), np.uint64(k))


@kernel
def draw_rows(probabilities: Floats, streams: Streams, actions: Integers) -> None:
    """Draw ``actions[i]`` with ``probabilities[i]``, by stream i."""
    for i in range(len(probabilities)):
        left = draw_unit(streams, i)
        for action in range(probabilities.shape[1]):
            if probabilities[i, action] > 0.0:
                actions[i] = action
                left -= probabilities[i, action]
                if left < 0.0:
                    break


def observation_keys(seat: npt.NDArray[np.int64], observation: npt.NDArray[np.float32]) -> npt.NDArray[np.uint64]:
    """A 64-bit hash of each row's seat and observation: (n,) uint64."""
    keys = seat.astype(np.uint64)
    hash_rows(np.ascontiguousarray(observation).view(np.uint32), keys)
    return keys


@dataclass(frozen=True, eq=False)
class StrategyTable:
    """What to do at each of n (seat, observation) pairs.

    Attributes:
        seat: (n,) int64.
        observation: (n, D) float32, as :meth:`llama_envs.core.batch.Batch.observe` gives it.
        probabilities: (n, A) float64, 0 for illegal actions; rows sum to 1.
    """

    seat: npt.NDArray[np.int64]
    observation: npt.NDArray[np.float32]
    probabilities: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.seat)


class TabularPolicy:
    """Draws each action with the probability that a table gives at the seat's observation.

    Args:
        table: every (seat, observation) that the policy can be asked about.
    """

    needs_worlds = False

    def __init__(self, table: StrategyTable) -> None:
        self.table = table
        keys = observation_keys(table.seat, table.observation)
        self._order = np.argsort(keys)
        self._keys = keys[self._order]

    def act(self, view: View) -> Actions:
        """An action drawn from the table for each row: (n,) int64.

        Raises:
            ValueError: an observation that the table does not have.
        """
        actions = np.empty(len(view), np.int64)
        draw_rows(self.probabilities(view), view.streams, actions)
        return actions

    def probabilities(self, view: View) -> npt.NDArray[np.float64]:
        """The table's probabilities for each row: (n, A) float64.

        Raises:
            ValueError: an observation that the table does not have.
        """
        keys = observation_keys(view.seat, view.observation)
        place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        rows = self._order[place]
        known = (self.table.observation[rows] == view.observation).all(axis=1) & (self.table.seat[rows] == view.seat)
        if not known.all():
            raise ValueError(
                f"the table has no entry for what player_{view.seat[~known][0]} sees; "
                f"it was not made for {view.game!r}."
            )
        return self.table.probabilities[rows]


def save_table(path: Path, game: Game, table: StrategyTable) -> None:
    """Write ``table`` with the id and the configuration of ``game`` to ``path``, a numpy archive."""
    about = {"format": FORMAT, "game": game.id, "config": config_to_json(game.config)}
    with path.open("wb") as file:
        np.savez_compressed(
            file,
            about=np.array(json.dumps(about)),
            seat=table.seat.astype(np.int8),
            observation=table.observation,
            probabilities=table.probabilities,
        )


def load_table(path: str | Path, game: Game) -> StrategyTable:
    """The table in ``path``, which must have been made for exactly this game.

    Raises:
        ValueError: the file is missing, damaged or no table, or was made for another game or configuration.
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"there is no table {path}.")
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as archive:
            about = json.loads(str(archive["about"]))
            seat = archive["seat"].astype(np.int64)
            observation = archive["observation"].astype(np.float32)
            probabilities = archive["probabilities"].astype(np.float64)
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is not a readable table ({error}).") from None
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise ValueError(f"{path} is not a table of the format {FORMAT!r}.")
    _check_made_for(about, game, str(path))
    n = len(seat)
    shapes = (seat.shape, observation.shape, probabilities.shape)
    if n == 0 or shapes != ((n,), (n, game.observation.size), (n, game.num_actions)):
        raise ValueError(f"{path} is damaged: its arrays do not fit together.")
    if not (probabilities.min() >= 0 and np.allclose(probabilities.sum(axis=1), 1.0)):
        raise ValueError(f"{path} is damaged: its probabilities do not sum to 1.")
    return StrategyTable(seat, observation, probabilities)


def _check_made_for(about: dict[str, Any], game: Game, source: str) -> None:
    here = config_to_json(game.config)
    there = about.get("config")
    if about.get("game") != game.id or not isinstance(there, dict):
        raise ValueError(f"{source} was made for {about.get('game')}, not for {game.id}.")
    different = [name for name in here if here[name] != there.get(name)]
    if different:
        name = different[0]
        raise ValueError(f"{source} was made for {game.id} with {name} = {there.get(name)!r}, not with {here[name]!r}.")


def build(game: Game, argument: str) -> TabularPolicy:
    """``tabular:PATH``."""
    if not argument:
        raise ValueError("a tabular policy is written tabular:PATH, with the path of a file of experiments.exact.")
    return TabularPolicy(load_table(argument, game))
