"""The Stable-Baselines3 VecEnv (known faults B04, B05, B06, B08, B15, B16, B19, B22, B25, B26, B28, B36)."""

from __future__ import annotations

import ast
import copy
import math
import pickle
from collections import Counter
from itertools import pairwise

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from scipy import stats
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

from llama_envs.adapters.sb3 import SB3VecEnv
from llama_envs.core.batch import policy_streams
from llama_envs.core.chance import sample_legal
from llama_envs.core.errors import IllegalAction
from llama_envs.core.registry import make_game, spec_of
from llama_envs.policies import RandomPolicy, ScriptedPolicy
from tests.cases import (
    CASES,
    CHECKOUT,
    GAMES,
    TRUNCATING_CASES,
    Asked,
    Diary,
    api,
    cases_of,
    each_game,
    each_truncating,
    every_case,
    everything,
    fields,
    game_of,
    new_batch,
)

MIXED = {"random": 2.0, "heuristic": 1.0}
SIMULTANEOUS = [name for name in GAMES if make_game(name).simultaneous]
# configurations in which seats are often paid something before they had a turn
EARLY = [(name, cases_of(name).PAID_EARLY) for name in GAMES if hasattr(cases_of(name), "PAID_EARLY")]


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def make(case, num_envs=8, opponents="random", **more):
    return SB3VecEnv(case[0], num_envs, opponents, **more, **case[1])


def choose(masks, streams):
    actions = np.empty(len(masks), np.int64)
    sample_legal(masks, streams, actions)
    return actions


class Transitions:
    """What a learner that acts at random went through, env by env: (observation, action, reward, done, info).

    It takes ``steps`` steps, or as many as give ``episodes`` in all, or ``each`` in every env.
    """

    def __init__(self, env, steps, streams, episodes=0, each=0):
        self.of = [[] for _ in range(env.num_envs)]
        self.ended = np.zeros(env.num_envs, np.int64)
        self.steps = 0
        seen = env.reset()
        while self.steps < steps or self.ended.sum() < episodes or self.ended.min() < each:
            self.steps += 1
            masks = get_action_masks(env)
            assert masks.any(axis=1).all()
            actions = choose(masks, streams)
            after, rewards, dones, infos = env.step(actions)
            for i in range(env.num_envs):
                self.of[i].append((seen[i].tobytes(), int(actions[i]), rewards[i].item(), bool(dones[i]), infos[i]))
            seen = after
            self.ended += dones

    def row(self, i):
        """Everything of env i that can be compared."""
        return [(seen, action, reward, done, plain(info)) for seen, action, reward, done, info in self.of[i]]


def contents(env, masks):
    """Everything a refused step must leave as it is."""
    streams = env.games._players.streams
    return everything(env.games.batch), env.games.seat.tobytes(), streams.tobytes(), masks.tobytes()


def plain(info):
    return {key: value.tobytes() if isinstance(value, np.ndarray) else value for key, value in info.items()}


def replayed(raw, seat, actions):
    """One noted episode played again in the AEC env ``raw``, after its reset: the learner's transitions in it.

    Each is [observation, action, reward until its next turn], the first with what was paid before; then that sum, and
    the end: (observation, truncated, by own move).
    """
    agent, transitions, early = f"player_{seat}", [], 0.0
    for action in actions:
        mover = raw.agent_selection
        if mover == agent:
            before = 0.0 if transitions else early
            transitions.append([raw.observe(agent)["observation"].tobytes(), action, before])
        raw.step(action)
        if transitions:
            transitions[-1][2] += raw.rewards[agent]
        else:
            early += raw.rewards[agent]
    assert all(raw.terminations.values()) or all(raw.truncations.values())
    return (
        transitions,
        early,
        (raw.observe(agent)["observation"].tobytes(), all(raw.truncations.values()), mover == agent),
    )


# ------------------------------------------------------------------------------------- random opponents in one kernel


@pytest.mark.parametrize("case", [*CASES, *TRUNCATING_CASES])
def test_random_opponents_in_one_kernel_play_as_those_that_are_asked_move_by_move(case):
    """Observations, rewards, ends, infos, masks and all streams, with a learner in any seat, reseeding and resets."""
    fast, slow = make(case, 40, seed=5), make(case, 40, Asked(RandomPolicy()), seed=5)
    assert (fast.reset() == slow.reset()).all()
    streams = policy_streams(40, 6)
    ended = 0
    for step in range(400):
        masks = get_action_masks(fast)
        assert (masks == get_action_masks(slow)).all()
        actions = choose(masks, streams)
        ours, theirs = fast.step(actions), slow.step(actions)
        assert [array.tobytes() for array in ours[:3]] == [array.tobytes() for array in theirs[:3]]
        ended += int(ours[2].sum())
        for our, their in zip(ours[3], theirs[3], strict=True):
            assert our.keys() == their.keys()
            if our:
                assert (our["terminal_observation"] == their["terminal_observation"]).all()
                assert our["TimeLimit.truncated"] == their["TimeLimit.truncated"]
        assert everything(fast.games.batch) == everything(slow.games.batch)
        assert (fast.games._players.streams == slow.games._players.streams).all()
        assert (fast.games._early == slow.games._early).all()
        if step == 200:
            for env in (fast, slow):
                env.seed(9)
            assert (fast.reset() == slow.reset()).all()
    assert ended > 40


