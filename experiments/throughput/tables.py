"""The tables of what was measured."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from experiments.throughput.measuring import Results
from experiments.throughput.peers import PUFFER, PUFFER_LEGAL
from experiments.throughput.probes import DRAWN, Probe, bytes_of_a_step
from experiments.throughput.targets import COMPARED
from llama_envs.core.markdown import markdown_table
from llama_envs.core.registry import game_specs, make_game, spec_of

VECTOR = 32  # bytes that one instruction writes at most, on the processor for which instructions are counted
FLOOR_HEADER = [
    "game", "players", "bytes of the record", "bytes a step moves", "moving them takes", "a step takes",
    "a step / the floor", "least instructions that write observation and mask", "instructions of a step",
    "of a playout's decision",
]  # fmt: skip


def frame(probes: Sequence[Probe]) -> pd.DataFrame:
    """One row for each probe; an absent one has its reason instead of rates."""
    rows = []
    for probe in probes:
        low, high = probe.spread if probe.rates else (np.nan, np.nan)
        rows.append(
            {
                "group": probe.group, "what": probe.what, "game": probe.game, "players": probe.players,
                "games": probe.number, "decisions_per_second": probe.median if probe.rates else np.nan,
                "lower_quartile": low, "upper_quartile": high, "repeats": len(probe.rates), "absent": probe.absent,
            }
        )  # fmt: skip
    return pd.DataFrame(rows).astype({"players": "Int64"})


def number(value: float) -> str:
    """1234567 as "1.23 M"."""
    for unit, letter in ((1e6, " M"), (1e3, " k")):
        if value >= unit:
            return f"{value / unit:.3g}{letter}"
    return f"{value:.3g}"


def with_spread(probe: Probe) -> str:
    """Median and quartiles."""
    low, high = probe.spread
    return f"{number(probe.median)} ({number(low)} – {number(high)})"


def find(probes: Sequence[Probe], what: str, game: str, least: int = 1) -> list[Probe]:
    """Probes that were measured with at least so many games at once."""
    return [p for p in probes if p.what == what and p.game == game and p.number >= least and p.rates]


def batch_table(probes: Sequence[Probe]) -> str:
    """Steps of a batch by game, players and number of games."""
    chosen = [p for p in probes if p.group in ("Batch", "playouts")]
    numbers = sorted({p.number for p in chosen if p.group == "Batch"})
    rows = []
    for game, players in dict.fromkeys((p.game, p.players) for p in chosen):
        for what in dict.fromkeys(p.what for p in chosen if p.group == "Batch"):
            cells = {p.number: with_spread(p) for p in chosen if (p.game, p.players, p.what) == (game, players, what)}
            rows.append([game, str(players), what, *(cells.get(n, "") for n in numbers)])
        (played,) = [p for p in chosen if (p.game, p.players, p.group) == (game, players, "playouts")]
        rows.append(
            [game, str(players), "random playouts, 1024 games", with_spread(played), *[""] * (len(numbers) - 1)]
        )
    return markdown_table(["game", "players", "", *(f"N = {n}" for n in numbers)], rows)


def interface_table(probes: Sequence[Probe]) -> str:
    """The other ways to play."""
    rows = [
        [p.game, str(p.players), p.what, str(p.number), with_spread(p)]
        for p in probes
        if p.group in ("AEC", "Parallel", "vector", "search")
    ]
    return markdown_table(["game", "players", "", "games at once", "decisions/s"], rows)


def thread_table(probes: Sequence[Probe]) -> str:
    """Steps by one thread and by more, and how many times as fast more are."""
    rows = []
    for probe in (p for p in probes if p.group == "threads"):
        (alone,) = [p for p in find(probes, "step, 1 thread", probe.game) if p.group == "threads"]
        rows.append([probe.game, str(probe.players), str(probe.number), probe.what, with_spread(probe),
                     f"{probe.median / alone.median:.3g} ×"])  # fmt: skip
    return markdown_table(["game", "players", "games at once", "", "decisions/s", "one thread"], rows)


def peer_table(probes: Sequence[Probe]) -> str:
    """The peers, and our nearest counterpart as a multiple of each: one game at a time, or a batch."""
    batch, raw, wrapped = (
        best_case(probes, *key) for key in (("step, actions by a kernel", 1024), ("raw_env", 1), ("env", 1))
    )
    rows = []
    for peer in (p for p in probes if p.group == "peer"):
        if not peer.rates:
            rows.append([peer.what, peer.game, str(peer.number), f"not measured: {peer.absent}", "", ""])
            continue
        ours, name = (batch, "Batch.step") if peer.number > 1 else (raw, "raw_env")
        if peer.what == "PettingZoo env":
            ours, name = wrapped, "env"
        elif peer.what in (PUFFER, PUFFER_LEGAL):
            ours, name = best_case(probes, DRAWN, 1024), "Batch.step, actions drawn beforehand"
        ratio = f"{ours / peer.median:.3g} ×" if ours else "–"
        rows.append([peer.what, peer.game, str(peer.number), with_spread(peer), name, ratio])
    header = ["peer", "its game", "games at once", "decisions/s", f"against {spec_of(COMPARED).title}'s", "ours"]
    return markdown_table(header, rows)


def best_case(probes: Sequence[Probe], what: str, least: int) -> float:
    """The game that is compared with the peers, at its default number of players."""
    game = make_game(COMPARED)
    found = [p for p in find(probes, what, game.title, least) if p.players == game.num_players]
    return found[0].median if found else 0.0


def floor_table(results: Results) -> str:
    """How far a step is from moving its bytes, and from writing its observation in the fewest instructions."""
    rows = []
    for spec in game_specs():
        for probe in [p for p in results.probes if p.group == "floor" and p.game == spec.title]:
            game = make_game(spec.name, num_players=probe.players)
            step = [p for p in find(results.probes, DRAWN, probe.game, 64) if p.players == probe.players]
            nearest = min(step, key=lambda p: abs(p.number - probe.number))
            counted = [c for c in results.counted if (c.game, c.num_players) == (spec.name, probe.players)]
            written = 4 * game.observation.size + game.num_actions
            rows.append([
                game.title, str(probe.players), str(game.state_dtype.itemsize), str(bytes_of_a_step(game)),
                f"{1e9 / probe.median:.1f} ns", f"{1e9 / nearest.median:.1f} ns",
                f"{probe.median / nearest.median:.1f} ×", str(-(-written // VECTOR)),
                *((f"{counted[0].step:.0f}", f"{counted[0].playout:.0f}") if counted else ("–", "–")),
            ])  # fmt: skip
    return markdown_table(FLOOR_HEADER, rows)
