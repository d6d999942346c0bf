"""Games small enough to be solved: their equilibria, and how far PPO's self-play stays from one.

    python -m experiments.exact            # about six minutes: experiments/reports/exact.md, .csv, exact_ppo.csv, .png
    python -m experiments.exact --quick    # the smaller half of it in under a minute, to runs/exact/quick

Every variant is enumerated with all of its chance and solved by CFR+; nothing is sampled. The policies go to
``runs/exact/<variant>.npz`` and are played as ``tabular:runs/exact/<variant>.npz``. A learner that is any good should
come near them: NashConv, what the seats could gain by their best responses, is computed exactly for networks too.
"""

from __future__ import annotations

import dataclasses
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import numpy.typing as npt
import pandas as pd
import rich
import torch
from rich.progress import track
from stable_baselines3.common.callbacks import BaseCallback, CallbackList

from agents.ppo import actor, actor_weights
from agents.sequence_form import (
    CFRPlus,
    SequenceForm,
    best_response,
    enumerate_game,
    game_values,
    nash_conv,
    normalised,
    realise,
    strategy_of,
    strategy_of_deterministic,
    strategy_table,
    uniform_strategy,
)
from experiments import train
from llama_envs.cli.command import parse_options, run_or_exit
from llama_envs.core.contract import Floats
from llama_envs.core.files import write_atomically, write_text
from llama_envs.core.game import Game
from llama_envs.core.registry import game_names, make_game
from llama_envs.core.runs import command_line
from llama_envs.core.validation import check_int
from llama_envs.evaluation.intervals import ratio
from llama_envs.llama_llama.deck import Card, Combination, Deck
from llama_envs.policies import make_policy
from llama_envs.policies.network import probabilities
from llama_envs.policies.tabular import save_table

matplotlib.use("Agg")
import matplotlib.pyplot as plt

TARGET = 1e-4  # NashConv at which the solver stops, in parts of the payoff range
LEAST_GOOD = 1e-3  # what the report calls solved
EVERY = 5  # rollouts between measurements of PPO


@dataclasses.dataclass(frozen=True)
class Options:
    """Solve small variants of the games, and measure PPO's self-play against the solutions."""

    quick: bool = False
    """The smaller variants, fewer seeds and steps."""
    variants: tuple[str, ...] = ()
    """Only these variants, by name, or other registered games, each with its default options; PPO is trained on those
    variants that the report draws, and on such games."""
    out: Path | None = None
    """Folder of the report; by default experiments/reports, or with --quick or --variants runs/exact/quick."""
    tables: Path = Path("runs/exact")
    """Folder of the policies."""
    seeds: int = 5
    """Seeds of PPO; 0 leaves it out."""
    steps: int = 500_000
    """Decisions that PPO learns from, for each seed."""

    def __post_init__(self) -> None:
        check_int("seeds", self.seeds, 0, 2**16)
        check_int("steps", self.steps, 1, 10**12)
        for name in ("out", "tables"):
            path = getattr(self, name)
            if path is not None and path.exists() and not path.is_dir():
                raise ValueError(f"{name} must be a folder, got the file {path}.")

    @property
    def folder(self) -> Path:
        """Where the report goes."""
        partial = self.quick or self.variants
        return self.out or Path("runs/exact/quick" if partial else "experiments/reports")


# ------------------------------------------------------------------------------------------------------------ variants


@dataclasses.dataclass(frozen=True)
class Variant:
    """A small game to be solved.

    Attributes:
        name: in tables and files.
        game: the registered game.
        options: of its config.
        slow: left out by --quick.
        ppo: PPO is trained on it.
    """

    name: str
    game: str
    options: dict[str, Any]
    slow: bool = False
    ppo: bool = False

    def make(self) -> Game:
        """The game."""
        return make_game(self.game, **self.options)


def small_lama(num_ranks: int, copies: int, hand_size: int, reward: str = "score", **kind: bool) -> Variant:
    """One round of L.L.A.M.A. between two, opened by seat 0."""
    options = {
        "num_players": 2, "num_ranks": num_ranks, "copies": copies, "hand_size": hand_size, "first_player": 0,
        "max_rounds": 1, "single_round_terminates": True, "reward": reward,
    }  # fmt: skip
    return Variant(f"lama-{num_ranks}x{copies}-{hand_size}-{reward}", "lama", options, **kind)


