"""The conformance kit for whoever writes a game: ``check_game(game)``.

::

    from llama_envs.core.registry import make_game
    from llama_envs.testing import check_game

    print(check_game(make_game("some_game", num_players=3)))

Every check is a function here that raises :class:`NotConformant` with one sentence on what is wrong. They prove what
the suite relies on; that the rules are those of the rulebook is for the game's own tests.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import importlib.util
import io
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from llama_envs.core.batch import GAMES_PER_THREAD, Batch, policy_streams, resampled
from llama_envs.core.compile import JIT
from llama_envs.core.contract import States
from llama_envs.core.extensive_form import CHANCE, OVER, START, compile_move
from llama_envs.core.game import Game
from llama_envs.policies import Policy, RandomPolicy, make_policy
from llama_envs.policies.scripted import compile_choose
from llama_envs.policies.view import kernel_of

PLENTY = 20_000  # decisions after which a game is said never to end
MOST_NODES = 20_000  # of a game that is enumerated
SENTINEL = 77


class NotConformant(AssertionError):
    """A game breaks the contract; the message says how."""


@dataclass
class Report:
    """What :func:`check_game` did.

    Attributes:
        game: which game.
        checked: what was checked, one line each.
        left_out: what could not be checked here, and why.
    """

    game: Game
    checked: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [
            f"{self.game.id} with {self.game.num_players} players conforms:",
            *(f"  {what}" for what in self.checked),
        ]
        return "\n".join([*lines, *(f"  (left out: {what}: {why})" for what, why in self.left_out.items())])


class _LeftOut(Exception):
    """A check that cannot be made here; the message says why."""


def check_game(game: Game, games: int = 200, seed: int = 0) -> Report:
    """Check everything that the suite relies on.

    Args:
        game: one configuration; check several.
        games: random games that the checks look at.
        seed: of those games.

    Returns:
        what was checked, and what could not be.

    Raises:
        NotConformant: the first check that fails.
        ValueError: ``game`` is none.
    """
    if not isinstance(game, Game):
        raise ValueError(f"game must be a Game, as make_game(...) makes one, got {game!r}.")
    report = Report(game)
    for check in CHECKS:
        what = (check.__doc__ or "").partition("\n")[0].rstrip(".")
        try:
            check(game, games, seed)
        except _LeftOut as reason:
            report.left_out[what] = str(reason)
        else:
            report.checked.append(what)
    return report


def _fail(kind: str, sentence: str) -> None:
    raise NotConformant(f"{kind}: {sentence}.")


# ------------------------------------------------------------------------------------------------------------- playing


def _records(game: Game, states: States) -> Any:
    """A copy as kernels take it."""
    return game.records(np.array(states, game.state_dtype) if states.dtype != game.state_dtype else states.copy())


def _full(game: Game, batch: Batch) -> States:
    """A copy of the states with all seats, plain."""
    return batch.state.view(np.ndarray).view(game.state_dtype).copy()


def _walk(game: Game, games: int, seed: int) -> Iterator[Batch]:
    """Random games side by side, at each of their decisions and at their ends."""
    batch = Batch(game, games, seed)
    streams = policy_streams(games, seed + 1)
    yield batch
    for _ in range(_longest(game) + 1):
        if (batch.to_move < 0).all():
            return
        batch.step(batch.sample_actions(streams))
        yield batch
    _never_ends(game)


def _never_ends(game: Game) -> None:
    limit = "" if game.max_decisions is None else ", as max_decisions says"
    _fail("end", f"a random game did not end within {_longest(game):,} decisions{limit}")


def _longest(game: Game) -> int:
    """Decisions after which a game is said never to end."""
    return min(PLENTY, PLENTY if game.max_decisions is None else game.max_decisions)


def _fields(states: States) -> list[bytes]:
    """The content of each record, without the padding between fields."""
    names = states.dtype.names or ()
    return [b"".join(np.ascontiguousarray(state[name]).tobytes() for name in names) for state in states]


def check_progress(game: Game, games: int, seed: int) -> None:
    """states: one seat is to move, or the game is over; games end within their limits."""
    returns = np.zeros((games, game.num_players))
    batch, streams = Batch(game, games, seed), policy_streams(games, seed + 1)
    for _ in range(_longest(game) + 1):
        state = batch.state
        over = state["terminated"] | state["truncated"]
        if (state["terminated"] & state["truncated"]).any():
            _fail("end", "a game is both terminated and truncated")
        if (state["chance"] != 0).any():
            _fail("chance", "an event is still pending after resolve_chance")
        if ((state["to_move"] >= 0) == over).any() or (state["to_move"] >= game.num_players).any():
            _fail("turns", "to_move must be a seat while a game goes on, and -1 when it is over")
        if over.all():
            break
        playing = batch.to_move >= 0
        before = batch.state["total"].copy()
        reward, _, _ = batch.step(batch.sample_actions(streams))
        returns += reward
        if not np.isfinite(reward).all() or np.abs(reward.sum(axis=1)).max() > 1e-4:
            _fail(
                "rewards", f"what the seats are paid must sum to 0, got {reward[np.abs(reward.sum(axis=1)).argmax()]}"
            )
        if (before.shape != batch.state["total"].shape) or (reward[~playing] != 0).any():
            _fail("rewards", "a game that is over pays")
    else:
        _never_ends(game)
    if np.abs(returns).max() > game.max_return + 1e-4:
        _fail("limits", f"a seat was paid {np.abs(returns).max():g} in a game, max_return says {game.max_return:g}")
    shares = game.win_shares(batch.state)
    if not np.allclose(shares.sum(axis=1), 1):
        _fail("ranking", "win shares must sum to 1")
    if not (batch.state["rounds"] >= 1)[batch.state["terminated"]].all():
        _fail("rounds", "a game that is over must have counted its rounds, at least 1")


def check_masks(game: Game, games: int, seed: int) -> None:
    """masks: the seat to move has legal actions, others none out of turn, and kernels write nothing else."""
    params = game.records(game.params)
    guarded = np.full(game.num_actions + 8, SENTINEL, np.uint8).view(np.bool_)
    mask = guarded[: game.num_actions]
    for batch in _walk(game, min(games, 50), seed):
        states = _records(game, _full(game, batch))
        before = _fields(states.view(np.ndarray))
        for i, state in enumerate(states):
            mover = int(state["to_move"])
            for seat in range(game.num_players):
                mask.view(np.uint8)[:] = SENTINEL
                _one(game, states, i, "legal_actions", params, seat, mask)
                if (mask.view(np.uint8) == SENTINEL).any():
                    _fail("masks", f"legal_actions leaves entries of the mask as they were (seat {seat})")
                if (guarded.view(np.uint8)[game.num_actions :] != SENTINEL).any():
                    _fail("memory", "legal_actions writes past the end of the mask")
                if seat == mover and not mask.any():
                    _fail("masks", f"player_{seat} is to move and has no legal action")
                if mover >= 0 and seat != mover and mask.any() and not (game.simultaneous and seat > mover):
                    _fail("masks", f"player_{seat} has legal actions while player_{mover} is to move")
                if mover < 0 and mask.any():
                    _fail("masks", f"player_{seat} has legal actions in a game that is over")
        if _fields(states.view(np.ndarray)) != before:
            _fail("masks", "legal_actions changes the state")


def check_apply(game: Game, games: int, seed: int) -> None:
    """apply: every legal action works, draws nothing, clears the reward, and an illegal one is refused."""
    params = game.records(game.params)
    for batch in _walk(game, min(games, 20), seed):
        states = _full(game, batch)
        for i in np.flatnonzero(batch.to_move >= 0):
            for action in np.flatnonzero(batch.action_mask[i]):
                twins = _records(game, np.repeat(states[i : i + 1], 2))
                plain = twins.view(np.ndarray)
                plain["reward"][1] += 5
                for k in range(2):
                    _one(game, twins, k, "apply", params, int(action))
                paid = plain["reward"][:, : game.num_players]
                if not np.allclose(paid[0], paid[1]):
                    _fail("rewards", "apply must clear the reward of the decision before")
                plain["reward"] = 0
                if len(set(_fields(plain))) > 1:
                    _fail("apply", "apply gives different states from equal ones: it must not draw")
                pending, mover = int(plain["chance"][0]), int(plain["to_move"][0])
                if pending != 0 and mover >= 0:
                    _fail("turns", "a seat is to move while a chance event is pending")
    batch = Batch(game, 1, seed)
    for action in (-1, game.num_actions, *np.flatnonzero(~batch.action_mask[0])[:3]):
        before = _fields(_full(game, batch))
        try:
            batch.step([int(action)])
        except ValueError:
            if _fields(_full(game, batch)) == before:
                continue
        _fail("masks", f"the illegal action {action} is not refused, or changes the game")


def _one(game: Game, states: Any, i: int, name: str, params: Any, *arguments: Any) -> Any:
    """A kernel of the rules on one record."""
    return getattr(game.rules, name)(states[i], params[0], *arguments)


# -------------------------------------------------------------------------------------------------------------- chance


def check_chance(game: Game, games: int, seed: int) -> None:
    """chance: probabilities sum to 1, and events are drawn with them."""
    move = compile_move(game.rules)
    params, rng = game.records(game.params), np.random.default_rng(seed)
    width = max(game.num_actions, game.max_chance_outcomes)
    choices = np.zeros(width + 8)
    seen = np.zeros((game.num_players, game.observation.size), np.float32)
    met: dict[int, Any] = {}
    events = np.zeros(8, np.int64)
    for number in range(8):
        state = game.records(np.zeros(1, game.state_dtype))
        who = move(state, params, START, game.num_actions, choices, seen)
        for _ in range(PLENTY):
            if who == OVER:
                break
            if who == CHANCE:
                events[number] += 1
                kind = int(state.view(np.ndarray)["chance"][0])
                if (choices < 0).any() or abs(choices.sum() - 1) > 1e-9:
                    _fail("chance", f"the probabilities of an event of kind {kind} sum to {choices.sum():g}, not to 1")
                if choices[game.max_chance_outcomes :].any():
                    _fail("chance", f"an event of kind {kind} has more outcomes than max_chance_outcomes says")
                met.setdefault(kind, (state.copy(), choices[:width].copy()))
            chances = choices[:width] / choices[:width].sum()
            who = move(state, params, int(rng.choice(width, p=chances)), game.num_actions, choices, seen)
    if game.max_chance_events is not None and events.max() > game.max_chance_events:
        _fail("limits", f"a game had {events.max()} chance events, max_chance_events says {game.max_chance_events}")
    for kind, (state, chances) in met.items():
        draws = 20_000
        streams = policy_streams(draws, seed + kind)
        drawn = np.array([game.rules.sample_chance(state[0], params[0], streams, i) for i in range(draws)])
        if not _plausible(np.bincount(drawn, minlength=width), chances):
            _fail("chance", f"sample_chance does not follow chance_outcomes in an event of kind {kind}")


def _plausible(counts: npt.NDArray[Any], chances: npt.NDArray[np.float64]) -> bool:
    """Whether counts of outcomes may have these chances: none impossible, and each within what is rare by chance."""
    if len(counts) > len(chances) or counts[chances == 0].any():
        return False
    n = counts.sum()
    spread = np.sqrt(n * chances * (1 - chances))
    return bool((np.abs(counts - n * chances) <= 6 * spread + 3).all())


# --------------------------------------------------------------------------------------------------------------- worlds


def check_worlds(game: Game, games: int, seed: int) -> None:
    """resampling: a redrawn world shows its seat what it saw, is a legal state, and hidden cards do change."""
    changed = False
    for batch in _walk(game, min(games, 24), seed):
        there = batch.clone()
        for seat in range(game.num_players):
            streams = policy_streams(batch.num_games, seed, seat)
            there.state[:] = batch.worlds(seat, streams)[:, 0]
            there.refresh()
            if (there.observe(seat) != batch.observe(seat)).any():
                _fail(
                    "resampling",
                    f"player_{seat} sees a difference after resample_hidden, which changes what the seat knows, or the "
                    f"observation shows what is hidden",
                )
            if (there.mask(seat) != batch.mask(seat)).any():
                _fail("resampling", f"resample_hidden changes what player_{seat} may do")
            if (there.to_move != batch.to_move).any():
                _fail("resampling", "resample_hidden changes who is to move")
            changed = changed or _fields(there.state) != _fields(batch.state)
    if not changed:
        _fail("resampling", "resample_hidden never changes anything, so a search would see the true state")


def check_enumeration(game: Game, games: int, seed: int) -> None:
    """resampling against full enumeration: every world is possible, and as likely as its chance events."""
    tree = _Tree(game)
    tree.grow()
    rng = np.random.default_rng(seed)
    sets = [(key, members) for key, members in tree.sets.items() if len({b for b, _, _ in members}) > 1]
    for key in rng.permutation(len(sets))[:60]:
        (seat, _), members = sets[key]
        weights: dict[bytes, float] = {}
        for content, chance, _ in members:
            weights[content] = weights.get(content, 0.0) + chance
        draws = 4000
        start = np.repeat(np.frombuffer(members[0][2], game.state_dtype), draws)
        seats = np.full(draws, seat)
        worlds = resampled(game, game.records(start.copy()), seats, policy_streams(draws, seed), 1)[:, 0]
        found: dict[bytes, int] = {}
        for content in _fields(worlds):
            found[content] = found.get(content, 0) + 1
        impossible = set(found) - set(weights)
        if impossible:
            _fail("resampling", f"resample_hidden gives player_{seat} worlds that cannot have come about")
        names = list(weights)
        chances = np.array([weights[name] for name in names]) / sum(weights.values())
        counts = np.array([found.get(name, 0) for name in names])
        if not tree.hidden_actions and not _plausible(counts, chances):
            _fail("resampling", f"resample_hidden does not draw the worlds of player_{seat} as chance deals them")
        if (counts[chances > 0.02] == 0).any():
            _fail("resampling", f"resample_hidden never gives player_{seat} some worlds that are possible")


_Step = tuple[States, int, float, list[bytes], Any, tuple[int, ...]]  # the arguments of _Tree._after


class _Tree:
    """All of a small game: the states that share what a seat has seen and done."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.sets: dict[tuple[int, bytes], list[tuple[bytes, float, bytes]]] = {}
        self.hidden_actions = game.simultaneous
        self.nodes = 0
        self._move = compile_move(game.rules)
        self._params = game.records(game.params)
        self._acts: dict[tuple[int, bytes], tuple[int, ...]] = {}

    def grow(self) -> None:
        """Visit every history; _LeftOut if the game is too large."""
        nothing = np.zeros((self.game.num_players, self.game.observation.size), np.float32)
        waiting: list[_Step] = [(np.zeros(1, self.game.state_dtype), START, 1.0, [b""] * len(nothing), nothing, ())]
        while waiting:
            self.nodes += 1
            if self.nodes > MOST_NODES:
                raise _LeftOut(f"the game has more than {MOST_NODES:,} histories")
            waiting += self._after(*waiting.pop())

    def _after(
        self, state: States, action: int, chance: float, memory: list[bytes], before: Any, acts: tuple[int, ...]
    ) -> list[_Step]:
        """Take a step and note what the seat to move then knows: the steps that may follow."""
        game = self.game
        records = game.records(state.copy())
        choices = np.zeros(max(game.num_actions, game.max_chance_outcomes))
        seen = np.zeros_like(before)
        who = self._move(records, self._params, action, game.num_actions, choices, seen)
        plain = records.view(np.ndarray)
        options = [int(option) for option in np.flatnonzero(choices)]
        if who == CHANCE:
            return [(plain, outcome, chance * choices[outcome], memory, before, acts) for outcome in options]
        if who == OVER:
            return []
        memory = [hashlib.sha256(old + new.tobytes()).digest() for old, new in zip(memory, seen, strict=True)]
        content = _fields(plain.view(game.visible_dtype))[0]
        key = (int(who), memory[who])
        self.sets.setdefault(key, []).append((content, chance, plain.tobytes()))
        if self._acts.setdefault(key, acts) != acts:
            self.hidden_actions = True
        steps: list[_Step] = []
        for option in options:
            told = list(memory)
            told[who] = hashlib.sha256(memory[who] + bytes([option])).digest()
            steps.append((plain, option, chance, told, seen, (*acts, option)))
        return steps


