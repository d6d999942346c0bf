"""The speed report in its quick form, and a guard on speed that needs no clock."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from experiments.learning_speed import learning_speeds
from experiments.throughput import __main__ as throughput
from experiments.throughput import held, peers
from experiments.throughput.instructions import NotHere, count_instructions
from experiments.throughput.measuring import Results, Start
from experiments.throughput.probes import (
    DRAWN,
    GYM,
    SB3,
    Absent,
    Probe,
    among,
    bytes_of_a_step,
    measure,
    own_probes,
    stepping,
)
from experiments.throughput.report import report
from experiments.throughput.tables import peer_table
from experiments.throughput.targets import TARGETS, Target
from llama_envs.core.registry import game_specs, make_game, spec_of
from tests.cases import CHECKOUT, GAMES
from tests.experiments.commands import call, fits


@pytest.mark.exhaustive
def test_a_decision_takes_no_more_instructions_than_it_did():
    """Counted, not timed: a kernel that became a fifth slower fails here on any machine."""
    try:
        counted = count_instructions([(name, make_game(name).num_players) for name in TARGETS])
    except NotHere as reason:
        pytest.skip(str(reason))
    for count in counted:
        most = TARGETS[count.game].most_instructions
        step, playout = most["step"], most["playout"]
        assert 0.4 * step < count.step <= step, count
        assert 0.4 * playout < count.playout <= playout, count


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """The report's folder, and what the command printed."""
    folder = tmp_path_factory.mktemp("reports")
    done = subprocess.run(
        [sys.executable, "-m", "experiments.throughput", "--quick", "--out", str(folder)],
        cwd=CHECKOUT, capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


@pytest.mark.exhaustive
def test_quick_report_has_every_part_and_says_what_is_not_measured(quick):
    folder, printed = quick
    text = (folder / "throughput.md").read_text()
    for heading in (
        "Numbers to hold",
        "Batches and playouts",
        "One game",
        "Peers",
        "Threads",
        "Training",
        "The floor",
        "Versions",
    ):
        assert f"## {heading}" in text
    assert "Not measured with --quick." in text
    assert "numbers to hold" in printed
    fits(printed.replace(str(folder), ""))
    assert (folder / "throughput.png").stat().st_size > 10_000


@pytest.mark.exhaustive
def test_every_row_of_the_table_has_rates_or_a_reason(quick):
    table = pd.read_csv(quick[0] / "throughput.csv")
    measured = table["decisions_per_second"].notna()
    assert (measured ^ table["absent"].notna()).all()
    assert measured[table["group"] != "peer"].all()
    assert (table["lower_quartile"] <= table["decisions_per_second"])[measured].all()
    assert (table["decisions_per_second"] <= table["upper_quartile"])[measured].all()
    assert set(table.loc[table["group"] != "peer", "game"]) == {spec.title for spec in game_specs()}
    report = (quick[0] / "throughput.md").read_text()
    for _, row in table[~measured].iterrows():
        assert f"not measured: {row['absent']}" in report


def test_a_peer_that_is_not_installed_is_listed_with_the_reason(monkeypatch):
    monkeypatch.setitem(sys.modules, "rlcard", None)
    probes = [probe for probe in peers.peer_probes(8) if "RLCard" in probe.what or "leduc hold'em" in probe.game]
    measure([probe for probe in probes if probe.number == 1], 1, 0.001, silent=True)
    assert len(probes) >= 4
    assert all("rlcard is not installed here" in probe.absent for probe in probes if probe.number == 1)
    assert "not measured: rlcard is not installed here" in peer_table(probes)


def test_without_a_compiler_pufferlib_is_absent_with_the_reason(monkeypatch, tmp_path):
    monkeypatch.setattr(peers, "BUILD", tmp_path)
    monkeypatch.setattr(peers.shutil, "which", lambda name: None)
    with pytest.raises(Absent, match="no gcc"):
        peers.puffer_loop(4)


def test_probes_count_the_decisions_that_they_take():
    """A step of N games is N decisions, and so for every probe of ours that has a batch under it."""
    for spec in game_specs():
        probes = own_probes((16,), {spec.name: spec.players[-1:]})
        for probe in probes:
            if probe.group in ("Batch", "playouts", "vector"):
                assert probe.prepare()() % probe.number == 0
        assert {probe.game for probe in probes} == {spec.title}


def test_a_learner_meets_heuristics_where_the_game_ships_one():
    for spec in game_specs():
        opponents = {probe.what for probe in own_probes((16,), {spec.name: ()}) if probe.group == "vector"}
        known = ["random", *(["heuristic"] if spec.heuristic is not None else [])]
        assert opponents == {among(what, opponent) for what in (GYM, SB3) for opponent in known}


@pytest.mark.parametrize("name", GAMES)
def test_steps_among_heuristics_are_held_against_steps_among_random_players(name):
    spec, target = spec_of(name), TARGETS[name]

    def rows(share):
        rates = {"random": [1e6, 2e6, 1e6], "heuristic": [1e6 * share, 2e6 * share, 9e6]}
        return held.opponent_rows(
            [
                Probe("vector", among(what, opponent), spec.title, 4, 1024, lambda: lambda: 1, rates[opponent])
                for what in (GYM, SB3)
                for opponent in rates
            ],
            spec,
            target,
        )

    assert [held.verdict(row) for row in rows(target.against_heuristics)] == ["holds", "holds"]
    assert [held.verdict(row) for row in rows(0.9 * target.against_heuristics)] == ["**misses** by 10%"] * 2
    without = held.opponent_rows([], spec, target)
    assert [held.verdict(row) for row in without] == ["not measured", "not measured"]


def test_two_threads_are_held_against_one():
    spec = spec_of(GAMES[0])

    def verdict(*rates):
        probes = [
            Probe("threads", stepping(threads), spec.title, 4, 8192, lambda: lambda: 1, [rate])
            for threads, rate in enumerate(rates, start=1)
        ]
        return held.verdict(held.thread_row(probes, spec))

    assert verdict(10e6, 17e6) == "holds"
    assert verdict(10e6, 15.3e6) == "**misses** by 10%"
    assert verdict(10e6) == "not measured"


def test_a_game_without_targets_is_measured_and_has_nothing_to_hold(monkeypatch):
    monkeypatch.setattr(held, "TARGETS", {"lama": TARGETS["lama"]})
    kinds = {
        "AEC": ("raw_env", "env"),
        "Batch": (DRAWN,),
        "playouts": ("random playouts",),
        "floor": ("moving the bytes",),
    }
    probes = [
        Probe(group, what, spec.title, spec.players[0], 1024, lambda: lambda: 1, [1e6])
        for spec in game_specs() for group, names in kinds.items() for what in names
    ]  # fmt: skip
    starts = [Start(spec.title, None, [1.0]) for spec in game_specs()]
    results = Results(probes, [], [], "", starts, [], "")
    rows = held.numbers_to_hold(results)
    assert any(spec_of("lama").title in row.what for row in rows)
    assert not any(spec_of("llama_llama").title in row.what for row in rows)
    text = report(results, 2, 0.02)
    numbers, _, measured = text.partition("## Batches and playouts")
    for heading in ("One game", "Peers", "Threads", "Training", "The floor", "Versions"):
        assert f"## {heading}" in measured
    assert spec_of("llama_llama").title not in numbers
    for spec in game_specs():
        assert measured.count(f"| {spec.title} |") == 5  # a step, playouts, two environments, the floor


def test_a_run_to_try_it_leaves_the_published_report_alone():
    assert throughput.Options().folder == CHECKOUT / "experiments" / "reports"
    assert throughput.Options(repeats=3).folder.parts[0] == "runs"
    tried = throughput.Options(quick=True).folder
    assert tried.parts[0] == "runs"


def test_every_target_is_of_a_game_that_is_there():
    assert set(TARGETS) <= {spec.name for spec in game_specs()}
    assert all(
        isinstance(target, Target) and target.most_instructions.keys() == {"step", "playout"}
        for target in TARGETS.values()
    )


def test_a_step_moves_the_record_twice_and_what_it_writes():
    game = make_game("lama", num_players=2)
    written = 4 * game.observation.size + game.num_actions + 4 * 2 + 2
    assert bytes_of_a_step(game) == 2 * 244 + 16 + game.num_actions + 8 + written


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (held.at_least("x", 10e6, 12e6, ""), "holds"),
        (held.at_least("x", 10e6, 9e6, ""), "**misses** by 10%"),
        (held.at_most("x", 2.5, 2.5, "s"), "holds"),
        (held.at_most("x", 40, 50, "s"), "**misses** by 20%"),
        (held.ratio("x", 5, 10, 2, ""), "holds"),
        (held.ratio("x", 5, 8, 2, ""), "**misses** by 20%"),
        (held.ratio("x", 5, 8, 0, ""), "not measured"),
    ],
)
def test_verdict_says_by_how_much_a_number_misses(row, says):
    assert held.verdict(row) == says


