"""experiments.benchmark: the report is made of what was played, and claims what its intervals carry."""

from __future__ import annotations

import dataclasses
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments import baselines
from experiments.benchmark import __main__ as module
from experiments.benchmark import measuring
from experiments.benchmark.findings import beats, findings, first_cycle, strongest, unbeaten
from experiments.benchmark.measuring import Measured
from experiments.benchmark.report import _demoted, baseline_section
from experiments.benchmark.settings import Setting, settings
from llama_envs.cli import tournament
from llama_envs.core.registry import game_names, game_specs, make_game
from llama_envs.evaluation.standings import Results, pairwise, standings
from llama_envs.evaluation.tournament import Tournament, make_plan
from llama_envs.policies.network import read_policy
from tests.experiments.commands import Refusal, call, fits

TINY = tuple(
    Setting(game, players, ("heuristic", "random", "nobody"), 4, 3, ("heuristic", "heuristic:0", "nobody:2"), 3, (), 0)
    for game, players in (("lama", 2), ("llama_llama", 3))
)
TINY = (dataclasses.replace(TINY[0], targets=("heuristic", "nobody"), steps=64), TINY[1])


def made_up(chances: dict[tuple[str, str], float], deals: int) -> Tournament:
    """A tournament of two at a table in which the first of each pair wins with the given chance."""
    rng = np.random.default_rng(0)
    names = sorted({name for pair in chances for name in pair})
    win = np.zeros((deals, len(chances), 2, 2))
    for number, chance in enumerate(chances.values()):
        win[:, number, :, 0] = rng.random((deals, 2)) < chance
    win[..., 1] = 1 - win[..., 0]
    tables = tuple((names.index(one), names.index(other)) for one, other in chances)
    results = Results(tuple(names), tables, win, win * 0, np.zeros(win.shape[:3], np.bool_), {})
    game = make_game("lama", num_players=2)
    plan = make_plan(game, dict.fromkeys(names, "random"), deals)
    empty = pd.DataFrame()
    timing = pd.DataFrame({"policy": names, "ms_per_decision": 1.0})
    return Tournament(plan, results, standings(game, results, 0), pairwise(results), empty, empty, timing)


def measured(table: Tournament, **parts: object) -> Measured:
    setting = Setting("lama", 2, tuple(table.plan.policies), 1, 0, (), 0, (), 0)
    blank = Measured(setting, table.plan.game, {}, table, None, None, pd.DataFrame(), {}, Path())
    return dataclasses.replace(blank, **parts)  # type: ignore[arg-type]


def test_a_policy_is_called_strongest_only_where_every_interval_says_so() -> None:
    clear = made_up({("a", "b"): 0.8, ("a", "c"): 0.8, ("b", "c"): 0.5}, 200)
    assert unbeaten(clear) == ["a"]
    assert strongest([measured(clear)]) == "`a` beats every other policy with 2 players."
    vague = made_up({("a", "b"): 0.52, ("a", "c"): 0.8, ("b", "c"): 0.8}, 30)
    assert set(unbeaten(vague)) == {"a", "b"}
    assert "single out no policy" in strongest([measured(vague)])
    assert not beats(vague)["a", "b"]


def test_a_cycle_is_reported_only_where_the_intervals_show_it() -> None:
    chances = {("a", "b"): 0.75, ("b", "c"): 0.75, ("c", "a"): 0.75}
    assert first_cycle(made_up(chances, 200)) == ("a", "b", "c")
    assert first_cycle(made_up(dict.fromkeys(chances, 0.52), 30)) is None
    text = "\n".join(findings([measured(made_up(chances, 200))]))
    assert "a cycle: `a` beats `b` beats `c` beats `a`" in text
    assert "single out no policy" in text


def test_the_comparison_at_equal_time_and_the_baseline_say_more_less_or_neither() -> None:
    for chance, words in ((0.8, "more than"), (0.2, "less than"), (0.5, "neither clearly more nor less than")):
        duel = made_up({("ismcts:2ms", "mc:2ms"): chance}, 60)
        table = made_up({("baseline", "heuristic"): chance}, 60)
        text = "\n".join(findings([measured(table, duel=duel)]))
        assert f"At equal time `ismcts:2ms` wins {words} `mc:2ms` with 2 players." in text
        assert f"One `baseline` among `heuristic`s wins {words} an equal share with 2 players." in text


def test_a_handful_of_deals_carries_no_finding() -> None:
    for deals, found in ((14, False), (15, True)):
        table = made_up({("a", "b"): 1.0}, deals)
        assert beats(table)["a", "b"] == found
        text = "\n".join(findings([measured(table, duel=table)]))
        assert ("wins more than `b`" in text) == found


def test_exploitability_is_claimed_only_above_zero() -> None:
    table = made_up({("a", "b"): 0.5}, 30)
    rows = pd.DataFrame({"target": ["weak", "firm"], "lower_bound": [0.04, 0.0]})
    text = "\n".join(findings([measured(table, exploited=rows)]))
    assert "`weak` is exploitable with 2 players; no gain was shown against `firm` with 2 players." in text
    assert "≥ 0.040" in text