# ------------------------------------------------------------------------------------------------------------- channels


def check_observations(game: Game, games: int, seed: int) -> None:
    """observation: every entry is written, lies in [0, 1], and decodes to whole numbers."""
    size = game.observation.size
    if sum(piece.size for piece in game.observation.values()) != size:
        _fail("observation", "its slices do not fill the vector")
    scales = np.concatenate([np.full(piece.size, piece.scale) for piece in game.observation.values()])
    params = game.records(game.params)
    guarded = np.full(size + 8, np.nan, np.float32)
    for batch in _walk(game, min(games, 50), seed):
        states = _records(game, _full(game, batch))
        before = _fields(states.view(np.ndarray))
        for seat in range(game.num_players):
            for i in range(len(states)):
                guarded[:] = np.nan
                _one(game, states, i, "observe", params, seat, guarded[:size])
                vector = guarded[:size]
                if not np.isnan(guarded[size:]).all():
                    _fail("memory", "observe writes past the end of the observation")
                if np.isnan(vector).any():
                    place = int(np.flatnonzero(np.isnan(vector))[0])
                    _fail("observation", f"observe leaves entry {place} ({_slice_at(game, place)}) as it was")
                if vector.min() < 0 or vector.max() > 1:
                    place = int(np.argmax(np.abs(vector - 0.5)))
                    _fail("observation", f"{_slice_at(game, place)} is {vector[place]:g}, outside [0, 1]")
                natural = vector * scales
                off = (np.abs(natural - np.rint(natural)) > 1e-3) & (vector < 1)
                if off.any():
                    place = int(np.flatnonzero(off)[0])
                    _fail(
                        "observation", f"{_slice_at(game, place)} is {natural[place]:g} in its units, no whole number"
                    )
        if _fields(states.view(np.ndarray)) != before:
            _fail("observation", "observe changes the state")


