"""Tournaments of any number of policies: shared deals, every table in all rotations of its seats.

Every deal is played at every table. A policy that raises an error is named with it; its games are not rated. The games
of a (block of deals, table) are kept in a file each, from which a tournament that was stopped goes on.
"""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import pandas as pd

from llama_envs.core.batch import Batch
from llama_envs.core.chance import derived_seed
from llama_envs.core.files import write_atomically
from llama_envs.core.game import Game
from llama_envs.evaluation.matches import numbered, play
from llama_envs.evaluation.schedules import Table, make_tables, seat_orders
from llama_envs.evaluation.standings import Results, one_against_the_rest, pairwise, standings, table_results
from llama_envs.evaluation.workers import Map, in_thread
from llama_envs.policies import Players, Policy, PolicyError, make_policy
from llama_envs.policies.view import kernel_of

Spec = str | Policy


@dataclasses.dataclass(frozen=True)
class Plan:
    """What is played, the same whatever the order in which the policies were named.

    Attributes:
        game: the game.
        policies: name in the tables -> policy, or how it is asked for.
        tables: who sits together.
        orders: circular orders of the places at a table, taken in turn by blocks of deals.
        deals, block, seed: as in the options.
    """

    game: Game
    policies: Mapping[str, Spec]
    tables: tuple[Table, ...]
    orders: tuple[tuple[int, ...], ...]
    deals: int
    block: int
    seed: int

    @property
    def blocks(self) -> list[slice]:
        """The deals of each block: equally many, and as many blocks for every order of the places."""
        rounds = -(-self.deals // (self.block * len(self.orders)))
        parts = np.array_split(np.arange(self.deals), min(rounds * len(self.orders), self.deals))
        return [slice(int(part[0]), int(part[-1]) + 1) for part in parts]

    @property
    def order_of_deals(self) -> list[tuple[int, ...]]:
        """The circular order of the places in each deal."""
        orders = (self.orders[number % len(self.orders)] for number in range(len(self.blocks)))
        return [
            order for order, block in zip(orders, self.blocks, strict=True) for _ in range(block.stop - block.start)
        ]

    @property
    def units(self) -> list[tuple[int, int]]:
        """What is played in one piece: (block, table)."""
        return [(block, table) for block in range(len(self.blocks)) for table in range(len(self.tables))]


@dataclasses.dataclass(frozen=True)
class Tournament:
    """What was played, the tables of :mod:`llama_envs.evaluation.standings`, and how long each policy took."""

    plan: Plan
    results: Results
    standings: pd.DataFrame
    pairwise: pd.DataFrame
    one_vs_rest: pd.DataFrame
    tables: pd.DataFrame
    timing: pd.DataFrame


# ------------------------------------------------------------------------------------------------------------ playing


def make_plan(
    game: Game,
    policies: Sequence[str] | Mapping[str, Spec],
    deals: int = 1000,
    design: str = "auto",
    block: int = 100,
    seed: int = 0,
    rest: str = "",
) -> Plan:
    """Names in a fixed order, one named twice numbered, and their tables.

    Raises:
        ValueError: fewer than two policies, one that cannot be made, too many tables, ``rest`` is not among them or
            does not go with the design.
    """
    named: dict[str, Spec] = {}
    if isinstance(policies, Mapping):
        named.update(policies)
    else:
        named.update({numbered(name, policies[:index].count(name)): name for index, name in enumerate(policies)})
    if len(named) < 2:
        raise ValueError(f"policies must be two or more, got {len(named)}.")
    for spec in named.values():
        make_policy(spec, game)
    names = sorted(named)
    if rest and rest not in names:
        raise ValueError(f"rest must be one of the policies, {', '.join(names)}, got {rest!r}.")
    tables = make_tables(len(names), game.num_players, design, names.index(rest) if rest else None)
    orders = tuple(seat_orders(game.num_players, seed))
    return Plan(game, {name: named[name] for name in names}, tuple(tables), orders, deals, block, seed)


def run_tournament(
    plan: Plan,
    folder: Path,
    spread: Map = in_thread,
    progress: Callable[[int, int], object] = lambda done, of: None,
) -> Tournament:
    """Play what is not in ``folder / "parts"`` yet, and read everything there.

    Args:
        plan: what to play.
        folder: of the run.
        spread: maps over the parts: in this process, or one that does so elsewhere
            (:func:`~llama_envs.evaluation.workers.workers`).
        progress: called with the number of parts that are done, and of all.
    """
    missing = [unit for unit in plan.units if not part_file(folder, unit).is_file()]
    done = len(plan.units) - len(missing)
    progress(done, len(plan.units))
    job = partial(_play_seated, plan, secrets.token_bytes(8))
    for unit, part in zip(missing, spread(job, missing), strict=True):
        write_atomically(part_file(folder, unit), partial(_save_part, part))
        done += 1
        progress(done, len(plan.units))
    _SEATED.clear()
    return collect(plan, folder)


_SEATED: dict[bytes, dict[str, Policy]] = {}  # of a process: policies of the tournament that it plays


def _play_seated(plan: Plan, key: bytes, unit: tuple[int, int]) -> dict[str, Any]:
    if key not in _SEATED:
        _SEATED.clear()
        _SEATED[key] = _sit_down(plan)
    return play_unit(plan, _SEATED[key], unit)


def _sit_down(plan: Plan) -> dict[str, Policy]:
    """The policies; kernels are loaded or compiled here, so that the clock counts their decisions alone."""
    players = {name: make_policy(spec, plan.game) for name, spec in plan.policies.items()}
    everywhere = np.zeros((1, plan.game.num_players), np.int64)
    for policy in players.values():
        if kernel_of(policy) is not None:
            with suppress(PolicyError):  # it will fail again, where that is noted
                Players(Batch(plan.game, 1, 0), [policy], everywhere, 0).play()
    return players


def play_unit(plan: Plan, players: Mapping[str, Policy], unit: tuple[int, int]) -> dict[str, Any]:
    """One block of deals at one table, every rotation: arrays by place (see :class:`Results`), errors and timing."""
    block, number = unit
    table = plan.tables[number]
    order = list(plan.orders[block % len(plan.orders)])
    names = [list(players)[table[place]] for place in order]
    deals = plan.blocks[block].stop - plan.blocks[block].start
    shape = (deals, len(table), len(table))
    win, score, truncated = np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape[:2], np.bool_)
    clock = np.zeros((len(players), 2))
    failed = ("", "")
    try:
        games = play(
            plan.game, [players[name] for name in names], deals, block_seed(plan, block),
            orders=[range(len(table))], names=names,
        )  # fmt: skip
    except PolicyError as error:
        failed = (error.policy, error.message)
    else:
        win[:, :, order], score[:, :, order], truncated = games.win, games.score, games.truncated
        np.add.at(clock, [table[place] for place in order], np.column_stack([games.decisions, games.thinking]))
    return {"win": win, "score": score, "truncated": truncated, "failed": np.array(failed), "clock": clock}


