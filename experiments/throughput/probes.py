"""What ``experiments.throughput`` times: a probe plays some decisions and says how many; probes are timed in turns."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from rich.progress import track

import llama_envs  # noqa: F401  (registers the Gymnasium ids)
from llama_envs.adapters.aec import GameAECEnv, wrap
from llama_envs.adapters.parallel import GameParallelEnv
from llama_envs.adapters.sb3 import SB3VecEnv
from llama_envs.core.batch import Batch, policy_streams
from llama_envs.core.game import Game
from llama_envs.core.registry import game_specs, make_game
from llama_envs.policies import Players, make_policy

Run = Callable[[], int]
Clock = Callable[[], float]
CHUNK = 100  # decisions of one game between two looks at the clock
WORLDS = 400
DRAWN, DRAWN_STEPS = "step, actions drawn beforehand", 128
GYM, SB3 = "gymnasium.make_vec", "SB3VecEnv"
LEARNER_STEPS = 64  # at most, in a run of a learner's environment


class Absent(Exception):
    """A peer is not here; the message says why."""


@dataclass
class Probe:
    """One row of the report.

    Attributes:
        group: the table it belongs to.
        what: what is timed.
        game: whose game.
        players: seats, if that is an option.
        number: games at once.
        prepare: builds everything and returns ``run``, which plays and returns the number of decisions;
            raises Absent.
        rates: decisions per second, one for each repeat.
        absent: why there are none.
    """

    group: str
    what: str
    game: str
    players: int | None
    number: int
    prepare: Callable[[], Run]
    rates: list[float] = field(default_factory=list)
    absent: str = ""

    @property
    def median(self) -> float:
        """Decisions per second."""
        return float(np.median(self.rates))

    @property
    def spread(self) -> tuple[float, float]:
        """The lower and the upper quartile."""
        low, high = np.percentile(self.rates, [25, 75])
        return float(low), float(high)


@dataclass
class Rewound:
    """A run that begins where it began before: ``rewind`` takes it there, and is not timed."""

    rewind: Callable[[], object]
    run: Run

    def __call__(self) -> int:
        """Go back, play, and count the decisions."""
        self.rewind()
        return self.run()


def measure(
    probes: Sequence[Probe], repeats: int, seconds: float, silent: bool = False, clock: Clock = time.process_time
) -> None:
    """Time all probes in turns, ``repeats`` times, so that a slow minute of the machine falls on all of them."""
    running: list[tuple[Probe, Run]] = []
    for probe in track(probes, "preparing", disable=silent, transient=True):
        try:
            run = probe.prepare()
            rate(run, 0.0)  # compiled, and in the middle of games
        except Absent as reason:
            probe.absent = str(reason)
        else:
            running.append((probe, run))
    for _ in track(range(repeats), "measuring", disable=silent, transient=True):
        for probe, run in running:
            probe.rates.append(rate(run, seconds, clock))


def rate(run: Run, seconds: float, clock: Clock = time.process_time) -> float:
    """Decisions per second of ``clock``, over at least ``seconds``; by default of this process's processor time."""
    decisions, passed = 0, 0.0
    while decisions == 0 or passed < seconds:
        timed = run
        if isinstance(run, Rewound):
            run.rewind()
            timed = run.run
        start = clock()
        decisions += timed()
        passed += clock() - start
    return decisions / max(passed, 1e-9)