TWO_ROUNDS = Variant(  # with a chip to return in the second
    "lama-2x2-1-score-2rounds",
    "lama",
    {
        "num_players": 2, "num_ranks": 2, "copies": 2, "hand_size": 1, "first_player": 0, "max_rounds": 2,
        "reward": "score",
    },
)  # fmt: skip


def small_card(letter: str, points: int, second: str, second_points: int, copies: int) -> Card:
    """A card of a small deck: its letter's own points, and those of a combination."""
    return Card(letter, (Combination(letter, points),), (Combination(second, second_points),), copies)


DECKS = {
    deck.name: deck
    for deck in (
        Deck("ab8", (small_card("A", 1, "B", 3, 6), small_card("B", 2, "A", 2, 2)), 8),
        Deck("abc8", (small_card("A", 1, "B", 5, 4), small_card("B", 2, "C", 3, 2), small_card("C", 3, "A", 4, 2)), 8),
        Deck("ab12", (small_card("A", 1, "BB", 6, 10), small_card("B", 2, "AA", 7, 2)), 12),
        Deck("abb12", (small_card("A", 1, "BB", 6, 9), small_card("B", 2, "AA", 7, 3)), 12),
    )
}


def small_llamas(deck: str, num_players: int, hand_size: int, reward: str = "score", **kind: bool) -> Variant:
    """One round of Llama Llama with one card in each pass."""
    options = {
        "num_players": num_players, "deck": DECKS[deck], "hand_size": hand_size, "pass_counts": (1, 1, 1, 1),
        "num_rounds": 1, "reward": reward,
    }  # fmt: skip
    return Variant(f"llama_llama-{deck}-{num_players}p-{reward}", "llama_llama", options, **kind)


VARIANTS = (
    small_lama(2, 2, 1, "win"),
    small_lama(2, 3, 2, "win"),
    TWO_ROUNDS,
    small_lama(3, 2, 1),
    small_lama(3, 2, 2, "win"),
    small_lama(3, 2, 2, ppo=True),
    small_lama(7, 1, 2),
    small_lama(4, 2, 2, slow=True),
    small_lama(4, 2, 1, slow=True),
    small_lama(3, 3, 2, slow=True),
    small_llamas("ab8", 2, 2, "win"),
    small_llamas("ab12", 2, 3, ppo=True),
    small_llamas("abb12", 2, 3, slow=True),
    small_llamas("ab8", 3, 2),
    small_llamas("ab12", 3, 3, slow=True),
    small_llamas("ab8", 4, 2),
    small_llamas("abc8", 4, 2, "win"),
    small_llamas("ab12", 4, 3),
)


def chosen_variants(options: Options) -> list[Variant]:
    """The variants that a run is about; ValueError for an unknown name."""
    known = {variant.name: variant for variant in VARIANTS}
    known |= {name: Variant(name, name, {}, ppo=True) for name in game_names()}
    for name in options.variants:
        if name not in known:
            listed = ", ".join(variant.name for variant in VARIANTS)
            raise ValueError(f"there is no variant {name!r} and no game of this name; the variants are {listed}.")
    if options.variants:
        return [known[name] for name in options.variants]
    return [variant for variant in VARIANTS if not (options.quick and variant.slow)]


# ------------------------------------------------------------------------------------------------------------- solving


@dataclasses.dataclass(frozen=True, eq=False)
class Solution:
    """A solved variant.

    Attributes:
        form: its sequence form.
        strategy: the equilibrium strategy, which may depend on everything that a seat recalls.
        playable: the one that depends on the latest observation alone.
        row: its line in the report's table.
    """

    form: SequenceForm
    strategy: Floats
    playable: Floats
    row: dict[str, Any]