@each_game
@pytest.mark.parametrize("opponents", ["random", "heuristic", ["random", "heuristic"], MIXED], ids=str)
def test_opponents_that_are_kernels_are_never_asked(case, opponents, monkeypatch):
    def asked(self, view):
        raise AssertionError("asked")

    for kind in (RandomPolicy, ScriptedPolicy):
        monkeypatch.setattr(kind, "act", asked)
    env = make(case, 8, opponents, seed=1)
    Transitions(env, 0, policy_streams(8, 1), episodes=3)


@each_game
def test_a_random_policy_of_the_users_own_is_asked(case):
    spy = Spy()
    env = make(case, 8, spy, seed=1)
    env.reset()
    env.step(choose(get_action_masks(env), policy_streams(8, 1)))
    assert sum(len(view) for view in spy.views) >= 8


# --------------------------------------------------------------------------------------------------- K3: whose reward


def compare_with_replays(case, opponents):
    """500 episodes and more of an env against independent replays of all seats' actions in the AEC env.

    Every deal, observation, reward, end and last observation. Returns how often each seat was the learner's, how often
    its own move ended a game or not, and how often it was paid something before its first decision.
    """
    env = make(case, 64, opponents, seed=100)
    diary = Diary(env.games)
    transitions = Transitions(env, 0, policy_streams(64, 7), episodes=500)
    raw, seats, ended_by, paid_early = api(case).raw_env(**case[1]), Counter(), Counter(), 0
    for i in range(64):
        raw.reset(seed=100 + i)
        learners = iter(transitions.of[i])
        for seat, actions in diary.games[i]:
            expected, early, (last, truncated, own) = replayed(raw, seat, actions)
            raw.reset()
            for k, (seen, action, reward) in enumerate(expected):
                got = next(learners)
                assert got[:2] == (seen, action)
                assert got[2] == pytest.approx(reward, abs=1e-6)
                assert got[3] == (k == len(expected) - 1)
                if got[3]:
                    assert got[4]["terminal_observation"].tobytes() == last
                    assert got[4]["TimeLimit.truncated"] == truncated
                else:
                    assert got[4] == {}
            if expected:
                seats[seat] += 1
                ended_by[own] += 1
                paid_early += early != 0
    assert sum(seats.values()) >= 500
    return seats, ended_by, paid_early


@every_case
@pytest.mark.parametrize("opponents", ["random", MIXED], ids=["random", "mixed"])
def test_1000_games_are_those_of_the_aec_env_and_pay_the_learners_seat_on_its_own_transition__B08_B15(case, opponents):
    """500 with each kind of opponents, in every configuration."""
    seats, ended_by, _ = compare_with_replays(case, opponents)
    assert len(seats) == env_players(case)
    assert ended_by[True] > 10  # the learner's own move ended the game
    assert ended_by[False] > 10  # an opponent's did, inside the learner's step


@pytest.mark.parametrize("case", EARLY)
def test_what_a_seat_is_paid_before_its_first_decision_comes_with_its_first_reward__B09(case):
    assert compare_with_replays(case, "heuristic")[2] > 100


@every_case
def test_each_fixed_seat_is_paid_its_own_payoff__B08(case):
    for seat in range(env_players(case)):
        env = make(case, 16, learner_seat=seat, seed=3)
        diary = Diary(env.games)
        transitions = Transitions(env, 0, policy_streams(16, 7), each=1)
        raw = api(case).raw_env(**case[1])
        for i in range(16):
            raw.reset(seed=3 + i)
            returns, running = [], 0.0
            for _, _, reward, done, _ in transitions.of[i]:
                running += reward
                if done:
                    returns.append(running)
                    running = 0.0
            payoffs = []
            for noted, actions in diary.games[i]:
                assert noted == seat
                paid, acted = 0.0, False
                for action in actions:
                    acted |= raw.agent_selection == f"player_{seat}"
                    raw.step(action)
                    paid += raw.rewards[f"player_{seat}"]
                payoffs += [paid] if acted else []
                raw.reset()
            assert returns == pytest.approx(payoffs[: len(returns)], abs=1e-6)
            assert len(payoffs) - len(returns) <= 1  # the last game may have ended in its opponents' opening moves


def env_players(case):
    return new_batch(case, 1, 0).game.num_players