def own_probes(numbers: Sequence[int], players: Mapping[str, Sequence[int]]) -> list[Probe]:
    """Everything of this suite, for games and their numbers of ``players``; ``numbers`` of games at once."""
    probes: list[Probe] = []
    for name in players:
        for count in players[name]:
            game = make_game(name, num_players=count)
            own = partial(Probe, game=game.title, players=count)
            for number in numbers:
                probes += [
                    own(
                        "Batch", "step, actions by a kernel", number=number, prepare=partial(step_kernel, game, number)
                    ),
                    own("Batch", "step, actions by NumPy", number=number, prepare=partial(step_numpy, game, number)),
                ]
            number = max(n for n in numbers if n <= 1024)
            probes.append(own("Batch", DRAWN, number=number, prepare=partial(step_drawn, game, number)))
            probes.append(own("playouts", "random playouts", number=1024, prepare=partial(playouts, game, 1024)))
            probes.append(own("floor", "moving the bytes", number=1024, prepare=partial(move_bytes, game, 1024)))
        game = make_game(name)
        own = partial(Probe, game=game.title, players=game.num_players)
        probes += [
            own("AEC", "raw_env", number=1, prepare=partial(raw_loop, game)),
            own("AEC", "env", number=1, prepare=partial(wrapped_loop, game)),
            own("Parallel", "parallel_env", number=1, prepare=partial(parallel_loop, game)),
        ]
        opponents = ["random", *(["heuristic"] if game.spec.heuristic is not None else [])]
        for what, loop in ((GYM, gym_loop), (SB3, sb3_loop)):
            for opponent in opponents:
                prepare = partial(loop, game, 1024, opponent)
                probes.append(own("vector", among(what, opponent), number=1024, prepare=prepare))
        probes.append(own("search", f"mc:{WORLDS}", number=4, prepare=partial(search, game, 4)))
    return probes


def among(what: str, opponent: str) -> str:
    """What a probe of a learner's environment is called."""
    return f"{what}, {opponent} opponents"


def thread_probes(number: int, threads: Sequence[int]) -> list[Probe]:
    """A step of ``number`` games by one thread and by more, for each game."""
    return [
        Probe("threads", stepping(count), game.title, game.num_players, number,
              partial(step_drawn, game, number, count))
        for game in (make_game(spec.name) for spec in game_specs()) for count in threads
    ]  # fmt: skip


def stepping(threads: int) -> str:
    """What a probe of so many threads is called."""
    return f"step, {threads} thread{'s' * (threads > 1)}"


# ----------------------------------------------------------------------------------------------------------- our own


def step_kernel(game: Game, number: int) -> Run:
    """``Batch.step`` with autoreset, uniform legal actions drawn by a kernel."""
    batch, streams = Batch(game, number, 0, autoreset=True), policy_streams(number, 1)

    def run() -> int:
        batch.step(batch.sample_actions(streams))
        return number

    return several(run, number)


def step_numpy(game: Game, number: int) -> Run:
    """The same with actions that the caller chooses in NumPy."""
    batch, draws = Batch(game, number, 0, autoreset=True), np.random.default_rng(0)

    def run() -> int:
        mask = batch.action_mask
        batch.step(((1 + draws.random(mask.shape, np.float32)) * mask).argmax(axis=1))
        return number

    return several(run, number)


def step_drawn(game: Game, number: int, threads: int = 1) -> Run:
    """``Batch.step`` alone: the same games again and again, with the actions that were legal in them."""
    batch, streams = Batch(game, number, 0, autoreset=True, threads=threads), policy_streams(number, 1)
    drawn = []
    for _ in range(DRAWN_STEPS):
        drawn.append(batch.sample_actions(streams))
        batch.step(drawn[-1])

    def run() -> int:
        for actions in drawn:
            batch.step(actions)
        return number * DRAWN_STEPS

    return Rewound(lambda: batch.reset(seed=0), run)


def playouts(game: Game, number: int) -> Run:
    """Uniform legal play inside one kernel, masks but no observations."""
    batch, streams = Batch(game, number, 0, autoreset=True), policy_streams(number, 1)

    def run() -> int:
        batch.random_playout(streams, 10)
        return 10 * number

    return run


def move_bytes(game: Game, number: int) -> Run:
    """The floor: what a step must read and write, copied and nothing else."""
    batch = Batch(game, number, 0)
    arrays = [batch.state.view(np.ndarray).view(np.uint8), batch.observation, batch.action_mask, batch.streams]
    arrays += [np.zeros((number, game.num_players), np.float32), np.zeros(number, np.int64), np.zeros(number, np.bool_)]
    pairs = [(np.empty_like(array), np.array(array)) for array in arrays]

    def run() -> int:
        for to, of in pairs:
            np.copyto(to, of)
        return number

    return several(run, number)