def _slice_at(game: Game, place: int) -> str:
    return next(name for name, piece in game.observation.items() if piece.start <= place < piece.stop)


def check_hidden(game: Game, games: int, seed: int) -> None:
    """hidden information: worlds that a seat cannot tell apart look the same to it on every channel."""
    from llama_envs.adapters.aec import GameAECEnv
    from llama_envs.adapters.parallel import GameParallelEnv

    pictures = _has_pictures(game)
    for number, batch in enumerate(_walk(game, 12, seed)):
        states = _full(game, batch)
        for seat in range(game.num_players):
            world = resampled(game, game.records(states), np.full(12, seat), policy_streams(12, seed + number), 1)[:, 0]
            twin = batch.clone()
            twin.state[:] = world
            twin.refresh()
            if (twin.observe(seat) != batch.observe(seat)).any() or (twin.mask(seat) != batch.mask(seat)).any():
                _fail("hidden information", f"the observation or mask of player_{seat} shows what is hidden from it")
            row = number % 12
            here, there = batch.state[row], twin.state[row]
            if game.renderer.text(game, here, seat) != game.renderer.text(game, there, seat):
                _fail("hidden information", f"the text for player_{seat} shows what is hidden from it")
            if number % 5 == 0 and game.renderer.svg(game, here, seat) != game.renderer.svg(game, there, seat):
                _fail("hidden information", f"the SVG picture for player_{seat} shows what is hidden from it")
            if pictures and number % 5 == 0:
                frames = [game.renderer.picture(game, state, seat) for state in (here, there)]
                if (frames[0] != frames[1]).any():
                    _fail("hidden information", f"the picture for player_{seat} shows what is hidden from it")
    for kind in (GameAECEnv, GameParallelEnv):
        env: Any = kind(game)
        env.reset(seed=seed)
        if any(env.infos.values() if hasattr(env, "infos") else ()):
            _fail("hidden information", f"{kind.__name__} puts something into infos")