# ---------------------------------------------------------------------------------------------------- K5: flags (B16)


@each_truncating
def test_an_episode_cut_by_its_limit_says_so_and_has_its_last_observation__B16(case):
    env = make(case, 32, seed=1)
    flags = Counter()
    for row in Transitions(env, 0, policy_streams(32, 1), episodes=100).of:
        for *_, done, info in row:
            assert ("terminal_observation" in info) == ("TimeLimit.truncated" in info) == done
            if done:
                assert env.observation_space.contains(info["terminal_observation"])
                assert type(info["TimeLimit.truncated"]) is bool
                flags[info["TimeLimit.truncated"]] += 1
    assert flags[True] > 20


@every_case
def test_a_natural_end_is_not_called_a_time_limit__B16(case):
    if case[1].get("max_rounds"):
        case = case[0], {key: value for key, value in case[1].items() if key != "max_rounds"}
    flags = Counter(
        info["TimeLimit.truncated"]
        for row in Transitions(make(case, 16, seed=1), 0, policy_streams(16, 1), episodes=30).of
        for *_, done, info in row
        if done
    )
    assert set(flags) == {False}


# ------------------------------------------------------------------------------------------- K6: seeds and rows (B19)


@every_case
@pytest.mark.parametrize("opponents", ["random", MIXED], ids=["random", "mixed"])
def test_env_depends_on_its_own_seed_and_actions_alone_through_three_episodes__B19(case, opponents):
    seeds = [11, 12, 13, 14]
    first = Transitions(make(case, 4, opponents, seed=seeds), 0, policy_streams(4, seeds), each=3)
    four = [first.row(i) for i in range(4)]

    def rows(seeds):
        env = make(case, len(seeds), opponents, seed=seeds)
        transitions = Transitions(env, first.steps, policy_streams(len(seeds), seeds))
        return [transitions.row(i) for i in range(len(seeds))]

    for i, seed in enumerate(seeds):
        assert rows([seed]) == [four[i]]
    eight = rows([14, 12, 11, 13, 99, 98, 97, 96])
    for place, i in enumerate((3, 1, 0, 2)):
        assert eight[place] == four[i]


@every_case
def test_other_actions_in_env_0_leave_the_others_as_they_were__B19(case):
    streams, other = policy_streams(5, 1), policy_streams(5, 1)
    other[0] = policy_streams(1, 99)[0]
    first = Transitions(make(case, 5, MIXED, seed=3), 60, streams)
    second = Transitions(make(case, 5, MIXED, seed=3), 60, other)
    assert first.row(0) != second.row(0)
    assert [first.row(i) for i in range(1, 5)] == [second.row(i) for i in range(1, 5)]


@every_case
def test_an_int_seed_is_seed_plus_i_for_env_i(case):
    by_int = Transitions(make(case, 3, seed=20), 40, policy_streams(3, 1))
    by_list = Transitions(make(case, 3, seed=[20, 21, 22]), 40, policy_streams(3, 1))
    env = make(case, 3, seed=7)
    assert list(env.seed(20)) == [20, 21, 22]
    by_call = Transitions(env, 40, policy_streams(3, 1))
    assert [by_int.row(i) for i in range(3)] == [by_list.row(i) for i in range(3)] == [by_call.row(i) for i in range(3)]
    env = make(case, 3, seed=7)
    assert list(env.seed(np.array([20, 21, 22], np.uint64))) == [20, 21, 22]
    by_array = Transitions(env, 40, policy_streams(3, 1))
    assert [by_array.row(i) for i in range(3)] == [by_list.row(i) for i in range(3)]


@every_case
def test_deal_of_a_seed_is_that_of_the_aec_env_and_the_batch__B19(case):
    env = make(case, 4, seed=50)
    raw = api(case).raw_env(**case[1])
    for i in range(4):
        raw.reset(seed=50 + i)
        assert fields(raw._batch.state) == fields(env.games.batch.state[i : i + 1])
        assert fields(new_batch(case, 1, 50 + i).state) == fields(env.games.batch.state[i : i + 1])


@every_case
def test_reset_goes_to_the_next_deal_and_a_seed_goes_back__B18(case):
    env = make(case, 4, seed=5)
    first = env.reset().tobytes()
    second = env.reset().tobytes()
    env.seed(5)
    assert env.reset().tobytes() == first != second
    assert env.reset().tobytes() == second


@every_case
def test_envs_without_a_seed_are_different_games(case):
    assert make(case, 8).reset().tobytes() != make(case, 8).reset().tobytes()
    env = make(case, 8)
    env.seed(None)
    first = env.reset().tobytes()
    env.seed(None)
    assert env.reset().tobytes() != first


