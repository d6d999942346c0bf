"""OpenSpiel games ``python_<name>``, one for each game of the registry; importing this module registers them.

::

    import llama_envs.adapters.open_spiel
    import pyspiel

    game = pyspiel.load_game("python_<name>(num_players=2)")

Parameters are the fields of the game's config, with its names and defaults:

- whole numbers, words and True or False as they are; ``deck`` and the like take a name or a path;
- a field that takes a number or else a word or None is a number, and -1 stands for that word or None (its default);
- a field of several numbers is a text in brackets, ``[4 3 2 1]``; ``[]`` leaves its default;
- ``players``, OpenSpiel's usual name, overrides ``num_players`` unless it is -1.

Chance is explicit: cards are dealt and drawn one at a time. Decisions are sequential; where all seats decide at the
same moment they pick in turn, without seeing each other's picks. All rewards are zero-sum. They come when the next seat
is to move or the game is over, not at chance nodes. A game that a limit cuts short is terminal and has paid what it had
paid by then: nothing where the whole game is rewarded, the finished rounds where each round is. Where nothing limits
its length, a game declares the length ``NO_LIMIT``.

A seat observes at every decision, its own or another's, and at the end; while chance is to move it has seen no more
than before. ``information_state_string`` is the whole history of its observations (what changed since the last one)
and its own actions, so it has perfect recall. ``observation_string`` is the latest observation. Both tensors are that
observation, the vector of :class:`~llama_envs.core.game.Game` in its named pieces, which sums up what a seat could
remember; as an information state it does not tell apart different ways to the same knowledge.

Full-size games are for sampling methods: their trees are far beyond CFR, exploitability and every other method that
visits all of a game. Those are for small decks, hands and numbers of rounds. With three or more players
there is no exploitability; the sum of what the seats could gain is ``nash_conv``.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from itertools import product
from typing import Any, get_args, get_type_hints

import numpy as np
import numpy.typing as npt

from llama_envs.core.chance import stream_start
from llama_envs.core.contract import States
from llama_envs.core.errors import IllegalAction
from llama_envs.core.extensive_form import CHANCE, OBSERVE, OVER, START, compile_move
from llama_envs.core.game import Game
from llama_envs.core.payoff import REWARDS, SCORE
from llama_envs.core.registry import make_game, on_registration
from llama_envs.core.spec import GameSpec

try:
    import pyspiel
except ImportError:
    raise ImportError("llama_envs.adapters.open_spiel needs OpenSpiel: pip install 'llama-envs[openspiel]'.") from None

NO_LIMIT = 10**9  # declared length of a game that nothing ends for certain
DENOMINATOR = 1000  # rewards are fractions of small numbers, kept as float32; this finds the fraction again

Parameter = int | str | bool


# -------------------------------------------------------------------------------------------------------- parameters


def parameter_defaults(config: type[Any]) -> dict[str, Parameter]:
    """The parameters of a config dataclass and their defaults, in the encoding of the module docstring."""
    hints = get_type_hints(config)
    defaults: dict[str, Parameter] = {}
    for field in fields(config):
        value = field.metadata.get("cli_default", field.default)
        kinds = get_args(field.metadata.get("cli", hints[field.name]))  # the kinds that a command line can write
        if isinstance(value, tuple):
            defaults[field.name] = f"[{' '.join(map(str, value))}]"
        elif int in kinds and not isinstance(value, int):
            defaults[field.name] = -1
        else:
            defaults[field.name] = "[]" if value is None else value
    return defaults


def config_options(defaults: dict[str, Parameter], parameters: dict[str, Parameter]) -> dict[str, Any]:
    """The options of a config that ``parameters`` stand for; those left at their default are left out.

    Raises:
        ValueError: a text that cannot be part of a game's name, or a list that is not one.
    """
    options: dict[str, Any] = {}
    for name, value in parameters.items():
        if value == defaults.get(name):
            continue
        if not isinstance(value, str):
            options[name] = value
        elif str(defaults.get(name)).startswith("["):
            if not re.fullmatch(r"\[ *(\d+ *)*\]", value):
                raise ValueError(f"{name} must be numbers in brackets such as [4 3 2 1], got {value!r}.")
            options[name] = tuple(map(int, value.strip("[]").split()))
        elif re.search(r"[,()=]", value) or re.fullmatch(r"[-+.\d]*|True|False", value):
            raise ValueError(f"{name} must be a word without , ( ) = that is no number, got {value!r}.")
        else:
            options[name] = value
    if "players" in options:
        options["num_players"] = options.pop("players")
    return options


# --------------------------------------------------------------------------------------------------------- positions


class Position:
    """What one OpenSpiel state knows. Never changed, so clones share it.

    Attributes:
        tree: the game that it is of.
        state: one record, (1,).
        player: the seat to move, or OpenSpiel's number for chance or the end.
        choices: legal actions, or possible outcomes, ascending.
        probabilities: of those outcomes; empty unless chance is to move.
        reward: what the last decision, and the chance it triggered, paid each seat; 0 while chance is to move.
        paid: what each seat was paid so far.
        seen: (P, D) float32, each seat's latest observation.
        memory: each seat's history of observations and own actions, as text.
    """

    __slots__ = ("choices", "memory", "paid", "player", "probabilities", "reward", "seen", "state", "tree")
    tree: GameTree
    state: States
    player: int
    choices: list[int]
    probabilities: list[float]
    reward: list[float]
    paid: list[float]
    seen: npt.NDArray[np.float32]
    memory: list[str]

    def __deepcopy__(self, memo: dict[int, Any]) -> Position:
        return self


class GameTree:
    """Positions of one game: where it starts, and what follows a move."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.num_choices = max(game.num_actions, game.max_chance_outcomes)
        self.scales = np.concatenate([np.full(piece.size, piece.scale) for piece in game.observation.values()])
        self.labels: list[str] = []
        for piece in game.observation.values():
            indices = product(*map(range, piece.shape)) if piece.shape != (1,) else ((),)
            self.labels += [piece.name + "".join(f"[{i}]" for i in index) for index in indices]
        self._move = compile_move(game.rules)
        self._params = game.records(game.params)

    @functools.cached_property
    def start(self) -> Position:
        """An empty table, before the first chance event or decision."""
        nobody = Position()
        nobody.paid = [0.0] * self.game.num_players
        nobody.memory = [f"p{seat}" for seat in range(self.game.num_players)]
        nobody.seen = np.zeros((self.game.num_players, self.game.observation.size), np.float32)
        nobody.state = np.zeros(1, self.game.state_dtype)
        return self._follow(nobody, nobody.state, START, nobody.memory)

    def after(self, position: Position, action: int) -> Position:
        """The position after an action or a chance outcome.

        Raises:
            IllegalAction: it is not among the choices.
        """
        if action not in position.choices:
            possible = ", ".join(self.name(position.player, choice) for choice in position.choices) or "nothing"
            raise IllegalAction(f"{self.name(position.player, action)} is not possible here; possible is {possible}.")
        memory = position.memory
        if position.player >= 0:
            memory = memory.copy()
            memory[position.player] += f" > {self.game.action_names[action]}"
        return self._follow(position, position.state, action, memory)

    def resampled(self, position: Position, seat: int, seed: int) -> Position:
        """``position`` with all that ``seat`` cannot know redrawn; the others have seen only what they see there."""
        streams = np.array([stream_start(np.uint64(seed), np.uint64(0), np.uint64(0))], np.uint64)
        world = self.game.records(np.zeros((1, 1), self.game.state_dtype))
        states, seats = self.game.records(position.state), np.array([seat], np.int64)
        self.game.batch_kernels.worlds(states, self._params, seats, streams, world)
        drawn = self._follow(position, world.view(np.ndarray)[0].view(self.game.state_dtype), OBSERVE, position.memory)
        drawn.reward, drawn.paid = position.reward, position.paid
        drawn.memory = [
            f"{who} | {self.describe(seen)}" for who, seen in zip(self.start.memory, drawn.seen, strict=True)
        ]
        drawn.memory[seat] = position.memory[seat]
        return drawn

    def name(self, player: int, action: int) -> str:
        """An action, or an outcome of chance, in words."""
        if player == CHANCE or not 0 <= action < self.game.num_actions:
            return f"outcome {action}" if player == CHANCE else f"action {action}"
        return self.game.action_names[action]

    def describe(self, seen: npt.NDArray[np.float32]) -> str:
        """One observation (D,) in words: what is not zero."""
        return self._changes(np.zeros((1, len(seen))), seen[None])[0]

    def _follow(self, position: Position, state: States, action: int, memory: list[str]) -> Position:
        new = Position()
        new.tree = self
        new.state = state.view(np.uint8).copy().view(state.dtype)  # as bytes: fields one by one take longer
        choices = np.empty(self.num_choices)
        seen = np.empty_like(position.seen)
        records = self.game.records(new.state)
        new.player = self._move(records, self._params, action, self.game.num_actions, choices, seen)
        new.choices = np.flatnonzero(choices).tolist()
        new.probabilities = choices[new.choices].tolist() if new.player == CHANCE else []
        new.reward, new.paid = [0.0] * len(memory), position.paid
        if new.player == CHANCE:
            new.seen, new.memory = position.seen, memory
            return new
        rewards = new.state["reward"][0, : len(memory)].tolist()
        if any(rewards):
            new.reward = [float(Fraction(reward).limit_denominator(DENOMINATOR)) for reward in rewards]
            new.paid = [paid + reward for paid, reward in zip(position.paid, new.reward, strict=True)]
        new.seen = seen
        changes = self._changes(position.seen, seen)
        new.memory = [f"{text} | {change}" for text, change in zip(memory, changes, strict=True)]
        return new

    def _changes(self, before: npt.NDArray[Any], after: npt.NDArray[Any]) -> list[str]:
        """What is new to each seat: the entries of its observation that changed, in natural units."""
        seats, places = np.nonzero(before != after)
        values = np.rint(after[seats, places] * self.scales[places]).astype(np.int64).tolist()
        words: list[list[str]] = [[] for _ in after]
        for seat, place, value in zip(seats.tolist(), places.tolist(), values, strict=True):
            words[seat].append(f"{self.labels[place]}={value}")
        return [" ".join(news) for news in words]

    def __reduce__(self) -> tuple[Any, ...]:
        return tree_of, (self.game,)