def bytes_of_a_step(game: Game) -> int:
    """Bytes that a step reads or writes in one game: record twice, stream, observation, mask, action, reward, flags."""
    return 2 * game.state_dtype.itemsize + 2 * 8 + 4 * game.observation.size + 2 * game.num_actions + 8 + (
        4 * game.num_players + 2
    )  # fmt: skip


def aec_loop(env: Any) -> Run:
    """PettingZoo's documented loop with uniform legal actions, for any classic environment; a run is a few games."""
    env.reset(seed=0)

    def run() -> int:
        decisions = 0
        while decisions < CHUNK:
            for _ in env.agent_iter():
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    env.step(None)
                else:
                    env.step(pick(observation["action_mask"]))
                    decisions += 1
            env.reset()
        return decisions

    return run


def raw_loop(game: Game) -> Run:
    """``raw_env``."""
    return aec_loop(GameAECEnv(game))


def wrapped_loop(game: Game) -> Run:
    """``env``: in PettingZoo's three wrappers."""
    return aec_loop(wrap(GameAECEnv(game)))


def parallel_loop(game: Game) -> Run:
    """The Parallel environment; a decision is one agent's action."""
    env = GameParallelEnv(game)
    observations, _ = env.reset(seed=0)

    def run() -> int:
        nonlocal observations
        decisions = 0
        while decisions < CHUNK:
            actions = {
                agent: pick(seen["action_mask"]) for agent, seen in observations.items() if seen["action_mask"].any()
            }
            decisions += len(actions)
            observations, *_ = env.step(actions)
            if not env.agents:
                observations, _ = env.reset()
        return decisions

    return run


def gym_loop(game: Game, number: int, opponents: str) -> Run:
    """Gymnasium's vector environment; a decision is one of the learner's."""
    envs: Any = gym.make_vec(game.spec.gymnasium_id, num_envs=number, opponents=opponents)
    observation, _ = envs.reset(seed=0)
    draws = np.random.default_rng(0)

    def step() -> int:
        nonlocal observation
        mask = observation["action_mask"]
        observation, *_ = envs.step(((1 + draws.random(mask.shape, np.float32)) * mask).argmax(axis=1))
        return number

    return whole_games(step, game)


def sb3_loop(game: Game, number: int, opponents: str) -> Run:
    """Stable-Baselines3's vector environment; a decision is one of the learner's."""
    env = SB3VecEnv(game, number, opponents=opponents, seed=0)
    env.reset()
    draws = np.random.default_rng(0)

    def step() -> int:
        mask = np.stack(env.env_method("action_masks"))
        env.step(((1 + draws.random(mask.shape, np.float32)) * mask).argmax(axis=1))
        return number

    return whole_games(step, game)


def whole_games(step: Run, game: Game) -> Run:
    """Where all games are at the same stage, and stages take unequally long: a run steps through all of them."""
    if not game.simultaneous or game.max_decisions is None:
        return step
    times = min(game.max_decisions // game.num_players, LEARNER_STEPS)
    return lambda: sum(step() for _ in range(times))


def search(game: Game, number: int) -> Run:
    """Decisions of Monte Carlo search, for every seat."""
    batch = Batch(game, number, 0, autoreset=True)
    players = Players(batch, [make_policy(f"mc:{WORLDS}", game)], np.zeros((number, game.num_players), np.int64), 0)
    actions = np.zeros(number, np.int64)

    def run() -> int:
        players.act(actions)
        batch.step(actions)
        return number

    return run


def several(run: Run, number: int) -> Run:
    """``run`` a few times if it is short, so that looking at the clock costs nothing."""
    times = max(1, 4096 // number)
    return lambda: sum(run() for _ in range(times))


def pick(mask: npt.NDArray[Any]) -> int:
    """A uniform legal action."""
    legal = mask.nonzero()[0]
    return int(legal[int(random.random() * len(legal))])