@every_case
def test_global_generators_are_neither_used_nor_touched__B18(case):
    expected = Transitions(make(case, 3, MIXED, seed=4), 30, policy_streams(3, 1)).row(0)
    np.random.seed(0)
    torch.manual_seed(0)
    before = np.random.get_state()[1].tobytes(), torch.get_rng_state().numpy().tobytes()
    assert Transitions(make(case, 3, MIXED, seed=4), 30, policy_streams(3, 1)).row(0) == expected
    Transitions(make(case, 3, MIXED), 5, policy_streams(3, 1))
    assert (np.random.get_state()[1].tobytes(), torch.get_rng_state().numpy().tobytes()) == before


@each_game
@pytest.mark.parametrize("seed", [[1, 2], [1, 2, 3, 4], -1, 1.5, "1", True, 2**64, [1, 2, "x"]], ids=repr)
def test_wrong_seeds_are_refused__B19(case, seed):
    with pytest.raises(ValueError, match=r"^seed"):
        make(case, 3, seed=seed)


# ------------------------------------------------------------------------------------------------ K2: masks (B04-B06)


@every_case
def test_masks_are_the_legal_sets_row_by_row_and_reachable_as_sb3_contrib_asks__B36(case):
    env = make(case, 64, seed=1)
    env.reset()
    streams = policy_streams(64, 1)
    assert is_masking_supported(env)
    sizes = set()
    for _ in range(20):
        masks = get_action_masks(env)
        assert masks.shape == (64, env.action_space.n)
        assert masks.dtype == np.bool_
        assert (masks == env.games.batch.mask(env.games.seat)).all()
        assert masks.any(axis=1).all()
        sizes |= set(masks.sum(axis=1).tolist())
        assert (np.stack(env.env_method("action_masks", indices=[2])) == masks[[2]]).all()
        assert (np.stack(env.env_method("action_masks", indices=[5, 2])) == masks[[5, 2]]).all()
        assert (np.stack(env.env_method("action_masks", indices=3)) == masks[[3]]).all()
        env.step(choose(masks, streams))
    assert len(sizes) > 1


@every_case
def test_no_mask_is_ever_empty_also_right_after_an_end__B06(case):
    transitions = Transitions(
        make(case, 64, MIXED, seed=1), 100, policy_streams(64, 1), episodes=100
    )  # checks the masks
    assert transitions.ended.sum() >= 100


@each_game
def test_masks_stay_0_and_1_under_vecmonitor_and_vecnormalize__B36(case):
    inner = make(case, 8, seed=1)
    env = VecNormalize(VecMonitor(inner), norm_obs=True, norm_reward=True)
    env.reset()
    streams = policy_streams(8, 1)
    assert is_masking_supported(env)
    for _ in range(30):
        masks = get_action_masks(env)
        assert masks.dtype == np.bool_
        assert (masks == inner.games.batch.action_mask).all()
        observation, _, _, _ = env.step(choose(masks, streams))
        assert np.isfinite(observation).all()


@every_case
def test_vecmonitor_counts_every_episode_right__B15(case):
    inner = make(case, 8, MIXED, seed=1)
    env = VecMonitor(inner)
    env.reset()
    streams, returns, lengths, counted = policy_streams(8, 1), np.zeros(8), np.zeros(8, int), 0
    while counted < 30:
        _, rewards, dones, infos = env.step(choose(get_action_masks(env), streams))
        returns += rewards
        lengths += 1
        for i in np.flatnonzero(dones):
            assert infos[i]["episode"]["r"] == pytest.approx(returns[i], abs=1e-5)
            assert infos[i]["episode"]["l"] == lengths[i]
            returns[i], lengths[i] = 0, 0
            counted += 1


@every_case
def test_illegal_action_is_an_error_and_nothing_has_moved__B04_B22(case):
    env, twin = (make(case, 6, MIXED, seed=1) for _ in range(2))
    streams, other = policy_streams(6, 1), policy_streams(6, 1)
    seen, expected = env.reset(), twin.reset()
    for step in range(25):
        masks = get_action_masks(env)
        before = contents(env, masks)
        actions = choose(masks, streams)
        row = step % 6
        for wrong in (int(np.flatnonzero(~masks[row])[0]), -1, env.action_space.n):
            spoilt = actions.copy()
            spoilt[row] = wrong
            with pytest.raises(IllegalAction, match=rf"{row}: action {wrong}\b.* is not legal"):
                env.step(spoilt)
        for spoilt in (actions[:-1], actions.astype(np.float32), actions[:, None], np.ones(6, np.bool_)):
            with pytest.raises(ValueError, match=r"^actions must be 6 integers"):
                env.step(spoilt)
        after = get_action_masks(env)
        assert contents(env, after) == before
        seen, rewards, dones, _ = env.step(actions)
        expected, twin_rewards, twin_dones, _ = twin.step(choose(get_action_masks(twin), other))
        assert (seen.tobytes(), rewards.tobytes(), dones.tobytes()) == (
            expected.tobytes(), twin_rewards.tobytes(), twin_dones.tobytes()
        )  # fmt: skip