def test_time_of_a_step_may_grow_with_the_players_as_its_bytes_do():
    """Bytes grow 1.4 times from two players to six; a step of six may take that much longer, and no more."""

    def verdict(six_players):
        rates = {2: 10e6, 4: 9.5e6, 6: six_players}
        probes = [Probe("Batch", DRAWN, "L.L.A.M.A.", p, 1024, lambda: lambda: 1, [rate]) for p, rate in rates.items()]
        probes.append(Probe("Batch", DRAWN, "Llama Llama", 2, 1024, lambda: lambda: 1, [10e6]))
        alone = held.growth_row(probes, spec_of("llama_llama"))
        assert held.verdict(alone) == "not measured"
        return held.verdict(held.growth_row(probes, spec_of("lama")))

    assert verdict(7.2e6) == "holds"
    assert verdict(6.9e6).startswith("**misses**")


def test_medians_and_quartiles_are_those_of_the_repeats():
    probe = Probe("g", "w", "game", 2, 1, lambda: lambda: 1, rates=[1.0, 2.0, 3.0, 4.0, 100.0])
    assert probe.median == 3.0
    assert probe.spread == (2.0, 4.0)


def test_learner_trains_here_and_on_an_environment_that_does_nothing():
    for speed in learning_speeds(1, 8):
        assert np.isfinite([*speed.ours, *speed.nothing, speed.share]).all()
        assert min(*speed.ours, *speed.nothing) > 0


def test_an_interrupted_measurement_keeps_the_rates_so_far(tmp_path, monkeypatch, capsys):
    def interrupted(quick, repeats, seconds, console, probes):
        probes += [Probe("Batch", "step", "L.L.A.M.A.", 4, 64, lambda: None, rates=[1.0, 3.0, 2.0])]
        raise KeyboardInterrupt

    monkeypatch.setattr(throughput, "run", interrupted)
    assert call(throughput.main, [], tmp_path, monkeypatch) == 130
    (path,) = tmp_path.rglob("throughput.csv")
    assert f"the rates so far are in {path.relative_to(tmp_path)}." in capsys.readouterr().err
    assert pd.read_csv(path)["decisions_per_second"].tolist() == [2.0]
