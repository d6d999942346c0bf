"""experiments.passing: intervals that hold, passes measured by the clauses, forks that differ in one thing."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.lib.estimates import gap, over_deals, pooled, spread
from experiments.lib.report import folder_of, run
from experiments.lib.study import Study, policy_of, split_seed
from experiments.passing.__main__ import SUBJECT, Options, main
from experiments.passing.dummies import bits_about_the_next, care_by_neighbour, passes_received
from experiments.passing.goals import FORKS, worth_of_goal, worth_of_kinds
from experiments.passing.measure import PassLog
from experiments.passing.play import SWITCHES, GoalsSeen, Line, Seats, play_arm, play_round
from llama_envs.core.batch import Batch
from llama_envs.core.registry import make_game
from llama_envs.evaluation import play
from llama_envs.evaluation.intervals import Estimate, estimate
from llama_envs.evaluation.workers import workers
from llama_envs.llama_llama import SPEC
from llama_envs.policies import make_policy, register_policy
from llama_envs.policies.names import _REGISTERED
from tests.cases import CHECKOUT, Asked, choose_in
from tests.experiments.commands import Refusal, call, sentence
from tests.experiments.reports import check_report
from tests.llama_llama.test_heuristic import RuleOfThumb, positions

ROOT = Path(__file__).parents[2]
PLAYERS = (2, 3, 4)


# ----------------------------------------------------------------------------------------------------------- intervals


def test_games_of_one_deal_are_one_observation() -> None:
    values = np.random.default_rng(0).normal(size=(50, 1))
    assert over_deals(values).half() == pytest.approx(over_deals(np.repeat(values, 40, axis=1)).half())
    assert pooled(values).half() == pytest.approx(pooled(np.repeat(values, 40, axis=1)).half())


@pytest.mark.parametrize(
    ("found_from", "truth"),
    [
        (lambda part, whole, other: over_deals(part), 1.0),
        (lambda part, whole, other: estimate(part, whole), 0.5),
        (lambda part, whole, other: gap(part, whole, other, whole), 0.25),
        (lambda part, whole, other: spread(np.stack([part - whole / 2, part - whole / 2], axis=1)), 1.0),
    ],
    ids=["mean", "ratio", "difference of ratios", "standard deviation"],
)
def test_intervals_hold_the_truth_in_95_of_100_samples(found_from, truth: float) -> None:
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(1000):
        whole = rng.integers(0, 5, 150).astype(float)  # with deals that say nothing
        part = whole / 2 + rng.normal(size=150)
        found = found_from(part, whole, whole / 4 + 0.5 * part - whole / 4 + rng.normal(size=150))
        held += abs(found.mean - truth) <= found.half()
    assert 0.92 < held / 1000 < 0.975


def test_a_family_of_comparisons_of_nothing_rarely_claims_something() -> None:
    rng = np.random.default_rng(2)
    wrong = 0
    for _ in range(400):
        wrong += any(over_deals(rng.normal(size=60)).side(0.0, 20) for _ in range(20))
    assert wrong / 400 < 0.09  # 0.05, and chance


def test_a_few_agreeing_deals_decide_nothing() -> None:
    assert over_deals([1.0, 1.0, 1.0]).side(0.0) == 0
    assert over_deals(np.ones(50)).side(0.0) == 1
    assert Estimate(1.0, float("nan"), 1).side(0.0) == 0


def build_stubborn(game, argument: str):
    """A policy that worker processes know only if they are told."""
    return make_policy(f"heuristic:{argument}", game)


def test_a_number_without_an_interval_says_so_and_is_never_nan__N09() -> None:
    assert over_deals([1.0]).text(2) == "1.00 (one deal, no interval)"
    assert over_deals([np.nan]).text() == "–"
    assert gap([1.0, 2.0], [0.0, 0.0], [1.0, 1.0], [1.0, 1.0]).text() == "–"
    assert over_deals([2.0, 2.0]).text(2) == "always 2.00"
    assert over_deals([0.25] * 50, share=True).text(3) == "0.250 ± 0.058"  # 1 - 0.05 ** (1 / 50)
    wide, narrow = (over_deals([1.0] * 50, share=True).half(m) for m in (20, 1))
    assert wide > narrow > 0


def test_numbers_do_not_depend_on_who_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llama_envs.policies.names._REGISTERED", dict(_REGISTERED))
    register_policy("stubborn", build_stubborn, "stubborn:CARE")
    study = Study(SUBJECT, small(None), {})
    arm = {"arm": (make_game("llama_llama", num_players=3), "stubborn:0.5", "random", 4, True, "")}
    here = study.run(play_arm, arm, 0.6, "")["arm"]
    with workers(2) as study.map:
        there = study.run(play_arm, arm, 0.6, "", deals={"arm": 24})["arm"]  # ten at once
    for name in here:
        np.testing.assert_array_equal(here[name], there[name])


# -------------------------------------------------------------------------------------------------------------- playing


class Switched(RuleOfThumb):
    """The rule of thumb, spelled out, with parts of it switched off."""

    def __init__(self, game, state, seat, name: str) -> None:
        super().__init__(game, state, seat, 0.0 if name in ("careless", "now") else 0.3)
        self.now, self.unminded = name == "now", name == "own_unminded" and self.phase > 0

    def expected(self, own_goal: int) -> list[float]:
        if self.now:
            return [
                float(([own_goal, *self.shown] if own_goal not in self.shown else self.shown).count(kind))
                for kind in self.kinds
            ]
        if not self.unminded:
            return super().expected(own_goal)
        unseen = [max(self.deck[kind] - self.hand[kind] - self.shown.count(kind), 0) for kind in self.kinds]
        average = (4 - len(self.shown)) / sum(unseen)
        return [self.shown.count(kind) + average * unseen[kind] for kind in self.kinds]


@pytest.mark.parametrize("name", SWITCHES)
@pytest.mark.parametrize("players", PLAYERS)
def test_switches_turn_off_one_thing_each(players: int, name: str) -> None:
    differ = 0
    for step, (batch, seats) in enumerate(positions({"num_players": players}, 12, 3)):
        policy, whole = make_policy(f"switched:{name}", batch.game), make_policy("heuristic", batch.game)
        actions = choose_in(policy, batch.game, batch.state, seats)
        differ += (actions != choose_in(whole, batch.game, batch.state, seats)).sum()
        for i in range(step % 6, 12, 6):
            assert actions[i] == Switched(batch.game, batch.state[i], int(seats[i]), name).choose(), (step, i)
    assert (differ == 0) == (name == "whole")


@pytest.mark.parametrize("one", ["heuristic", "switched:own_unminded", "switched:now"])
def test_policies_shown_the_true_state_play_as_those_shown_a_resampled_one(one: str) -> None:
    game = make_game("llama_llama", num_players=3)
    here = play_arm(game, one, "heuristic:0", 4, False, "", split_seed(7, 40))
    policies = [make_policy(name, game) for name in (one, "heuristic:0", "heuristic:0")]
    for entrants in (policies, [Asked(policy) for policy in policies]):
        there = play(game, entrants, 40, 7, orders=[(0, 1, 2)])
        np.testing.assert_array_equal(here["win"], there.win[:, :, 0])  # in rotation r the first entrant sits at seat r


def test_a_goal_chosen_by_another_policy_changes_the_goal_alone() -> None:
    game = make_game("llama_llama", num_players=2)
    seeds = split_seed(0, 60)
    same = play_arm(game, "heuristic", "heuristic", 4, False, "heuristic", seeds)
    assert (same["win"] == 0.5).all() or np.allclose(same["win"].mean(axis=1), 0.5)
    other = play_arm(game, "heuristic", "heuristic", 4, False, "random", seeds)
    assert other["lead"].mean() < -0.5


def test_games_that_are_not_played_to_their_end_have_no_winner() -> None:
    game = make_game("llama_llama", num_players=2, target_score=30)  # some are over after one round
    assert np.isnan(play_arm(game, "heuristic", "random", 1, False, "", split_seed(0, 40))["win"]).all()


# ------------------------------------------------------------------------------------------------------ what is passed


def points(deck, kind: int, letters) -> int:
    """Points of a goal by the clauses (P14, P15), from the deck's data."""
    return sum(
        int(value) * min(letters[k] // int(n) for k, n in enumerate(need) if n)
        for need, value in zip(deck.need[kind], deck.points[kind], strict=True)
        if value
    )


@pytest.mark.parametrize("players", PLAYERS)
def test_a_pass_is_measured_as_by_hand(players: int) -> None:
    game = make_game("llama_llama", num_players=players)
    deck = game.config.cards
    batch = Batch(game, 20, 9)
    log = PassLog(game, 20, np.arange(20) % players)
    seen: list = []

    def watch(before, rows, picks):
        seen.append((before.copy(), rows.copy(), picks.copy()))
        log(before, rows, picks)

    zeros = np.zeros((20, players), np.int64)
    seats = Seats([policy_of("random", game)], zeros, zeros, np.ones((20, players), np.uint64) << np.uint64(35))
    play_round(batch, seats)  # so that the totals say where goals lie
    play_round(batch, seats, watch)
    assert [picks.shape[2] for _, _, picks in seen] == [4, 3, 2, 1]
    expected = {name: np.zeros_like(values) for name, values in log.sums.items()}
    for number, (before, rows, picks) in enumerate(seen):
        for i, row in enumerate(rows):
            seat, state = row % players, before[i]
            hand = [int(deck.letters[kind]) for kind in range(deck.num_kinds) for _ in range(state["hand"][seat, kind])]
            assert len(hand) == 7
            kinds = [int(state["goal"][state["owner"][display]]) for display in range(number + 1)]
            may_be_own = [(int(state["may_own"][display]) >> seat) & 1 for display in range(number + 1)]
            own = int(state["goal"][seat])
            if not any(kind == own and may for kind, may in zip(kinds, may_be_own, strict=True)):
                kinds.append(own)

            def pays(cards, kinds=kinds):
                return sum(points(deck, kind, [cards.count(letter) for letter in range(7)]) for kind in kinds)

            gone = [int(deck.letters[kind]) for kind in picks[i, seat]]
            kept = list(hand)
            for letter in gone:
                kept.remove(letter)
            best = max(pays([hand[j] for j in stay]) for stay in combinations(range(7), len(kept)))
            for letter in range(7):
                expected["held"][row, number, letter] = hand.count(letter)
                expected["passed"][row, number, letter] = gone.count(letter)
                less = list(hand)
                if letter in less:
                    less.remove(letter)
                    if pays(less) < pays(hand):
                        expected["paid"][row, number] += [hand.count(letter), gone.count(letter)]
            expected["best"][row, number] = best
            expected["given_up"][row, number] = best - pays(kept)
            expected["greedy"][row, number] = best == pays(kept)
            expected["passes"][row, number] = 1
    for name, values in expected.items():
        np.testing.assert_array_equal(log.sums[name], values, err_msg=name)


def test_who_keeps_what_scores_now_gives_up_nothing_and_who_passes_at_random_does() -> None:
    game = make_game("llama_llama", num_players=4)
    now = play_arm(game, "switched:now", "random", 1, True, "", split_seed(0, 30))
    assert now["given_up"].sum() == 0
    assert (now["passes"] == 4).all()  # four seats
    assert (now["passed"].sum(axis=2) == 4 * np.array([4, 3, 2, 1])).all()
    assert play_arm(game, "random", "random", 1, True, "", split_seed(0, 30))["given_up"].sum() > 0


# ------------------------------------------------------------------------------------------------------------- own goal


@pytest.mark.parametrize("players", PLAYERS)
def test_a_fork_without_a_change_is_the_round_that_is_played(players: int) -> None:
    game = make_game("llama_llama", num_players=players)
    line = Line.start(game, "random", ("heuristic",), split_seed(2, 30))
    for _ in range(2):
        before = line.batch.state.copy()
        seat = np.arange(30) % players
        lead = line.fork(seat)[1]
        changed = line.fork(seat, passing=1)[1]
        np.testing.assert_array_equal(line.batch.state, before)
        line.advance()
        score = line.batch.state["round_score"].astype(float)
        others = (score.sum(axis=1) - score[np.arange(30), seat]) / (players - 1)
        played = ~np.isnan(lead)
        np.testing.assert_array_equal(played, before["to_move"] >= 0)
        np.testing.assert_allclose(lead[played], (score[np.arange(30), seat] - others)[played])
        assert (lead != changed).any()


@pytest.mark.parametrize("players", PLAYERS)
def test_in_later_rounds_the_leaders_goal_is_on_the_first_display__P7(players: int) -> None:
    game = make_game("llama_llama", num_players=players)
    line = Line.start(game, "random", (), split_seed(4, 200))
    line.advance()
    total = line.batch.state["total"].copy()
    alive = np.asarray(line.batch.to_move >= 0)
    goals = GoalsSeen(200, players)
    line.fork(np.zeros(200, np.int64), watch=goals)
    order = np.sort(total, axis=1)
    clear = alive & (np.diff(order, axis=1) > 0).all(axis=1)
    assert clear.sum() > 50
    place = (total[:, None, :] > total[:, :, None]).sum(axis=2)
    np.testing.assert_array_equal(goals.display[clear], place[clear])
    assert (goals.display[~alive] == -1).all()


def test_knowing_a_goal_that_is_revealed_at_once_is_worth_nothing() -> None:
    game = make_game("llama_llama", num_players=4)
    result = worth_of_goal(game, "switched:whole", 2, FORKS, split_seed(5, 60))
    first, last = result["display"] == 0, result["display"] == 3
    assert (result["unminded"][first] == 0).all()
    assert (result["unminded"][last] != 0).any()
    assert set(np.unique(result["display"][:, 0])) == {0, 1, 2, 3}


def test_a_kind_is_compared_with_the_other_kinds_of_the_same_hand() -> None:
    game = make_game("llama_llama", num_players=2)
    result = worth_of_kinds(game, "heuristic", 2, split_seed(6, 30))
    np.testing.assert_allclose(result["gain"].sum(axis=2), 0, atol=1e-9)  # the gains of a hand add up to nothing
    assert (result["given"] <= result["held"]).all()
    assert (result["given"][:, 0].sum(axis=1) == 1).all()
    dealt = Batch(game, 30, split_seed(6, 30)).state["hand"][np.arange(30), np.arange(30) % 2, : game.num_actions] > 0
    np.testing.assert_array_equal(result["held"][:, 0], dealt)


# -------------------------------------------------------------------------------------------------------------- dummies


def test_cards_received_come_from_the_right_and_are_valued_by_all_four_goals__P9_P13() -> None:
    game = make_game("llama_llama", num_players=4, num_rounds=1)
    result = passes_received(game, "random", split_seed(8, 25))
    assert (result["back"] == np.array([4, 3, 2, 1])).all()
    assert not result["from_dummy"].any()
    two = passes_received(make_game("llama_llama", num_players=2, num_rounds=1), "random", split_seed(8, 25))
    assert two["from_dummy"].all()
    assert (two["back"].mean(axis=(0, 1)) < np.array([4, 3, 2, 1])).all()
    three = passes_received(make_game("llama_llama", num_players=3, num_rounds=1), "random", split_seed(8, 25))
    assert (three["to_dummy"].sum(axis=1) == 1).all()
    np.testing.assert_array_equal(three["from_dummy"], np.roll(three["to_dummy"], 1, axis=1))
    # with one card passed in the last pass, the final hand is what was kept and got: the gains end in the score
    assert (result["gain"][:, :, 3] <= result["points"]).all()


def test_who_passes_its_whole_hand_knows_the_next_players_and_not_a_dummys() -> None:
    whole = {"pass_counts": (7, 1, 1, 1)}
    bits = bits_about_the_next(make_game("llama_llama", num_players=4, **whole), "random", 32, split_seed(0, 6))
    assert (bits["bits"][:, :, 0] > 5).all()
    np.testing.assert_allclose(bits["bits"][:, :, 1], 0, atol=1e-12)
    into = bits_about_the_next(make_game("llama_llama", num_players=2, **whole), "random", 32, split_seed(0, 6))
    assert into["to_dummy"].all()
    assert (into["bits"][:, :, 1] > 1).all()


def test_no_more_care_changes_nothing() -> None:
    game = make_game("llama_llama", num_players=3)
    nothing = care_by_neighbour(game, 0.0, split_seed(0, 20))
    assert all((nothing[name] == 0).all() for name in ("own", "next", "lead"))
    assert (nothing["to_dummy"].sum(axis=1) == 1).all()
    assert (care_by_neighbour(game, 2.0, split_seed(0, 20))["next"] != 0).any()


# --------------------------------------------------------------------------------------------------------------- report


def small(out: Path | None, **changes) -> Options:
    return Options(
        **{"deals": 40, "search": "mc:1", "search_deals": 2, "decks": 2, "workers": 1, "out": out}
        | {"num_players": (2, 3), **changes}
    )


def test_the_report_is_whole_and_the_same_in_every_run(tmp_path: Path, every_verdict: set[str]) -> None:
    run(SUBJECT, small(tmp_path / "a"))
    assert set(SUBJECT.findings.sentences) - every_verdict == {"report.untrained"}
    run(SUBJECT, small(tmp_path / "b", only=("passes", "dummies")))  # the parts that draw most
    text = check_report(tmp_path / "a")
    assert text.count("**Question.**") == len(SUBJECT.parts)
    assert len(list((tmp_path / "a").glob("*.csv"))) > 8
    again = sorted(path.name for path in (tmp_path / "b").glob("*.csv"))
    assert len(again) == 5
    for name in again:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    care = pd.read_csv(tmp_path / "a" / "care.csv")
    assert (care["win_share_95_family"] > care["win_share_95"]).all()


def test_without_a_trained_agent_the_report_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vars(SPEC), "baselines", tmp_path / "none")
    run(SUBJECT, small(tmp_path / "out", only=("passes",), deals=20, num_players=(3,)))
    assert "No trained agent ships for 3 players" in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "baseline" not in set(pd.read_csv(tmp_path / "out" / "passes.csv")["policy"])


