"""A study: questions about one game, each a part with its figure, table and findings, and the report of them all.

The game is anybody's: its own options, deck and policies are options of the study, and the report names them.
"""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import Progress

from experiments.lib.findings import Findings, either, listed
from llama_envs.cli.command import check_folder
from llama_envs.cli.spread import Spread
from llama_envs.core.batch import policy_streams
from llama_envs.core.chance import check_seed
from llama_envs.core.game import Game
from llama_envs.core.markdown import markdown_table
from llama_envs.core.registry import make_game, spec_of
from llama_envs.core.validation import check_int
from llama_envs.evaluation.intervals import Estimate
from llama_envs.evaluation.workers import Map, in_thread
from llama_envs.policies import Policy, PolicyError, make_policy

FEWEST = 20  # deals of any comparison

Seeds = npt.NDArray[np.uint64]
Arrays = dict[str, npt.NDArray[Any]]


@dataclasses.dataclass(frozen=True)
class Options(Spread):
    """What every study asks for."""

    quick: bool = False
    """A few hundred deals, to try the machinery."""
    only: tuple[str, ...] = ()
    """Only these parts; a wrong name lists them."""
    num_players: tuple[int, ...] = ()
    """Numbers of players."""
    policies: tuple[str, ...] = ()
    """Policies to measure beside those of the study, such as my_package.my_module:Name."""
    deals: int = 8_000
    """Deals of the larger comparisons; the others, and tables of policies that may be slow, take a part of them."""
    seed: int = 0
    """Seed of deals and policies."""
    out: Path | None = None
    """Folder of the report; by default experiments/reports where nothing else is asked for, else a folder in runs."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("deals", self.deals, FEWEST, 10_000_000)
        check_seed(self.seed)
        check_folder("out", self.out)


@dataclasses.dataclass(frozen=True)
class Subject:
    """What a study is about.

    Attributes:
        name: of its package, which holds its text in findings.md, of its command and of its folder of reports.
        game: the game's name.
        options: its options, with a default of ``num_players``.
        parts: its questions.
        quick: the options with which it is tried; numbers are upper bounds.
        at_once: deals that are played together; another number may change the last digits of what a network does.
        labels: how policies are called.
        check: raises ValueError if a study cannot be made.
    """

    name: str
    game: str
    options: type[Options]
    parts: Mapping[str, Callable[[Any], Part]]
    quick: Mapping[str, Any]
    at_once: int
    labels: Mapping[str, str]
    check: Callable[[Any], None]

    @cached_property
    def findings(self) -> Findings:
        """Its text; the section "report" has the title and what is said of all numbers."""
        folder = Path(__file__).parent
        return Findings(folder / "findings.md", folder.parent / self.name / "findings.md")


@dataclasses.dataclass(frozen=True)
class Part:
    """One question of a study and what was found.

    Attributes:
        page: sentences for whoever plays cards.
        text: the section, without the line that says how to make its numbers again.
        figure: a PNG file.
        data: tables, by the name of their CSV files.
    """

    page: list[str]
    text: str
    figure: bytes
    data: Mapping[str, pd.DataFrame]


class Study:
    """The options, the games, and what all parts need of them.

    Args:
        subject: what the study is about.
        options: as asked for.
        config: options of the game.

    Raises:
        ValueError: an option is out of range, or a policy unknown.
    """

    def __init__(self, subject: Subject, options: Any, config: Mapping[str, Any]) -> None:
        self.subject, self.config = subject, dict(config)
        if options.quick:
            limits = {name: _limited(options, name, limit) for name, limit in subject.quick.items()}
            options = dataclasses.replace(options, **limits)
        self.options = options
        self.labels = dict(subject.labels)
        self.map: Map = in_thread
        for name in options.only:
            if name not in subject.parts:
                raise ValueError(f"only must name parts of {', '.join(subject.parts)}, got {name!r}.")
        possible = spec_of(subject.game).players
        players = options.num_players
        if not players or len(set(players)) < len(players) or not set(players) <= set(possible):
            allowed = f"one or more different ones of {', '.join(map(str, possible))}"
            raise ValueError(f"num_players must be {allowed}, got {' '.join(map(str, players)) or 'none'}.")
        for number in players:
            for policy in options.policies:
                make_policy(policy, self.game(number))
        subject.check(self)

    def game(self, players: int, **changes: Any) -> Game:
        """The game for so many players, some of its options changed."""
        return make_game(self.subject.game, **{**self.config, "num_players": players, **changes})

    @cached_property
    def main_players(self) -> int:
        """The number of players that a single figure or table is about."""
        return 4 if 4 in self.options.num_players else int(self.options.num_players[-1])

    @cached_property
    def rules(self) -> Any:
        """The game's options, for ``main_players``."""
        return self.game(self.main_players).config

    @cached_property
    def trained(self) -> list[int]:
        """Numbers of players that a trained agent ships for, under these rules."""
        found = []
        for players in self.options.num_players:
            try:
                make_policy("baseline", self.game(players))
            except ValueError:
                continue
            found.append(players)
        return found

    def agents(self, players: int) -> list[str]:
        """The policies beside the rule of thumb: the trained agent, if one ships, and those that were asked for."""
        own = [name for name in dict.fromkeys(self.options.policies) if name not in ("heuristic", "baseline")]
        return [*(["baseline"] if players in self.trained else []), *own]

    @property
    def tables(self) -> list[tuple[int, str]]:
        """Number of players and policy of every table at which all seats play alike."""
        return [(p, policy) for p in self.options.num_players for policy in ("heuristic", *self.agents(p))]

    def label(self, policy: str) -> str:
        """How a policy is called in a text."""
        return self.labels.get(policy, f"policy {policy}")

    def say(self, name: str, verdict: int | str = "", **numbers: Any) -> str:
        """A sentence of the study's text (:meth:`Findings.say`)."""
        return self.subject.findings.say(name, verdict, **numbers)

    def say_of_sweep(self, name: str, wins: Mapping[float, Estimate], players: int, m: int, **numbers: Any) -> str:
        """The sentence on the win shares of one seat by the value of its option, as one of ``m`` comparisons each."""
        better, worse = (
            [f"{value:g}" for value, win in wins.items() if win.side(1 / players, m) == side] for side in (1, -1)
        )
        best = max(wins, key=lambda value: wins[value].mean)
        return self.say(
            name, either(better, worse), players=players, better=listed(better), worse=listed(worse), best=f"{best:g}",
            share=wins[best].text(3), fair=f"{1 / players:.3f}", **numbers,
        )  # fmt: skip

    def seeds(self, deals: float) -> Seeds:
        """One seed for each deal, at least ``FEWEST``, uint64; the first ones do not depend on how many there are."""
        return split_seed(self.options.seed, max(int(deals), FEWEST))

    def run(
        self,
        function: Callable[..., Arrays],
        arms: Mapping[Any, tuple[Any, ...]],
        share: float,
        title: str,
        slow: float = 0.25,
        deals: Mapping[Any, int] | None = None,
    ) -> dict[Any, Arrays]:
        """``function(*arm, seeds)`` for every arm on the same deals; its arrays have a row for each deal.

        Which deals are played together does not depend on who does the work: policies always meet the same rows.

        Args:
            function: of a module.
            arms: arguments by name.
            share: of the deals of the study, the first ones.
            title: for the progress bar.
            slow: share of these for arms of policies that may be slow.
            deals: their number in arms of a policy that surely is slow, few of which are played together.
        """
        agents = {"baseline", *self.options.policies} - {"heuristic"}
        jobs, owners = [], []
        for name, arm in arms.items():
            few = deals is not None and name in deals
            part = share * (slow if any(isinstance(word, str) and word in agents for word in arm) else 1.0)
            seeds = self.seeds(self.options.deals * part)
            if few and deals is not None:
                seeds = split_seed(self.options.seed, deals[name])
            at_once = 10 if few else self.subject.at_once
            for first in range(0, len(seeds), at_once):
                jobs.append((function, (*arm, seeds[first : first + at_once])))
                owners.append(name)
        parts: dict[Any, list[Arrays]] = {name: [] for name in arms}
        console = Console(stderr=True)
        with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
            task = progress.add_task(title, total=len(jobs))
            try:
                for owner, result in zip(owners, self.map(_call, jobs), strict=True):
                    parts[owner].append(result)
                    progress.advance(task)
            except PolicyError as error:
                raise ValueError(f"{error}.") from error
        return {
            name: {key: np.concatenate([part[key] for part in found]) for key in found[0]}
            for name, found in parts.items()
        }

    def part(
        self,
        name: str,
        page: Sequence[str],
        findings: Sequence[str],
        table: pd.DataFrame,
        figure: Figure,
        data: Mapping[str, pd.DataFrame],
        right: int = 2,
        **numbers: Any,
    ) -> Part:
        """A part as it stands in the report.

        Args:
            name: of the part.
            page: sentences for whoever plays cards.
            findings: the other sentences.
            table: texts; its columns from number ``right`` on are aligned to the right.
            figure: is closed.
            data: tables, by the name of their CSV files.
            right: see ``table``.
            numbers: what the text of its sections "question" and "how" asks for.
        """
        image = io.BytesIO()
        figure.savefig(image, format="png", dpi=110)
        plt.close(figure)
        title = self.say(f"{name}.title")
        pieces = [
            f"## {title}",
            f"**Question.** {self.say(f'{name}.question', **numbers)}",
            "**Findings.**",
            "\n".join(f"- {finding}" for finding in findings),
            f"![{title}]({name}.png)",
            f"**What was played.** {self.say(f'{name}.how', **numbers)}",
            markdown_table(list(table.columns), table.itertuples(index=False), right),
            f"Numbers: {', '.join(f'[{file}]({file})' for file in data)}.",
        ]
        return Part(list(page), "\n\n".join(pieces), image.getvalue(), data)


# ------------------------------------------------------------------------------------------------------------- playing


def split_seed(seed: int, deals: int) -> Seeds:
    """One seed for each deal, (deals,) uint64; the first ones do not depend on how many are asked for."""
    return np.random.SeedSequence(seed).generate_state(deals, np.uint64).astype(np.uint64, copy=False)


@cache
def policy_of(name: str, game: Game) -> Policy:
    """A policy by its name, built once in a process."""
    return make_policy(name, game)


def seat_streams(seeds: Seeds, players: int) -> npt.NDArray[np.uint64]:
    """A random stream for each game and seat, (N, P) uint64."""
    return np.stack([policy_streams(len(seeds), seeds, lane) for lane in range(players)], axis=1)


def _call(job: tuple[Callable[..., Any], tuple[Any, ...]]) -> Any:
    function, arguments = job
    return function(*arguments)


def _limited(options: Any, name: str, limit: Any) -> Any:
    value = getattr(options, name)
    if isinstance(limit, int):
        return min(value, limit)
    return limit if value == next(f.default for f in dataclasses.fields(options) if f.name == name) else value