def test_failures_are_among_the_findings() -> None:
    table = made_up({("a", "b"): 0.5}, 30)
    failed = dataclasses.replace(table, results=dataclasses.replace(table.results, errors={"b": "RuntimeError: no"}))
    assert "`b` failed (RuntimeError: no) and is not rated." in "\n".join(findings([measured(failed)]))


@pytest.mark.exhaustive
def test_a_small_benchmark_writes_a_report_whose_commands_give_its_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    committed = tmp_path / "reports" / "benchmark.md"
    monkeypatch.setattr(module, "PUBLISHED", committed.parent)
    monkeypatch.setattr(module, "settings", lambda quick: TINY)
    sizes = {"num_envs": 16, "n_steps": 4, "batch_size": 64, "layers": (8,), "selection_deals": 2, "deals": 3}
    options = measuring.exploit.Options(total_timesteps=64, init_from="none", **sizes)  # type: ignore[arg-type]
    monkeypatch.setattr(measuring, "exploit_options", lambda *_: options)
    command = ["--quick", "--name", "x", "--workers", "1"]
    monkeypatch.setenv("COLUMNS", "80")
    assert call(module.main, command, tmp_path, monkeypatch) == 0
    fits(capsys.readouterr().out)
    assert not committed.parent.exists(), "the quick form touched the committed report"
    folder = tmp_path / "runs" / "x"
    text = (folder / "benchmark.md").read_text()
    for setting in TINY:
        assert f"## {make_game(setting.game, num_players=setting.players).title}, {setting.players} players" in text
    pictures = re.findall(r"!\[.*?\]\((.*?)\)", text)
    assert len(pictures) == 2
    assert all((folder / name).read_bytes()[:4] == b"\x89PNG" for name in pictures)
    assert "unknown policy 'nobody'" in text
    assert "seed 0" in text
    assert "## Exploitability" in text
    assert "their time includes the moves themselves" in text  # what a decision of a kernel takes
    commands = re.findall(r"`python -m (experiments\.tournament [^`]*)`", text)
    assert len(commands) == 2 + 1 + 2
    for number, shown in enumerate(commands[:2]):
        tournament.main([*shlex.split(shown)[1:], "--name", f"again{number}", "--workers", "1"])
    parts = [folder / "lama-2p" / "table", folder / "lama-2p" / "duel"]
    for number, part in enumerate(parts):
        again = tmp_path / "runs" / f"again{number}" / "standings.csv"
        assert again.read_bytes() == (part / "standings.csv").read_bytes()
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("parts/*")}
    assert call(module.main, [*command, "--resume"], tmp_path, monkeypatch) == 0
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("parts/*")} == before
    assert call(module.main, command, tmp_path, monkeypatch) == 2


def test_the_section_on_the_baselines_is_made_of_their_files() -> None:
    text = "\n".join(baseline_section())
    assert text.startswith("## How the baselines were made\n\n### ")
    for spec in game_specs():
        assert f"\n### {spec.title}\n" in text
        assert baselines.table(spec) in text
        for file in baselines.shipped(spec):
            made = read_policy(file).about["made"]
            assert all(f"- {file.stem}: `{command}`" in text for command in made["commands"])
            assert f"torch {made['versions']['torch']}" in text
    assert "\n#### What was tried\n" in text
    assert "\n# " not in text
    assert "<!--" not in text


def test_markdown_keeps_its_code_when_it_goes_into_a_section() -> None:
    text = "# Title\n\n<!-- generated: x -->\n## Part\n\n```\n# a comment\n```\n"
    assert _demoted(text, 2) == "#### Part\n\n```\n# a comment\n```"


def test_full_and_quick_cover_both_games_at_the_same_numbers_of_players() -> None:
    for quick in (False, True):
        assert {setting.game for setting in settings(quick)} == set(game_names())
        for setting in settings(quick):
            make_game(setting.game, num_players=setting.players)
    players = [[(setting.game, setting.players) for setting in settings(quick)] for quick in (False, True)]
    assert players[0] == players[1]
    wanted = [("lama", n) for n in (2, 3, 4, 6)] + [("llama_llama", n) for n in (2, 3, 4)]
    assert players[0] == wanted


def test_a_scale_changes_every_size_and_nothing_else() -> None:
    setting = settings(quick=False)[-1]
    half = setting.scaled(0.5)
    assert half.deals == round(setting.deals / 2)
    assert half.steps == round(setting.steps / 2)
    sizes = ("deals", "alone_deals", "duel_deals", "steps")
    assert dataclasses.replace(half, **{name: getattr(setting, name) for name in sizes}) == setting
    assert settings(quick=False)[0].scaled(0.001).alone_deals == 0, "a part that is not played stays so"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--scale", "0"], "scale must be above 0"),
        (["--workers", "-1"], "workers must be an integer from 0"),
        (["--out", __file__], "out must be a folder, and "),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_impossible_options_give_one_sentence_and_leave_nothing(
    arguments: list[str], words: str, refusal: Refusal
) -> None:
    assert words in refusal(module.main, arguments)