@functools.cache
def tree_of(game: Game) -> GameTree:
    """The one tree of a game."""
    return GameTree(game)


# ------------------------------------------------------------------------------------------------- OpenSpiel's classes


class OpenSpielState(pyspiel.State):
    """One node: decisions, chance and the end as the module docstring tells."""

    def __init__(self, game: OpenSpielGame) -> None:
        super().__init__(game)
        self.position = game.tree.start

    def current_player(self) -> int:
        """The seat to move, or OpenSpiel's number for chance or the end."""
        return self.position.player

    def is_terminal(self) -> bool:
        """Whether the game is over or was cut short."""
        return self.position.player == OVER

    def _legal_actions(self, player: int) -> list[int]:
        return self.position.choices if player == self.position.player else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """(outcome, probability) of everything that the pending chance event can bring."""
        return list(zip(self.position.choices, self.position.probabilities, strict=True))

    def _apply_action(self, action: int) -> None:
        self.position = self.position.tree.after(self.position, action)

    def _action_to_string(self, player: int, action: int) -> str:
        return self.position.tree.name(player, action)

    def rewards(self) -> list[float]:
        """What the last decision, and the chance it triggered, paid each seat; 0 while chance is to move."""
        return list(self.position.reward)

    def returns(self) -> list[float]:
        """What each seat was paid so far."""
        return list(self.position.paid)

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> OpenSpielState:
        """A state that ``player`` cannot tell from this one, all that it cannot know redrawn uniformly.

        It has no history: only positions can be drawn, not the ways to them. ``player`` remembers all it did; the
        others' information states begin with what they see there.

        Raises:
            ValueError: nobody is to move here (a pending chance event must not be looked through), or no such player.
        """
        if self.position.player < 0:
            raise ValueError("resample_from_infostate works where somebody is to move, not at chance or the end.")
        tree = self.position.tree
        if not 0 <= player < tree.game.num_players:
            raise ValueError(f"player must be from 0 to {tree.game.num_players - 1}, got {player}.")
        seed = int(sampler() * 2**32) << 32 | int(sampler() * 2**32)
        state: OpenSpielState = self.get_game().new_initial_state()
        state.position = tree.resampled(self.position, player, seed)
        return state

    def __reduce__(self) -> tuple[Any, ...]:
        return load_state, (pyspiel.serialize_game_and_state(self.get_game(), self),)

    def __str__(self) -> str:
        """Every move so far, so that no two nodes look alike."""
        name = self.position.tree.name
        return ", ".join(f"p{move.player} {name(move.player, move.action)}" for move in self.full_history())


