"""The agents that ship: their files, what they say of themselves, and how well they play."""

from __future__ import annotations

import numpy as np
import pytest

from llama_envs.core.batch import Batch
from llama_envs.core.registry import make_game, spec_of
from llama_envs.evaluation import compare
from llama_envs.policies import Players, make_policy
from llama_envs.policies.network import load_policy, read_policy
from tests.cases import GAMES, cases_of, each_game, game_of, middle, view_of

PROMISED = [(name, players) for name in GAMES for players in cases_of(name).BASELINES]
every_baseline = pytest.mark.parametrize(("name", "players"), PROMISED)


def file_of(name, players):
    return spec_of(name).baselines / f"{name}_{players}p.npz"


@every_baseline
def test_every_promised_baseline_is_small_and_says_how_it_was_made(name, players):
    assert file_of(name, players).stat().st_size <= 2_000_000
    file = read_policy(file_of(name, players))
    file.check_fits(make_game(name, num_players=players))
    made = file.about["made"]
    assert made["minutes"] <= 30
    assert all(command.startswith("python -m experiments.") for command in made["commands"])
    assert {"python", "numpy", "numba", "torch", "stable-baselines3", "sb3-contrib"} <= set(made["versions"])
    assert {"heuristic", "random"} <= set(made["evaluation"]["against"])


@pytest.mark.parametrize("name", GAMES)
def test_nothing_else_ships(name):
    shipped = {path.stem for path in spec_of(name).baselines.glob("*.npz")}
    assert shipped == {f"{name}_{players}p" for players in cases_of(name).BASELINES}


@every_baseline
def test_baseline_beats_the_heuristic_in_every_seat_count(name, players):
    game, cases = make_game(name, num_players=players), cases_of(name)
    found = compare(game, ["baseline", *["heuristic"] * (players - 1)], cases.BASELINE_DEALS, 99)
    assert found.truncated == 0
    assert found.share[0] - found.interval[0] > 1 / players
    assert found.share[0] > cases.BASELINES[players]


@every_baseline
def test_baseline_is_the_policy_of_its_file(name, players):
    batch = middle((name, {"num_players": players}), 60)
    ours, theirs = make_policy("baseline", batch.game), load_policy(file_of(name, players), batch.game)
    assert np.array_equal(ours.act(view_of(batch, ours)), theirs.act(view_of(batch, theirs)))


@pytest.mark.parametrize("name", GAMES)
def test_without_a_baseline_for_the_players_one_sentence_lists_those_there_are(name):
    counts = cases_of(name).BASELINES
    for players in set(spec_of(name).players) - set(counts):
        with pytest.raises(
            ValueError, match=rf"^no baseline ships for {name}_v0 with {players} players; .*\.$"
        ) as refused:
            make_policy("baseline", make_game(name, num_players=players))
        assert all(f"{name}_{count}p" in str(refused.value) for count in counts)


@pytest.mark.parametrize("name", GAMES)
def test_a_baseline_is_refused_under_other_rules__N06(name):
    for field, options in [*cases_of(name).OTHER_RULES, ("target_score", {"target_score": 60})]:
        with pytest.raises(ValueError, match=rf"was made for {name}_v0 with {field} = ") as refused:
            make_policy("baseline", make_game(name, num_players=3, **options))
        assert len(str(refused.value).splitlines()) == 1
    make_policy("baseline", make_game(name, num_players=3, reward="rank"))


@each_game
def test_an_argument_is_refused(case):
    with pytest.raises(ValueError, match="takes no argument, got 'x'"):
        make_policy("baseline:x", game_of(case))


@pytest.mark.parametrize("name", GAMES)
def test_policies_play_on_what_they_know_where_a_history_of_events_is_added(name):
    def games(history):
        batch = Batch(make_game(name, num_players=3, history=history), 128, seed=3)
        policies = [make_policy(policy, batch.game) for policy in ("baseline", "heuristic", "mc:4")]
        Players(batch, policies, np.tile(np.arange(3), (128, 1)), seed=7).play()
        return batch.state["total"].copy()

    assert (games(0) == games(6)).all()
