"""What the advisor says: Monte Carlo's own values, and of what they cost only what a seat could know."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from llama_envs.core.batch import Batch, resampled
from llama_envs.core.registry import make_game
from llama_envs.policies import make_policy, make_view
from llama_envs.policies.network import probabilities
from llama_envs.web.advisor import Advisor, costs_by_kind
from llama_envs.web.table import Seat, Table
from tests.cases import GAMES
from tests.web.test_table import play


def at_a_choice(name: str, players: int = 3, seed: int = 0) -> Batch:
    batch = Batch(make_game(name, num_players=players), 1, seed)
    for _ in range(5):
        batch.step(batch.action_mask.argmax(axis=1))
    while batch.action_mask.sum() < 3:
        batch.step(batch.action_mask.argmax(axis=1))
    return batch


@pytest.mark.parametrize("name", GAMES)
def test_values_are_those_of_mc_and_intervals_those_of_the_textbook(name: str) -> None:
    batch = at_a_choice(name)
    advisor = Advisor(batch.game, seed=3)
    advice = advisor.advise(batch, 0, 200)
    search = make_policy("mc:200", batch.game)
    streams = np.array([advisor.seed], np.uint64)
    seats = batch.to_move.astype(np.int64)
    values = search.values(make_view(batch, np.array([0]), seats, streams, search))[0]
    assert [each.action for each in advice] == sorted(np.flatnonzero(batch.action_mask[0]), key=lambda a: -values[a])
    for each in advice:
        assert each.value.mean == pytest.approx(values[each.action], abs=1e-9)
    results = advisor.search.results(make_view(batch, np.array([0]), seats, streams, search), 200)[:, 0]
    best, second = advice[0].action, advice[1].action
    interval = stats.ttest_1samp(results[:, second], 0).confidence_interval(0.95)
    assert advice[1].value.half() == pytest.approx((interval.high - interval.low) / 2)
    paired = stats.ttest_rel(results[:, best], results[:, second]).confidence_interval(0.95)
    assert advice[1].loss.half() == pytest.approx((paired.high - paired.low) / 2)
    assert advice[0].loss.mean == 0


@pytest.mark.parametrize("name", GAMES)
def test_the_network_s_share_is_the_baseline_s_and_missing_where_none_ships(name: str) -> None:
    batch = at_a_choice(name)
    advice = Advisor(batch.game).advise(batch, 0, 5)
    network = make_policy("baseline", batch.game).network
    chances = probabilities(network(batch.observation, batch.action_mask), batch.action_mask)[0]
    assert [each.chance for each in advice] == pytest.approx([chances[each.action] for each in advice])
    assert sum(each.chance or 0 for each in advice) == pytest.approx(1)
    assert Advisor(make_game("lama", num_players=5)).network is None


@pytest.mark.parametrize("name", GAMES)
def test_advice_does_not_depend_on_what_the_seat_cannot_know(name: str) -> None:
    batch = at_a_choice(name)
    seats = batch.to_move.astype(np.int64)
    means = []
    for world in range(2):  # hidden cards differ; many worlds, so the same values but for luck
        twin = batch.clone()
        drawn = resampled(batch.game, batch.state.copy(), seats, np.array([world + 1], np.uint64), 1)[:, 0]
        twin.state[...] = drawn.view(twin.state.dtype)
        twin.refresh()
        advice = Advisor(batch.game, seed=world).advise(twin, 0, 1500)
        means.append({each.action: each.value for each in advice})
    assert means[0].keys() == means[1].keys()
    for action, value in means[0].items():
        other = means[1][action]
        assert abs(value.mean - other.mean) < 4.5 * np.hypot(value.error, other.error) + 1e-9


@pytest.mark.parametrize("name", GAMES)
def test_a_game_is_judged_decision_by_decision(name: str) -> None:
    game = make_game(name, num_players=2)
    table = Table(game, [Seat(None), Seat("heuristic")], seed=2)
    play(table)
    judged = list(Advisor(game).judge(table.record(), [0], 20))
    assert judged
    assert {each.seat for each in judged} == {0}
    numbers = [each.number for each in judged]
    assert numbers == sorted(set(numbers))
    for each in judged:
        assert each.action == game.action_names[table.actions[each.number]]
        assert each.loss.mean >= 0
        assert (each.loss.mean == 0) == (each.action == each.best) or each.loss.mean == 0
    kinds = costs_by_kind(judged)
    assert sum(count for count, _ in kinds.values()) == len(judged)
    assert sum(cost for _, cost in kinds.values()) == pytest.approx(sum(each.loss.mean for each in judged))
    allowed = {"goal", "1st pass", "2nd pass", "3rd pass", "4th pass"}, {"play", "draw", "quit", "chip"}
    assert any(set(kinds) <= names for names in allowed)