class OpenSpielObserver:
    """The latest observation of a seat, or (``string_from``, with perfect recall) all it has seen and done."""

    def __init__(self, tree: GameTree, kind: Any, params: Any) -> None:
        if params:
            raise ValueError(f"observers of this game take no parameters, got {params!r}.")
        if not kind.public_info or kind.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            raise ValueError("an observation of this game is what one player sees, public and its own together.")
        self._tree, self._perfect_recall = tree, kind.perfect_recall
        layout = tree.game.observation
        self.tensor = np.zeros(layout.size, np.float32)
        self.dict = {name: layout.view(self.tensor, name) for name in layout}

    def set_from(self, state: OpenSpielState, player: int) -> None:
        """Fill ``tensor``, and with it the pieces in ``dict``, with what ``player`` sees."""
        self.tensor[:] = state.position.seen[player]

    def string_from(self, state: OpenSpielState, player: int) -> str:
        """The information state or the observation of ``player``, in words."""
        if self._perfect_recall:
            return state.position.memory[player]
        return f"p{player} | {self._tree.describe(state.position.seen[player])}"


class OpenSpielGame(pyspiel.Game):
    """One configuration. ``register`` makes the subclass for a game of the registry."""

    name: str
    defaults: dict[str, Parameter]
    kind: dict[str, Any]

    def __init__(self, params: dict[str, Parameter] | None = None) -> None:
        game = make_game(self.name, **config_options(self.defaults, params or {}))
        self.tree = tree_of(game)
        super().__init__(game_type(self.kind, pays_rounds(game)), game_info(game), params or {})

    def new_initial_state(self) -> OpenSpielState:
        """Before the first chance event or decision."""
        return OpenSpielState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> OpenSpielObserver:
        """An observer of what one player sees."""
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        return OpenSpielObserver(self.tree, kind, params)

    def max_chance_nodes_in_history(self) -> int:
        """No game has more chance events."""
        return self.tree.game.max_chance_events or NO_LIMIT

    def __reduce__(self) -> tuple[Any, ...]:
        return load, (str(self),)