def _has_pictures(game: Game) -> bool:
    try:
        game.renderer.picture(game, Batch(game, 1, 0).state[0], 0)
    except (ValueError, ImportError):
        return False
    return True


def check_policies(game: Game, games: int, seed: int) -> None:
    """policies: kernels choose legal actions, by act as in compiled loops, and not by what is hidden."""
    policies: list[Policy] = [RandomPolicy()]
    if game.spec.heuristic is not None:
        policies.append(make_policy("heuristic", game))
    for policy in policies:
        own: Any = kernel_of(policy)
        choose, params = compile_choose(own.choose), game.records(game.params)
        name = type(policy).__name__ if isinstance(policy, RandomPolicy) else "heuristic"
        for number, batch in enumerate(_walk(game, min(games, 8), seed)):
            rows = np.flatnonzero(batch.to_move >= 0)
            if not len(rows):
                break
            seats, masks = batch.to_move[rows].astype(np.int64), batch.action_mask[rows]
            states = _full(game, batch)[rows]
            streams = policy_streams(len(rows), seed + number)
            worlds = resampled(game, game.records(states), seats, streams.copy(), 1)[:, 0].copy()
            chosen = []
            for shown in (states, worlds):
                actions, memory = np.zeros(len(rows), np.int64), np.zeros((len(rows), own.memory), np.int64)
                choose(game.records(shown), params, seats, masks, own.options, memory, streams.copy(), actions)
                chosen.append(actions)
            inside = (chosen[0] >= 0) & (chosen[0] < game.num_actions)
            if not (inside & masks[np.arange(len(rows)), np.where(inside, chosen[0], 0)]).all():
                _fail("policies", f"the {name} chooses an illegal action")
            if (chosen[0] != chosen[1]).any():
                _fail("policies", f"the {name} depends on what its seat cannot see")