@each_game
@pytest.mark.parametrize("kind", [np.int8, np.int32, np.uint8, list, "read-only"], ids=str)
def test_actions_of_any_integer_kind_are_the_same__B22(case, kind):
    env, twin = (make(case, 6, seed=1) for _ in range(2))
    env.reset()
    twin.reset()
    streams = policy_streams(6, 1)
    for _ in range(10):
        actions = choose(get_action_masks(env), streams)
        given = actions.tolist() if kind is list else actions.astype(np.int64 if kind == "read-only" else kind)
        if kind == "read-only":
            given.flags.writeable = False
        assert [x.tobytes() for x in env.step(given)[:3]] == [x.tobytes() for x in twin.step(actions)[:3]]


# --------------------------------------------------------------------------------------------- K8: buffers and copies


@every_case
def test_what_was_returned_never_changes_later_and_infos_are_distinct__B26_B36(case):
    env = make(case, 5, MIXED, seed=1)
    streams = policy_streams(5, 1)
    kept = [(env.reset(), None)]
    kept[0] = kept[0][0], kept[0][0].tobytes()
    owners = (env, env.games, env.games.batch, env.games._players)
    owned = [value for owner in owners for value in vars(owner).values() if isinstance(value, np.ndarray)]
    for _ in range(120):
        masks = get_action_masks(env)
        rows = env.env_method("action_masks")
        observation, rewards, dones, infos = env.step(choose(masks, streams))
        assert type(infos) is list
        assert len(infos) == len({id(info) for info in infos}) == 5
        arrays = [masks, env.action_masks(), observation, rewards, dones]
        arrays += [info["terminal_observation"] for info in infos if info]
        for i, array in enumerate(arrays):
            assert not any(np.shares_memory(array, other) for other in arrays[:i] + owned)
        kept += [(array, array.tobytes()) for array in (*arrays, *rows)]
        infos[0]["mine"] = 1
    env.reset()
    assert all(array.tobytes() == then for array, then in kept)


@every_case
def test_writing_into_what_was_returned_changes_nothing__B26(case):
    def vandal(env, steps):
        streams, seen = policy_streams(4, 1), []
        observation = env.reset()
        for _ in range(steps):
            masks = get_action_masks(env)
            actions = choose(masks, streams)
            seen.append((observation.tobytes(), masks.tobytes()))
            observation.fill(9)
            env.action_masks().fill(True)
            env.env_method("action_masks")[0].fill(True)
            observation, rewards, dones, infos = env.step(actions)
            seen.append((rewards.tobytes(), dones.tobytes(), [plain(info) for info in infos]))
            for array in (actions, rewards, dones):
                array.fill(1)
            for info in infos:
                info.clear()
        return seen

    first = vandal(make(case, 4, MIXED, seed=1), 50)
    transitions = Transitions(make(case, 4, MIXED, seed=1), 50, policy_streams(4, 1))
    for k in range(50):
        rows = [transitions.of[i][k] for i in range(4)]
        assert first[2 * k][0] == b"".join(row[0] for row in rows)
        assert first[2 * k + 1][0] == np.array([row[2] for row in rows], np.float32).tobytes()
        assert first[2 * k + 1][2] == [plain(row[4]) for row in rows]


@each_game
@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env)), "state"],
    ids=["deepcopy", "pickle", "get_state"],
)
def test_a_copy_in_mid_game_has_the_same_future_and_its_own_memory__B25(case, copied):
    env = make(case, 6, MIXED, seed=1)
    env.reset()
    streams = policy_streams(6, 1)
    for _ in range(9):
        env.step(choose(get_action_masks(env), streams))
    if copied == "state":
        twin = make(case, 6, MIXED, seed=77)
        twin.reset()
        twin.set_state(pickle.loads(pickle.dumps(env.get_state())))
    else:
        twin = copied(env)

    def ahead(env):
        own, seen = streams.copy(), []
        for _ in range(60):
            observation, rewards, dones, infos = env.step(choose(get_action_masks(env), own))
            seen.append((observation.tobytes(), rewards.tobytes(), dones.tobytes(), [plain(info) for info in infos]))
        return seen

    before = everything(env.games.batch)
    future = ahead(twin)
    assert everything(env.games.batch) == before
    assert ahead(env) == future


# ------------------------------------------------------------------------------------------------ K9: self-play (B28)