def load(spec: str) -> Any:
    """``pyspiel.load_game``, in a process that may not have imported this module before."""
    return pyspiel.load_game(spec)


def load_state(text: str) -> Any:
    """The state of ``pyspiel.deserialize_game_and_state``, likewise."""
    return pyspiel.deserialize_game_and_state(text)[1]


def pays_rounds(game: Game) -> bool:
    """Whether rewards are paid before the end."""
    return REWARDS.get(getattr(game.config, "reward", "")) == SCORE


def game_type(kind: dict[str, Any], rounds: bool) -> Any:
    """What OpenSpiel wants to know of every configuration."""
    model = pyspiel.GameType.RewardModel
    return pyspiel.GameType(
        **kind,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=model.REWARDS if rounds else model.TERMINAL,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=False,
    )


def game_info(game: Game) -> Any:
    """What OpenSpiel wants to know of one configuration."""
    return pyspiel.GameInfo(
        num_distinct_actions=game.num_actions,
        max_chance_outcomes=game.max_chance_outcomes,
        num_players=game.num_players,
        min_utility=-game.max_return,
        max_utility=game.max_return,
        utility_sum=0.0,
        max_game_length=game.max_decisions or NO_LIMIT,
    )


def register(spec: GameSpec) -> None:
    """Make a game known to OpenSpiel as ``python_<name>``."""
    defaults = {**parameter_defaults(spec.config), "players": -1}
    kind = {
        "short_name": f"python_{spec.name}",
        "long_name": spec.title,
        "min_num_players": min(spec.players),
        "max_num_players": max(spec.players),
        "parameter_specification": defaults,
    }
    game = type("OpenSpielGame", (OpenSpielGame,), {"name": spec.name, "defaults": defaults, "kind": kind})
    pyspiel.register_game(game_type(kind, rounds=False), game)


on_registration(register)