# -------------------------------------------------------------------------------------------------- the same everywhere


def _digest(game: Game, seed: int, steps: int = 60) -> str:
    """What some random play shows, as a hash."""
    batch, streams = Batch(game, 16, seed, autoreset=True), policy_streams(16, seed + 1)
    digest = hashlib.sha256()
    for _ in range(steps):
        actions = batch.sample_actions(streams)
        for array in (batch.observation, batch.action_mask, batch.to_move, actions, *batch.step(actions)):
            digest.update(np.ascontiguousarray(array).tobytes())
    for seat in range(game.num_players):
        worlds = batch.worlds(seat, streams, 2)
        digest.update(b"".join(_fields(worlds.ravel())))
    return digest.hexdigest()


def check_plain_python(game: Game, games: int, seed: int) -> None:
    """compiled = plain: the same games in plain Python."""
    if not JIT:
        raise _LeftOut("compilation is off in this process")
    try:
        sent = pickle.dumps(game)
        if b"__main__" in sent:
            raise ValueError("it is defined in __main__")
    except Exception as error:
        raise _LeftOut(f"the game cannot be sent to another process ({error})") from None
    code = (
        "import pickle, sys; sys.path[:0] = sys.argv[2:]\n"
        "from llama_envs import testing\n"
        "print(testing._digest(pickle.loads(sys.stdin.buffer.read()), int(sys.argv[1])))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, str(seed), *sys.path],
        input=sent, capture_output=True, check=False, env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
    )  # fmt: skip
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        _fail("compiled = plain", f"the game does not play in plain Python ({' '.join(last)})")
    if done.stdout.decode().split()[-1:] != [_digest(game, seed)]:
        _fail("compiled = plain", "plain Python gives other games than compiled code")