def solve(variant: Variant) -> Solution:
    """Enumerate and solve a variant, twice: with perfect recall, and by observation."""
    started = time.process_time()
    form = enumerate_game(variant.make())
    most = 2000 if form.game.num_players > 2 else 100_000  # with more seats nothing promises that it gets there
    solver = CFRPlus(form, by_observation=False)
    strategy = solver.run(TARGET * form.payoff_range, most)
    held = CFRPlus(form)
    held.iterate(solver.iterations)
    playable = held.average()
    distance = nash_conv(form, strategy)
    row = {
        "variant": variant.name,
        "players": form.game.num_players,
        "histories": form.histories,
        "positions": form.positions,
        "information_sets": form.num_sets,
        "observations": form.num_cells,
        "iterations": solver.iterations,
        "payoff_range": form.payoff_range,
        "nash_conv": distance,
        "nash_conv_percent": 100 * distance / form.payoff_range,
        "nash_conv_by_observation_percent": 100 * nash_conv(form, playable) / form.payoff_range,
        **{f"value_{seat}": value for seat, value in enumerate(game_values(form, strategy))},
        **{f"best_{seat}": best_response(form, strategy, seat).value for seat in range(form.game.num_players)},
        "cpu_seconds": time.process_time() - started,
        "command": command_of(variant.name),
    }
    return Solution(form, strategy, playable, row)


# ----------------------------------------------------------------------------------------------------------------- PPO


def network_strategy(form: SequenceForm, network: Any) -> Floats:
    """The strategy (S,) of a masked actor network that samples: what it would do at every information set."""
    with torch.no_grad():
        logits = network(torch.from_numpy(form.observation)).numpy()
    return strategy_of(form, probabilities(logits, form.mask))


class NashConvDuringTraining(BaseCallback):
    """Measures the learner's present policy, and the average of all measured ones, every few rollouts.

    Attributes:
        rows: one for each measurement: steps, and NashConv in percent of the payoff range.
    """

    def __init__(self, form: SequenceForm, layers: list[int], every: int) -> None:
        super().__init__()
        self.form, self.every, self.rollouts = form, every, 0
        self.network = actor(form.game.observation.size, form.game.num_actions, layers)
        self.average = AveragePlan(form)
        self.rows: list[dict[str, float]] = []

    def _on_rollout_start(self) -> None:
        if self.rollouts % self.every == 0:
            self.measure()
        self.rollouts += 1

    def _on_step(self) -> bool:
        return True

    def _on_training_end(self) -> None:
        self.measure()

    def measure(self) -> None:
        """One more row."""
        self.network.load_state_dict(actor_weights(self.model.policy.state_dict()))
        strategy = network_strategy(self.form, self.network)
        self.average.add(strategy)
        percent = 100 / self.form.payoff_range
        self.rows.append(
            {
                "steps": self.model.num_timesteps,
                "nash_conv_percent": percent * nash_conv(self.form, strategy),
                "nash_conv_of_average_percent": percent * nash_conv(self.form, self.average.strategy()),
            }
        )


class AveragePlan:
    """The strategy that plays one of those added, drawn alike before the game."""

    def __init__(self, form: SequenceForm) -> None:
        self.form = form
        self._total = np.zeros(len(form.action))

    def add(self, strategy: Floats) -> None:
        """One more strategy."""
        plan = np.empty_like(strategy)
        realise(self.form.parent, self.form.first, strategy, plan)
        self._total += plan

    def strategy(self) -> Floats:
        """(S,), uniform where none of them leads."""
        return normalised(self.form, self._total)


def ppo_options(seed: int, steps: int) -> train.Options:
    """Self-play of a small network: against itself as it is and as it was."""
    return train.Options(
        seed=seed, steps=steps, self_weight=0.6, snapshot_weight=0.4, scripted=(), num_envs=256, rollout=32,
        batch_size=2048, epochs=4, layers=(64, 64), checkpoint_every=10**6, threads=1, deals=0,
    )  # fmt: skip


def train_ppo(form: SequenceForm, seed: int, steps: int) -> pd.DataFrame:
    """NashConv over training, by ``experiments.train``'s own learner, league and environment."""
    options = ppo_options(seed, steps)
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as folder:
        model, keeper = train.build(form.game, options, Path(folder))
        measure = NashConvDuringTraining(form, list(options.layers), EVERY)
        train.learn(model, options.steps, CallbackList([keeper, measure]), quiet=True)
        model.logger.close()
    return pd.DataFrame(measure.rows).assign(seed=seed)


def train_all(solutions: dict[str, Solution], names: list[str], options: Options) -> pd.DataFrame:
    """Every seed on every variant of ``names``."""
    runs = [(name, seed) for name in names for seed in range(options.seeds)]
    frames = []
    for name, seed in track(runs, "training PPO", transient=True):
        frames.append(train_ppo(solutions[name].form, seed, options.steps).assign(variant=name))
    return pd.concat(frames, ignore_index=True)[["variant", "seed", *frames[0].columns[:3]]]