@every_case
def test_learner_sits_in_every_seat_equally_often_and_apart_from_who_opens__B28(case):
    env = make(case, 200, seed=1)
    diary = Diary(env.games)
    players = env.game.num_players
    Transitions(env, 0, policy_streams(200, 1), episodes=1200)
    seats = [seat for game in diary.games for seat, _ in game]
    n = len(seats)
    assert n >= 1200
    counts = np.bincount(seats, minlength=players)
    assert (abs(counts - n / players) < 3 * math.sqrt(n * (1 / players) * (1 - 1 / players))).all()
    following = Counter((a[0], b[0]) for game in diary.games for a, b in pairwise(game))
    pairs = [following[first, second] for first in range(players) for second in range(players)]
    assert stats.chisquare(pairs).pvalue > 0.001  # the next seat does not depend on this one


@each_game
def test_fixed_seat_is_kept(case):
    env = make(case, 20, learner_seat=1, seed=1)
    env.reset()
    streams = policy_streams(20, 1)
    for _ in range(40):
        assert (env.games.seat == 1).all()
        assert (env.games.batch.to_move == 1).all()
        env.step(choose(get_action_masks(env), streams))


class Spy(RandomPolicy):
    """A random opponent that notes what it was shown."""

    def __init__(self):
        self.views = []

    def act(self, view):
        self.views.append(view)
        return super().act(view)


@every_case
def test_opponents_see_what_the_learner_would_see_in_their_seat__B28(case):
    spy = Spy()
    env = make(case, 16, spy, seed=1)
    batch, shown, act = env.games.batch, 0, spy.act

    def checked(view):
        nonlocal shown
        seats = batch.to_move.copy()
        rows = np.flatnonzero((seats >= 0) & (seats != env.games.seat))
        assert view.observation.tobytes() == batch.observation[rows].tobytes()
        assert view.observation.shape[1:] == env.observation_space.shape
        assert (view.mask == batch.action_mask[rows]).all()
        assert (view.seat == seats[rows]).all()
        shown += len(rows)
        return act(view)

    spy.act = checked
    Transitions(env, 40, policy_streams(16, 1))
    assert shown > 200


@each_game
def test_opponents_share_the_seats_by_weight_anew_for_every_episode__B28(case):
    names = {RandomPolicy(): 1.0, RandomPolicy(): 2.0, RandomPolicy(): 5.0}
    env = make(case, 300, names, seed=1)
    counts, changed = np.zeros(3), 0
    for _ in range(20):
        before = env.games._assignment.copy()
        env.reset()
        counts += np.bincount(env.games._assignment[env.games._assignment >= 0], minlength=3)
        changed += (before != env.games._assignment).any()
        assert ((env.games._assignment == -1).sum(axis=1) == 1).all()
        assert (env.games._assignment[np.arange(300), env.games.seat] == -1).all()
    assert stats.chisquare(counts, np.array([1, 2, 5]) / 8 * counts.sum()).pvalue > 0.001
    assert changed == 20


@each_game
def test_an_opponent_of_weight_zero_never_plays(case):
    spy = Spy()
    env = make(case, 30, {"random": 1, spy: 0}, seed=1)
    Transitions(env, 20, policy_streams(30, 1))
    assert spy.views == []


@each_game
def test_opponents_may_be_a_name_a_policy_a_list_or_weights(case):
    for opponents in ("heuristic", RandomPolicy(), ["random", "heuristic"], ("random",), {"random": 3}):
        env = make(case, 4, opponents, seed=1)
        Transitions(env, 5, policy_streams(4, 1))


@each_game
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"opponents": "nobody"}, "unknown policy 'nobody'"),
        ({"opponents": []}, "opponents must"),
        ({"opponents": {}}, "opponents must"),
        ({"opponents": {"random": 0}}, "opponents must"),
        ({"opponents": {"random": -1, "heuristic": 2}}, "opponents must"),
        ({"opponents": {"random": float("nan")}}, "opponents must"),
        ({"opponents": {"random": float("inf")}}, "opponents must"),
        ({"opponents": 5}, "a policy must be a name"),
        ({"learner_seat": -1}, "learner_seat must"),
        ({"learner_seat": 9}, "learner_seat must"),
        ({"learner_seat": "0"}, "learner_seat must"),
        ({"seats": "some"}, "seats must"),
        ({"render_mode": "video"}, "render_mode must"),
        ({"num_envs": 0}, "num_envs must"),
        ({"num_envs": 2.0}, "num_envs must"),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused_in_one_sentence_that_names_them(case, options, says):
    with pytest.raises(ValueError, match=says) as refused:
        SB3VecEnv(case[0], **{"num_envs": 4, **options}, **case[1])
    assert "\n" not in str(refused.value)


@each_game
def test_unknown_games_and_options_are_refused(case):
    with pytest.raises(ValueError, match="no game named 'nothing'"):
        SB3VecEnv("nothing", 4)
    with pytest.raises(ValueError, match="unknown option 'colour'"):
        make(case, 4, colour="red")