OWN_DECK = """
name = "three-letters"
[[card]]
letter = "A"
copies = 16
rules = [{ A = 2 }, { AA = 3 }]
provenance = "assumed"
[[card]]
letter = "B"
copies = 8
rules = [{ B = 1 }, { AB = 9 }]
provenance = "assumed"
[[card]]
letter = "C"
copies = 8
rules = [{ C = 3 }, { BC = 4 }]
provenance = "assumed"
"""


def test_a_study_of_ones_own_deck_rules_and_policy_names_them_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.toml").write_text(OWN_DECK, encoding="utf-8")
    Path("mine.py").write_text("from llama_envs.policies import RandomPolicy as Mine\n", encoding="utf-8")
    asked = "--deck own.toml --pass-counts 3 3 2 2 --num-rounds 2"
    arguments = f"--num-players 3 --policies mine.py:Mine --deals 20 --search mc:1 --search-deals 2 {asked}".split()
    parts = ["passes", "goal", "kinds", "dummies"]  # what is said of letters, kinds, passes and rounds
    main([*arguments, "--workers", "1", "--out", "here", "--only", *parts])
    assert capsys.readouterr().out == "report: here/report.md\n"
    text = check_report(Path("here"))
    assert "The deck is `three-letters`, 32 cards (SHA-256 " in text
    assert "`pass_counts = 3 3 2 2`" in text
    assert "`num_rounds = 2`" in text
    assert "`mine.py:Mine` (mine.py:Mine: SHA-256 " in text
    assert "reconstructed" not in text
    assert not re.search(r"\b[DEFG]\b|ABCDEFG|4-3-2-1|4 cards", text)
    (line,) = re.findall(r"Reproduce: `(.* --only passes .*)`", text)
    again = line.removeprefix("python -m experiments.passing_study ").split()
    main([*again, "--out", "again", "--workers", "1"])
    for name in ("passes.csv", "letters.csv"):
        assert Path("here", name).read_bytes() == Path("again", name).read_bytes()
    assert "policy mine.py:Mine" in set(re.findall(r"\| 3 \| (policy [^ ]*) \|", text))