def references(form: SequenceForm) -> dict[str, float]:
    """NashConv of policies without learning, in percent of the payoff range; the heuristic if the game has one."""
    strategies = {"random": uniform_strategy(form)}
    if form.game.spec.heuristic is not None:
        strategies["heuristic"] = strategy_of_deterministic(form, make_policy("heuristic", form.game))
    return {name: 100 * nash_conv(form, strategy) / form.payoff_range for name, strategy in strategies.items()}


def over_seeds(values: npt.ArrayLike) -> tuple[float, float]:
    """Mean, and half the width of its 95 % t interval (infinite for a single seed)."""
    array = np.asarray(values, np.float64)
    return ratio(array, np.ones(len(array)))


def draw_curves(curves: pd.DataFrame, lines: dict[str, dict[str, float]], path: Path) -> None:
    """NashConv over training, one panel for each variant."""
    names = list(lines)
    figure, axes = plt.subplots(1, len(names), figsize=(6.2 * len(names), 4.2), constrained_layout=True, squeeze=False)
    for axis, name in zip(axes[0], names, strict=True):
        runs = curves[curves["variant"] == name]
        for column, label in (
            ("nash_conv_percent", "PPO"),
            ("nash_conv_of_average_percent", "average of PPO so far"),
        ):
            table = runs.pivot(index="steps", columns="seed", values=column)
            summary = [over_seeds(row) for row in table.to_numpy()]
            mean, half = np.array(summary).T
            drawn = axis.plot(table.index / 1e3, mean, label=label)[0]
            if np.isfinite(half).all():
                axis.fill_between(table.index / 1e3, mean - half, mean + half, alpha=0.25, color=drawn.get_color())
        for style, (policy, value) in zip(("--", ":", "-."), lines[name].items(), strict=False):
            axis.axhline(value, linestyle=style, color="0.4", linewidth=1, label=policy)
        axis.set_title(name)
        axis.set_xlabel("decisions of the learner (thousands)")
        axis.set_ylabel("NashConv, % of the payoff range")
        axis.set_ylim(bottom=0)
        axis.grid(alpha=0.3)
        axis.legend()
    write_atomically(path, lambda temporary: figure.savefig(temporary, dpi=110))
    plt.close(figure)


# -------------------------------------------------------------------------------------------------------------- report


def prose(text: str) -> str:
    """One paragraph, on one line."""
    return " ".join(text.split())


def report(
    options: Options, variants: list[Variant], solutions: dict[str, Solution], curves: pd.DataFrame | None
) -> str:
    """The report as Markdown."""
    parts = [
        "# Exact play on small variants",
        f"Generated by `{command_line().strip()}`.",
        prose(
            """Every variant is enumerated with all of its chance and solved by CFR+. Nothing is sampled, so these
            numbers have no interval but their distance from equilibrium: NashConv, what the seats could gain by their
            best responses, all together; a best response recalls everything. *Histories* are the nodes of the game
            tree, chance and ends included; *information sets* are all that a seat has seen and done; *observations* are
            the different (seat, observation) pairs, all that a policy of this suite is shown."""
        ),
        solved_table(solutions),
        findings(solutions),
        "## What the variants are",
        variants_text(variants),
    ]
    if curves is not None:
        parts += ppo_text(options, solutions, curves)
    return "\n\n".join(parts) + "\n"


def solved_table(solutions: dict[str, Solution]) -> str:
    """The table of variants."""
    columns = (
        "variant", "players", "histories", "information sets", "observations", "iterations",
        "NashConv, % of the payoff range", "the same, by observation alone", "value of each seat", "CPU seconds",
    )  # fmt: skip
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for name, solution in solutions.items():
        row = solution.row
        lines.append(
            f"| `{name}` | {row['players']} | {row['histories']:,} | {row['information_sets']:,} | "
            f"{row['observations']:,} | {row['iterations']} | {percent(row['nash_conv_percent'])} | "
            f"{percent(row['nash_conv_by_observation_percent'])} | {values_text(row)} | {row['cpu_seconds']:.1f} |"
        )
    return "\n".join(lines)