@every_case
def test_all_seats_are_for_simultaneous_games_only(case):
    players = env_players(case)
    if new_batch(case, 1, 0).game.simultaneous:
        assert make(case, 2 * players, seats="all").num_envs == 2 * players
        with pytest.raises(ValueError, match=f"num_envs must be a multiple of {players}"):
            make(case, 2 * players + 1, seats="all")
    else:
        with pytest.raises(ValueError, match="seats must be 'one'"):
            make(case, 2 * players, seats="all")


@pytest.mark.parametrize("name", SIMULTANEOUS)
def test_all_seats_of_a_game_are_paid_what_the_parallel_env_pays(name):
    for config in cases_of(name).CONFIGS:
        case = name, config
        players = env_players(case)
        env = make(case, 8 * players, seats="all", seed=3)
        transitions = Transitions(env, 60, policy_streams(8 * players, 1))
        parallel = api(case).parallel_env(**config)
        for game in range(8):
            seen, _ = parallel.reset(seed=3 + game)
            rows = transitions.of[game * players : (game + 1) * players]
            for step in zip(*rows, strict=True):
                assert [row[0] for row in step] == [view["observation"].tobytes() for view in seen.values()]
                actions = {f"player_{seat}": row[1] for seat, row in enumerate(step)}
                seen, rewards, terminations, truncations, _ = parallel.step(actions)
                assert [row[2] for row in step] == pytest.approx(list(rewards.values()), abs=1e-6)
                over = any(terminations.values()) or any(truncations.values())
                assert {row[3] for row in step} == {over}
                if over:
                    last = [view["observation"].tobytes() for view in seen.values()]
                    assert [row[4]["terminal_observation"].tobytes() for row in step] == last
                    seen, _ = parallel.reset()


# ------------------------------------------------------------------------------------------- K11: the VecEnv contract


@each_game
def test_contract_of_a_vecenv__B36(case):
    env = make(case, 5, seed=1)
    assert env.num_envs == 5
    assert env.reset().shape == (5, *env.observation_space.shape)
    assert env.reset_infos == [{}] * 5
    assert env.observation_space.dtype == np.float32
    assert env.get_attr("render_mode") == [None] * 5
    assert env.get_attr("num_envs", [1, 3]) == [5, 5]
    assert env.env_is_wrapped(VecMonitor) == [False] * 5
    with pytest.raises(AttributeError, match=r"no method 'fly'.*action_masks"):
        env.env_method("fly")
    with pytest.raises(AttributeError, match="'x' cannot be set"):
        env.set_attr("x", 1)
    with pytest.raises(AttributeError):
        env.get_attr("nothing_of_this_name")
    env.step_async(choose(get_action_masks(env), policy_streams(5, 1)))
    observation, rewards, dones, _ = env.step_wait()
    assert (observation.dtype, rewards.dtype, dones.dtype) == (np.float32, np.float32, np.bool_)
    assert (observation.shape, rewards.shape, dones.shape) == ((5, *env.observation_space.shape), (5,), (5,))
    env.close()
    env.close()


@each_game
def test_observations_are_inside_the_space__B21(case):
    env = make(case, 16, MIXED, seed=1)
    for row in Transitions(env, 50, policy_streams(16, 1)).of:
        for seen, *_ in row:
            assert env.observation_space.contains(np.frombuffer(seen, np.float32))