def test_only_the_published_questions_replace_the_published_report(tmp_path: Path) -> None:
    assert folder_of(Study(SUBJECT, Options(workers=1), {})) == CHECKOUT / "experiments" / "reports" / "passing"
    for changed in ({"quick": True}, {"only": ("care",)}, {"seed": 1}, {"deals": 20}, {"policies": ("random",)}):
        assert folder_of(Study(SUBJECT, Options(**changed), {})).parts[0] == "runs"
    assert folder_of(Study(SUBJECT, Options(), {"target_score": 50})).parts[0] == "runs"
    assert folder_of(Study(SUBJECT, Options(out=tmp_path, quick=True), {})) == tmp_path


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--only", "luck"], "only must name parts of passes, care, goal, kinds, dummies, decks, got 'luck'."),
        (["--num-players", "--quick"], "--num-players must have one value or more."),
        (["--num-players", "3", "3"], "num_players must be one or more different ones of 2, 3, 4, got 3 3."),
        (["--num-players", "5"], "num_players must be one or more different ones of 2, 3, 4, got 5."),
        (["--deals", "1"], "deals must be an integer from 20 to 10000000, got 1."),
        (["--decks", "1"], "decks must be an integer from 2 to 10000, got 1."),
        (["--seed", "-1"], "seed must be an integer in [0, 2**64), got -1."),
        (["--workers", "-1"], "workers must be an integer from 0 to 1024, got -1."),
        (["--address", "here:1"], "address is for --ray"),
        (["--search", "nobody"], "unknown policy 'nobody'"),
        (["--policies", "nobody"], "unknown policy 'nobody'"),
        (["--deck", "nothing.toml"], "nothing.toml: no such deck file."),
        (["--pass-counts", "9", "1", "1", "1"], "pass_counts must be 4 integers from 1 to 7"),
        (["--deck", "own.toml", "--hand-size", "5"], "only passes care goal kinds dummies can."),
        (["--processes", "2"], "--processes is called --workers now."),
        (["--players", "2"], "--players is called --num-players now."),
        (["--out", "README.md"], "out must be a folder, and README.md is none."),
        (["--out", "README.md/here"], "README.md is none."),
    ],
)
def test_a_mistake_is_one_sentence_and_leaves_nothing(
    arguments: list[str], words: str, refusal: Refusal, tmp_path: Path
) -> None:
    (tmp_path / "README.md").write_text("kept", encoding="utf-8")
    (tmp_path / "own.toml").write_text(OWN_DECK, encoding="utf-8")
    assert words in refusal(main, arguments)