def block_seed(plan: Plan, block: int) -> int:
    """The seed of a block's deals, the same at every table."""
    return derived_seed(plan.seed, block)


def part_file(folder: Path, unit: tuple[int, int]) -> Path:
    """Where the games of (block, table) are kept."""
    return folder / "parts" / f"block-{unit[0]:05d}-table-{unit[1]:04d}.npz"


def _save_part(part: dict[str, Any], path: Path) -> None:
    np.savez_compressed(path, **part)


def _load_part(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file, np.load(file) as part:
            return dict(part)
    except (OSError, EOFError, ValueError, BadZipFile) as error:
        raise ValueError(f"{path} is damaged ({error}); without it, --resume plays its games again.") from None


def collect(plan: Plan, folder: Path) -> Tournament:
    """All parts of a tournament that is over.

    Raises:
        ValueError: a part is damaged.
    """
    players = plan.game.num_players
    shape = (plan.deals, len(plan.tables), players, players)
    win, score = np.full(shape, np.nan), np.full(shape, np.nan)
    truncated = np.zeros(shape[:3], np.bool_)
    clock = np.zeros((len(plan.policies), 2))
    errors: dict[str, str] = {}
    for unit in plan.units:
        block, table = plan.blocks[unit[0]], unit[1]
        part = _load_part(part_file(folder, unit))
        win[block, table], score[block, table], truncated[block, table] = part["win"], part["score"], part["truncated"]
        clock += part["clock"]
        policy, message = part["failed"].tolist()
        if policy:
            errors.setdefault(policy, message)
    results = Results(tuple(plan.policies), plan.tables, win, score, truncated, errors)
    timing = pd.DataFrame({"policy": list(plan.policies), "decisions": clock[:, 0].astype(int), "seconds": clock[:, 1]})
    timing["ms_per_decision"] = 1000 * timing["seconds"] / timing["decisions"].where(timing["decisions"] > 0)
    return Tournament(
        plan,
        results,
        standings(plan.game, results, plan.seed),
        pairwise(results),
        one_against_the_rest(plan.game, results),
        table_results(plan.game, results),
        timing,
    )