@each_game
def test_rendering_shows_the_first_game_in_each_mode__B49(case, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = make(case, 3, seed=1, render_mode="ansi")
    env.reset()
    assert isinstance(env.render(), str)
    env = make(case, 3, seed=1, render_mode="rgb_array")
    env.reset()
    assert env.render().dtype == np.uint8
    assert env.get_images()[0].shape == env.render().shape
    env = make(case, 3, seed=1, render_mode="human")
    env.reset()
    env.step(choose(get_action_masks(env), policy_streams(3, 1)))
    assert env.render() is None
    env.close()


# -------------------------------------------------------------------------------------------------- training (B04, B05)


def learner(env, **more):
    options = {"n_steps": 16, "batch_size": 64, "n_epochs": 2, "seed": 0, "device": "cpu"}
    return MaskablePPO("MlpPolicy", env, policy_kwargs={"net_arch": [16]}, **{**options, **more})


def largest(case):
    """The configuration of the game with the most actions."""
    return case[0], max(cases_of(case[0]).CONFIGS, key=lambda config: game_of((case[0], config)).num_actions)


@each_game
def test_maskableppo_learns_two_iterations_and_its_frozen_copy_stays_frozen__B28(case):
    env = VecMonitor(make(case, 16, "random", seed=1))
    model = learner(env)
    frozen = copy.deepcopy(model.policy.state_dict())
    kept = {name: value.clone() for name, value in frozen.items()}
    model.learn(2 * 16 * 16)
    assert model.num_timesteps == 2 * 16 * 16
    assert all((frozen[name] == kept[name]).all() for name in frozen)
    assert any((model.policy.state_dict()[name] != kept[name]).any() for name in kept)
    assert all(torch.isfinite(value).all() for value in model.policy.state_dict().values())


@every_case
def test_entropy_at_step_0_is_the_mean_log_of_the_number_of_legal_actions__B05(case):
    env = make(case, 512, seed=1)
    model = learner(env)
    observation, masks = torch.from_numpy(env.reset()), get_action_masks(env)
    with torch.no_grad():
        entropy = model.policy.get_distribution(observation, masks).entropy().mean().item()
    assert entropy == pytest.approx(np.log(masks.sum(axis=1)).mean(), rel=0.05)


@each_game
def test_training_with_a_tenfold_learning_rate_on_the_largest_action_space_stays_finite__B05(case):
    env = make(largest(case), 16, "random", seed=1)
    for seed in range(2):
        model = learner(env, learning_rate=3e-3, seed=seed)
        logged = {}
        model.set_logger(_Logger(logged))
        model.learn(16 * 16 * 6)
        assert {"train/loss", "train/entropy_loss", "train/approx_kl"} <= set(logged)
        assert all(math.isfinite(value) for values in logged.values() for value in values)


class _Logger:
    """Keeps every number that SB3 records."""

    def __init__(self, logged):
        self.logged = logged

    def record(self, key, value, *args, **kwargs):
        if isinstance(value, (int, float, np.floating)):
            self.logged.setdefault(key, []).append(float(value))

    def record_mean(self, key, value, *args, **kwargs):
        self.record(key, value)

    def dump(self, step=0):
        pass


@each_game
def test_observations_at_their_extremes_give_finite_logits__B05(case):
    env = make(case, 4, seed=1)
    model = learner(env)
    size = env.observation_space.shape[0]
    for observation in (np.zeros((4, size)), np.ones((4, size)), np.eye(4, size)):
        with torch.no_grad():
            distribution = model.policy.get_distribution(torch.from_numpy(observation.astype(np.float32)))
        assert torch.isfinite(distribution.distribution.logits).all()


@each_game
def test_maskable_evaluation_of_an_untrained_model_makes_no_illegal_move__B04(case):
    env = VecMonitor(make(case, 8, "random", seed=1))
    model = learner(env)
    illegal = []
    step = env.venv.games.batch.step

    def counting(actions, where=None):
        moving = np.ones(8, np.bool_) if where is None else where
        rows = np.flatnonzero(moving & (env.venv.games.batch.to_move >= 0))
        illegal.extend(row for row in rows if not env.venv.games.batch.action_mask[row, actions[row]])
        return step(actions, where)

    env.venv.games.batch.step = counting
    returns, _ = evaluate_policy(model, env, n_eval_episodes=60, deterministic=False, return_episode_rewards=True)
    assert len(returns) >= 60
    assert illegal == []
    unmasked = [model.predict(env.reset(), deterministic=False)[0] for _ in range(20)]
    masks = get_action_masks(env)
    wrong = next(actions for actions in unmasked if not masks[np.arange(8), actions].all())
    with pytest.raises(IllegalAction):  # without masks it would make them, and they are errors
        env.step(wrong)


def source_files():
    return [path for folder in ("agents", "experiments", "llama_envs") for path in (CHECKOUT / folder).rglob("*.py")]


def test_no_shipped_code_evaluates_without_masks_or_switches_validation_off__B04_B05():
    for path in source_files():
        text = path.read_text()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("stable_baselines3"):
                assert not {alias.name for alias in node.names} & {"EvalCallback", "evaluate_policy", "evaluation"}, (
                    path
                )
        assert "validate_args" not in text, path
        if "MaskablePPO" in text:
            assert ".predict(" not in text or "action_masks" in text, path


@each_game
def test_make_vecs_env_becomes_an_sb3_env_of_the_same_games__B36(case):
    envs = gymnasium.make_vec(spec_of(case[0]).gymnasium_id, num_envs=6, opponents="random", **case[1])
    env = SB3VecEnv.from_vector_env(RecordEpisodeStatistics(envs))
    twin = make(case, 6)
    env.seed(5)
    twin.seed(5)
    assert np.array_equal(env.reset(), twin.reset())
    streams = policy_streams(6, 1)
    for _ in range(60):
        masks = get_action_masks(env)
        assert np.array_equal(masks, get_action_masks(twin))
        actions = choose(masks, streams)
        for ours, theirs in zip(env.step(actions)[:3], twin.step(actions)[:3], strict=True):
            assert np.array_equal(ours, theirs)
    MaskablePPO("MlpPolicy", VecMonitor(env), n_steps=8, batch_size=16, device="cpu").learn(64)


def test_another_kind_of_vector_env_is_refused_by_name():
    with pytest.raises(ValueError, match="from_vector_env takes what"):
        SB3VecEnv.from_vector_env(gymnasium.make_vec("CartPole-v1", num_envs=2))