def test_a_policy_that_fails_is_one_sentence(refusal: Refusal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "mine.py").write_text(
        "class Broken:\n    needs_worlds = 0\n\n    def act(self, view):\n        raise RuntimeError('no idea')\n",
        encoding="utf-8",
    )
    few = ["--only", "kinds", "--num-players", "2", "--deals", "20", "--workers", "1"]
    assert "RuntimeError: no idea" in refusal(main, ["--policies", "mine.py:Broken", *few])


def test_an_interrupted_study_reports_what_it_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(study):
        raise KeyboardInterrupt

    parts = {"goal": SUBJECT.parts["goal"], "kinds": interrupted, "care": interrupted}
    monkeypatch.setattr("experiments.passing.__main__.SUBJECT", dataclasses.replace(SUBJECT, parts=parts))
    arguments = ["--deals", "20", "--num-players", "2", "--decks", "2", "--workers", "1"]
    assert call(main, arguments, tmp_path, monkeypatch) == 130
    (folder,) = Path("runs").iterdir()
    kept = f"what was found is in {folder / 'report.md'}, and --only kinds care makes the rest"
    assert sentence(capsys.readouterr().err) == f"stopped; {kept}."
    assert "## One's own goal" in check_report(folder)


@pytest.mark.parametrize("module", ["passing_study", "quitting_study"])
def test_the_commands_are_there(module: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", f"experiments.{module}", "--only", "luck"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: only must name parts of ")
    assert len(done.stderr.strip().splitlines()) == 1