def check_independence(game: Game, games: int, seed: int) -> None:
    """batches: a game depends neither on the size of its batch nor on threads."""
    seeds = list(range(seed + 11, seed + 15))
    together = _trace(Batch(game, 4, seeds, autoreset=True), seeds)
    for i, own in enumerate(seeds):
        alone = _trace(Batch(game, 1, [own], autoreset=True), [own])
        if any((one[:, 0] != many[:, i]).any() for one, many in zip(alone, together, strict=True)):
            _fail("batches", "a game plays on differently beside other games")
    if not JIT:
        return  # threads share compiled code only
    number = 2 * GAMES_PER_THREAD
    batches = [Batch(game, number, seed, autoreset=True, threads=threads) for threads in (1, 2)]
    streams = [policy_streams(number, seed + 1) for _ in batches]
    for _ in range(12):
        for batch, stream in zip(batches, streams, strict=True):
            batch.step(batch.sample_actions(stream))
    if _fields(batches[0].state) != _fields(batches[1].state):
        _fail("batches", "two threads play other games than one")


def _trace(batch: Batch, seeds: list[int]) -> list[npt.NDArray[Any]]:
    streams = policy_streams(batch.num_games, seeds)
    frames = []
    for _ in range(60):
        seen = batch.observation.copy(), batch.action_mask.copy()
        frames.append((*seen, *batch.step(batch.sample_actions(streams))))
    return [np.stack(arrays) for arrays in zip(*frames, strict=True)]