def percent(value: float) -> str:
    """A percentage with as many digits as it deserves; what rounding errors leave is 0."""
    return f"{max(value, 0.0):.4f}" if value < LEAST_GOOD * 100 else f"**{value:.2f}**"


def values_text(row: dict[str, Any]) -> str:
    """The value of each seat; with two seats with the bounds that best responses prove for it."""
    values = [row[f"value_{seat}"] for seat in range(row["players"])]
    text = ", ".join(f"{round(value, 5) + 0.0:.5f}" for value in values)
    if row["players"] > 2:
        return text
    return f"{text} (± {max(row['best_0'] - values[0], row['best_1'] - values[1], 0.0):.5f})"


def findings(solutions: dict[str, Solution]) -> str:
    """What the table says, in sentences that it decides."""
    rows = [solution.row for solution in solutions.values()]
    two = [row for row in rows if row["players"] == 2]
    far = [f"`{row['variant']}`" for row in rows if row["nash_conv_percent"] >= 100 * LEAST_GOOD]
    merged = [row for row in rows if row["observations"] < row["information_sets"]]
    texts = []
    if two:
        worst = max(row["nash_conv_percent"] for row in two)
        texts.append(
            f"""- Two players: NashConv is at most {worst:.4f} % of the payoff range. The value, what each seat is paid
            at equilibrium, seat 0 first, is unique, and best responses prove the ± after it. {who_opens(two)}"""
        )
    if len(two) < len(rows):
        unsolved = f"It stayed above 0.1 % in {', '.join(far)}, which is not solved." if far else ""
        texts.append(
            f"""- More players: CFR+ promises nothing there, and the value is that of one equilibrium among others, but
            NashConv is exact all the same. {unsolved}"""
        )
    if merged:
        worst_row = max(merged, key=lambda row: row["nash_conv_by_observation_percent"])
        texts.append(
            f"""- A policy is shown the latest observation and recalls nothing else. Where observations are fewer than
            information sets, the column *by observation alone* tells what the forgetting costs (CFR+ held to it, for as
            many iterations): at most {worst_row["nash_conv_by_observation_percent"]:.4f} % of the payoff range, in
            `{worst_row["variant"]}`. An observation counts what happened and forgets the order."""
        )
    return "\n".join(map(prose, texts))


def who_opens(rows: list[dict[str, Any]]) -> str:
    """One sentence on the games among ``rows`` that are known here."""
    known = {"lama": "in L.L.A.M.A. seat 0 opens", "llama_llama": "in Llama Llama both decide at once"}
    found = [text for game, text in known.items() if any(row["variant"].startswith(f"{game}-") for row in rows)]
    text = "; ".join(found)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def variants_text(variants: list[Variant]) -> str:
    """The exact options of every variant, and the small decks."""
    lines = ["| variant | game | options | solved alone by |", "|---|---|---|---|"]
    for variant in variants:
        options = ", ".join(
            f"{key}={value.name if isinstance(value, Deck) else repr(value)}" for key, value in variant.options.items()
        )
        lines.append(f"| `{variant.name}` | `{variant.make().id}` | {options} | `{command_of(variant.name)}` |")
    decks = {variant.options["deck"] for variant in variants if "deck" in variant.options}
    if decks:
        lines += ["", "| deck | cards |", "|---|---|"]
    for deck in sorted(decks, key=lambda deck: str(deck.name)):
        cards = "; ".join(f"{card.copies} × {card.letter} ({', '.join(card.rules_text)})" for card in deck.cards)
        lines.append(f"| {deck.name} | {cards} |")
    if decks:
        lines += ["", prose(DUMMIES)]
    return "\n".join(lines)


DUMMIES = """By the rules of Llama Llama two players have a dummy hand at the left of each, three players have one dummy
and four have none; there is no game of two without dummies."""


def command_of(name: str) -> str:
    """The command that solves one variant alone."""
    return f"python -m experiments.exact --variants {name} --seeds 0"


def ppo_text(options: Options, solutions: dict[str, Solution], curves: pd.DataFrame) -> list[str]:
    """The part on PPO."""
    lines = ["| variant | start | end | average of all | random | heuristic | CFR+ |", "|---" * 7 + "|"]
    far = []
    for name, runs in curves.groupby("variant", sort=False):
        solution = solutions[str(name)]
        first, last = runs["steps"] == runs["steps"].min(), runs["steps"] == runs["steps"].max()
        found = references(solution.form)
        end, half = over_seeds(runs.loc[last, "nash_conv_percent"])
        cells = [
            interval(*over_seeds(runs.loc[first, "nash_conv_percent"])),
            interval(end, half),
            interval(*over_seeds(runs.loc[last, "nash_conv_of_average_percent"])),
            *(f"{found[policy]:.2f}" if policy in found else "–" for policy in ("random", "heuristic")),
            f"{max(solution.row['nash_conv_percent'], 0.0):.4f}",
        ]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
        if end - (half if np.isfinite(half) else 0.0) > 100 * LEAST_GOOD:
            far.append(f"{end:.1f} % in `{name}`")
    reached = f"PPO's self-play came within {100 * LEAST_GOOD:g} % of the payoff range."
    missed = f"""**PPO's self-play did not reach equilibrium**: it ended at {" and ".join(far)}. Nothing promises that
        it would. A learner that claims to approach equilibrium should end well below, towards CFR+."""
    shown = ppo_options(0, options.steps)
    return [
        "## PPO on the same variants",
        prose(
            f"""MaskablePPO as `experiments.train` builds it, {options.seeds} seeds, {options.steps:,} decisions of the
            learner, {shown.num_envs} environments, rollouts of {shown.rollout}, {shown.epochs} passes over
            each in minibatches of {shown.batch_size},
            layers {" × ".join(map(str, shown.layers))}, entropy bonus {shown.entropy}. Opponents: itself (weight
            {shown.self_weight}) and its last {shown.snapshots} snapshots ({shown.snapshot_weight}); where all seats
            decide at once it plays every seat. Its policy samples. NashConv of the network's policy is computed
            exactly, every {EVERY} rollouts; the table gives % of the payoff range at the first and the last
            measurement, ± a 95 % t interval over seeds. *Average of all* plays one of the policies measured so far,
            drawn before the game."""
        ),
        "\n".join(lines),
        prose(missed if far else reached),
        "![NashConv of PPO over training](exact_ppo.png)",
        "All measurements: [exact_ppo.csv](exact_ppo.csv); the first table: [exact.csv](exact.csv).",
    ]


def interval(mean: float, half: float) -> str:
    """Mean ± half width."""
    return f"{mean:.2f} ± {half:.2f}" if np.isfinite(half) else f"{mean:.2f}"


def study(options: Options) -> Path:
    """Solve, train, save everything; the report's path."""
    variants = chosen_variants(options)
    solutions = {}
    for variant in variants:
        solutions[variant.name] = solution = solve(variant)
        row = solution.row
        rich.print(
            f"{variant.name}: {row['information_sets']:,} information sets, NashConv "
            f"{row['nash_conv_percent']:.4f} % of the payoff range, {row['cpu_seconds']:.1f} s"
        )
        write_atomically(
            options.tables / f"{variant.name}.npz",
            lambda path, solved=solution: save_table(  # type: ignore[misc]
                path, solved.form.game, strategy_table(solved.form, solved.playable)
            ),
        )
    frame = pd.DataFrame([solution.row for solution in solutions.values()])
    write_atomically(options.folder / "exact.csv", lambda path: frame.to_csv(path, index=False, float_format="%.9g"))
    curves = None
    trained = [variant.name for variant in variants if variant.ppo]
    if options.seeds and trained:
        curves = train_all(solutions, trained, options)
        drawn = curves
        write_atomically(
            options.folder / "exact_ppo.csv", lambda path: drawn.to_csv(path, index=False, float_format="%.6g")
        )
        lines = {
            name: {**references(solutions[name].form), "CFR+": max(solutions[name].row["nash_conv_percent"], 0.0)}
            for name in trained
        }
        draw_curves(curves, lines, options.folder / "exact_ppo.png")
    path = options.folder / "exact.md"
    write_text(path, report(options, variants, solutions, curves))
    return path


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    options = parse_options(Options, __doc__.partition("\n")[0], argv)
    if options.quick:
        options = dataclasses.replace(options, seeds=min(options.seeds, 2), steps=min(options.steps, 60_000))
    report_file = run_or_exit(lambda: study(options), f"the policies solved so far are in {options.tables}")
    print(f"report: {report_file}")


if __name__ == "__main__":
    main()