def check_copies(game: Game, games: int, seed: int) -> None:
    """copies: a copied, pickled or saved batch has the same future and shares nothing."""
    batch, streams = Batch(game, 8, seed, autoreset=True), policy_streams(8, seed + 1)
    for _ in range(7):
        batch.step(batch.sample_actions(streams))
    makers: tuple[Callable[[Batch], Batch], ...] = (Batch.clone, copy.deepcopy)
    for make in makers:
        twin = make(batch)
        if np.shares_memory(twin.state, batch.state) or twin.game is not batch.game:
            _fail("copies", "a copy of a batch shares its states")
        if _differ(twin, batch):
            _fail("copies", "a copy of a batch goes on differently")
    try:
        same = pickle.loads(pickle.dumps(game))
    except Exception as error:
        raise _LeftOut(f"the game cannot be pickled here ({type(error).__name__})") from None
    if same.config != game.config or same.id != game.id:
        _fail("copies", "a pickled game comes back with another configuration")


def _differ(one: Batch, other: Batch) -> bool:
    one, other = one.clone(), other.clone()
    streams = [policy_streams(one.num_games, 3), policy_streams(one.num_games, 3)]
    for _ in range(30):
        for batch, stream in zip((one, other), streams, strict=True):
            batch.step(batch.sample_actions(stream))
    return _fields(one.state) != _fields(other.state)


# ---------------------------------------------------------------------------------------------------------------- APIs


def check_doors(game: Game, games: int, seed: int) -> None:
    """APIs: PettingZoo's, Gymnasium's, Stable-Baselines3's and OpenSpiel's own checks pass."""
    import gymnasium
    from gymnasium.utils.env_checker import check_env

    from llama_envs.adapters.aec import GameAECEnv, wrap
    from llama_envs.adapters.gym_vector import GymEnv, GymVectorEnv
    from llama_envs.adapters.parallel import GameParallelEnv

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of PettingZoo, on observations that are dicts; and of Gymnasium's checker
        from pettingzoo.test import api_test, parallel_api_test

        with contextlib.redirect_stdout(io.StringIO()):  # PettingZoo's tests print
            api_test(wrap(GameAECEnv(game)), num_cycles=20)
            parallel_api_test(GameParallelEnv(game), num_cycles=20)
            check_env(GymEnv(game), skip_render_check=True)
    envs = GymVectorEnv(game, 8, "random")
    observation, _ = envs.reset(seed=seed)
    for _ in range(20):
        observation, *_ = envs.step(observation["action_mask"].argmax(axis=1))
        if not envs.observation_space.contains(observation):
            _fail("APIs", "the vector environment shows observations outside its space")
    if game.spec.gymnasium_id in gymnasium.registry and game.config == game.spec.config():
        gymnasium.make(game.spec.gymnasium_id).reset(seed=seed)
    if _installed("stable_baselines3"):
        from llama_envs.adapters.sb3 import SB3VecEnv

        env = SB3VecEnv(game, 8, seed=seed)
        env.reset()
        for _ in range(20):
            env.step(env.action_masks().argmax(axis=1))
    if _installed("pyspiel"):
        _check_open_spiel(game)


def _check_open_spiel(game: Game) -> None:
    from llama_envs.adapters import open_spiel

    tree = open_spiel.tree_of(game)
    position = tree.start
    rng = np.random.default_rng(0)
    while position.player != OVER:
        chances = position.probabilities or [1 / len(position.choices)] * len(position.choices)
        position = tree.after(position, int(rng.choice(position.choices, p=np.array(chances) / sum(chances))))
    if abs(sum(position.paid)) > 1e-9:
        _fail("APIs", f"OpenSpiel's returns do not sum to 0: {position.paid}")


def _installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


CHECKS: tuple[Callable[[Game, int, int], None], ...] = (
    check_masks,
    check_progress,
    check_apply,
    check_chance,
    check_observations,
    check_worlds,
    check_enumeration,
    check_hidden,
    check_policies,
    check_independence,
    check_copies,
    check_plain_python,
    check_doors,
)
