"""The Gymnasium environments, single and vector (known faults B06, B08, B15, B16, B18-B22, B25, B26, B36, B52)."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from functools import partial

import cloudpickle
import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gymnasium.vector.utils import batch_space
from gymnasium.wrappers.vector import DictInfoToList, NormalizeReward, RecordEpisodeStatistics

from llama_envs.adapters.gym_vector import GymEnv, GymVectorEnv
from llama_envs.core.batch import policy_streams
from llama_envs.core.chance import sample_legal
from llama_envs.core.errors import IllegalAction, ResetNeeded
from llama_envs.core.registry import spec_of
from llama_envs.policies import make_policy
from tests.cases import (
    Diary,
    api,
    each_game,
    each_truncating,
    every_case,
    everything,
    fields,
    game_of,
    new_batch,
    run_python,
)
from tests.compat import COUNTS, record

MIXED = {"random": 2.0, "heuristic": 1.0}
NEXT_STEP, SAME_STEP, DISABLED = AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED

every_mode = pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)


def gym_id(case):
    """The id under which the game is registered."""
    return spec_of(case[0]).gymnasium_id


def one(case, opponents=MIXED, **more):
    return gymnasium.make(gym_id(case), opponents=opponents, **more, **case[1])


def many(case, num_envs, mode=NEXT_STEP, opponents=MIXED, **more):
    options = {"opponents": opponents, "autoreset_mode": mode, **more, **case[1]}
    return gymnasium.make_vec(gym_id(case), num_envs=num_envs, **options)


def in_python(case, num_envs, mode=NEXT_STEP, **more):
    """Gymnasium's own vector environment over single ones."""
    return SyncVectorEnv([partial(one, case, **more)] * num_envs, autoreset_mode=mode)


def choose(masks, streams):
    """A uniform legal action for each row; 0 where nothing is legal."""
    actions = np.empty(len(masks), np.int64)
    sample_legal(np.asarray(masks, np.bool_), streams, actions)
    return np.maximum(actions, 0)


def frozen(value):
    """What an environment returned as plain data that compares exactly, types included, and never changes."""
    if isinstance(value, dict):
        return {key: frozen(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.dtype == object):
        return [frozen(item) for item in value]
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    return type(value).__name__, value


def arrays_in(value):
    if isinstance(value, dict):
        return [array for item in value.values() for array in arrays_in(item)]
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.dtype == object):
        return [array for item in value for array in arrays_in(item)]
    return [value] if isinstance(value, np.ndarray) else []


def row_of(value, i):
    """The part of returned arrays that belongs to row i."""
    if isinstance(value, dict):
        return {key: row_of(item, i) for key, item in value.items()}
    return frozen(value[i])


class Drive:
    """What ``steps`` random steps of a vector environment returned, resets included; and an independent count.

    Args:
        seed: of the first reset, of the actions and of the interruptions; they do not depend on the environment.
        illegal: how often an action is any action at all.
        interrupted: how often some rows are reset in the middle, half of them to a seed.

    Attributes:
        seen: all that was returned, frozen.
        ends: number of episodes by (terminated, truncated, illegal).
        lengths, returns: of every ended episode, row by row.
        empty_live: whether a row that goes on ever had an empty mask.
    """

    def __init__(self, env, steps, seed=0, illegal=0.0, interrupted=0.0):
        n, mode = env.num_envs, env.metadata["autoreset_mode"]
        rng, streams = np.random.default_rng(seed), policy_streams(n, seed)
        self.seen, self.ends = [], Counter()
        self.lengths, self.returns = [[] for _ in range(n)], [[] for _ in range(n)]
        length, total, over = np.zeros(n, int), np.zeros(n), np.zeros(n, np.bool_)
        observation, infos = env.reset(seed=seed)
        self.seen.append(frozen((observation, infos)))
        for _ in range(steps):
            actions = choose(observation["action_mask"], streams)
            wild = rng.random(n) < illegal
            actions[wild] = rng.integers(0, env.single_action_space.n, n)[wild]
            ignored = over
            observation, reward, terminated, truncated, infos = env.step(actions)
            self.seen.append(frozen((observation, reward, terminated, truncated, infos)))
            over = terminated | truncated
            assert not (over & ignored).any()
            assert (reward[ignored] == 0).all()
            length, total = np.where(ignored, 0, length + 1), np.where(ignored, 0, total + reward)
            last = infos["final_info"] if mode == SAME_STEP and over.any() else infos
            forfeit = last.get("illegal_action", np.zeros(n, np.bool_))
            for i in np.flatnonzero(over):
                self.ends[bool(terminated[i]), bool(truncated[i]), bool(forfeit[i])] += 1
                self.lengths[i].append(int(length[i]))
                self.returns[i].append(float(total[i]))
            if mode == SAME_STEP:
                length, total, over = length * ~over, total * ~over, np.zeros(n, np.bool_)
            where = over if mode == DISABLED else np.zeros(n, np.bool_)
            if rng.random() < interrupted:
                where = where | (rng.random(n) < 0.5)
            if where.any():
                seeds = [int(rng.integers(10_000)) if rng.random() < interrupted else None for _ in range(n)]
                observation, infos = env.reset(seed=seeds, options={"reset_mask": where})
                self.seen.append(frozen((observation, infos)))
                length, total, over = length * ~where, total * ~where, over & ~where


def first_difference(one, other):
    """The index at which two lists differ, None if they are equal."""
    if len(one) != len(other):
        return min(len(one), len(other))
    return next((i for i, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1]), None)


# ------------------------------------------------------------------------------------------------------- the checkers


@every_case
def test_gymnasiums_check_env_passes_without_a_warning__B21(case):
    check_env(one(case, "heuristic").unwrapped, skip_render_check=True)


@each_game
def test_gymnasiums_check_env_passes_in_every_render_mode__B49(case, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = one(case, "heuristic").unwrapped
    assert set(env.metadata["render_modes"]) == {"human", "ansi", "rgb_array"}
    check_env(env)


@every_case
def test_sb3s_check_env_passes_without_a_warning__B21(case):
    from stable_baselines3.common.env_checker import check_env as sb3_check_env

    sb3_check_env(one(case, "heuristic"), skip_render_check=True)


@each_game
def test_make_vec_is_native_and_its_spec_makes_it_again(case):
    envs = many(case, 1024, opponents="heuristic", render_mode="ansi")
    assert type(envs) is GymVectorEnv
    assert type(one(case).unwrapped) is GymEnv
    assert envs.num_envs == 1024
    assert envs.render_mode == "ansi"
    assert envs.observation_space == batch_space(envs.single_observation_space, 1024)
    assert envs.action_space == batch_space(envs.single_action_space, 1024)
    single = one(case)
    assert (single.observation_space, single.action_space) == (envs.single_observation_space, envs.single_action_space)
    observation, infos = envs.reset(seed=0)
    assert observation in envs.observation_space
    assert (infos["action_mask"] == observation["action_mask"]).all()
    after, reward, terminated, truncated, _ = envs.step(choose(observation["action_mask"], policy_streams(1024, 0)))
    assert after in envs.observation_space
    assert (reward.dtype, terminated.dtype, truncated.dtype) == (np.float64, np.bool_, np.bool_)
    assert reward.shape == terminated.shape == truncated.shape == (1024,)
    again = gymnasium.make_vec(envs.spec)
    assert (type(again), again.num_envs, again.autoreset_mode) == (GymVectorEnv, 1024, envs.autoreset_mode)
    assert frozen(again.reset(seed=0)[0]) == frozen(observation)


@each_game
@pytest.mark.parametrize("given", [*AutoresetMode, *(mode.value for mode in AutoresetMode)], ids=str)
def test_metadata_tell_the_autoreset_mode_in_force__B15(case, given):
    env = many(case, 2, given)
    assert env.metadata["autoreset_mode"] is env.autoreset_mode is AutoresetMode(given)
    assert "autoreset_mode" not in GymVectorEnv.metadata
    default = gymnasium.make_vec(gym_id(case), num_envs=2)
    assert default.metadata["autoreset_mode"] is NEXT_STEP


@each_game
@pytest.mark.parametrize("mode", ["never", "NEXT_STEP", "", None, True, 0], ids=repr)
def test_unsupported_autoreset_mode_is_refused_at_construction_with_one_sentence__B15(case, mode):
    sentence = r"^autoreset_mode must be one of 'NextStep', 'SameStep', 'Disabled', got [^.]*\.$"
    with pytest.raises(ValueError, match=sentence):
        many(case, 2, mode)


@each_game
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"num_envs": 0}, "num_envs must be"),
        ({"opponents": "nobody"}, "unknown policy 'nobody'"),
        ({"opponents": {"random": 0}}, "opponents must have weights"),
        ({"learner_seat": 9}, "learner_seat must be"),
        ({"illegal_action": "ignore"}, "illegal_action must be"),
        ({"render_mode": "braille"}, "render_mode must be"),
        ({"colour": "red"}, "unknown option 'colour'"),
    ],
    ids=lambda value: None if isinstance(value, str) else next(iter(value)),
)
def test_wrong_arguments_are_refused_at_construction(case, wrong, words):
    with pytest.raises(ValueError, match=rf"^{words}"):
        GymVectorEnv(case[0], **{"num_envs": 2, **wrong})
    if "num_envs" not in wrong:
        with pytest.raises(ValueError, match=rf"^{words}"):
            GymEnv(case[0], **wrong)


# ------------------------------------------------------------------------------------------- K5: autoreset (B15, B16)


@every_case
@every_mode
def test_native_env_is_syncvectorenv_over_single_envs__B15(case, mode):
    """500 steps with illegal actions among them; every observation, reward, flag, info, final_obs and final_info."""
    native, reference = (Drive(make(case, 3, mode), 500, 5, illegal=0.02) for make in (many, in_python))
    assert first_difference(native.seen, reference.seen) is None
    assert native.lengths == reference.lengths
    assert len({length for row in native.lengths for length in row}) > 3  # episodes of unequal length
    assert sum(number for (*_, forfeit), number in native.ends.items() if forfeit) >= 3
    assert sum(number for (*_, forfeit), number in native.ends.items() if not forfeit) >= 3


@every_case
@every_mode
def test_native_env_is_syncvectorenv_with_partial_resets_at_any_time__B15_B19(case, mode):
    native, reference = (
        Drive(make(case, 4, mode), 120, 7, illegal=0.05, interrupted=0.2) for make in (many, in_python)
    )
    assert first_difference(native.seen, reference.seen) is None
    assert len(native.seen) > 130


@each_truncating
@every_mode
def test_episode_cut_by_its_limit_is_truncated_and_not_terminated__B16(case, mode):
    native, reference = (Drive(make(case, 4, mode), 200, 1) for make in (many, in_python))
    assert first_difference(native.seen, reference.seen) is None
    assert native.ends[False, True, False] > 20
    assert native.ends[True, True, False] == 0


@every_case
def test_natural_end_is_terminated_and_not_truncated__B16(case):
    case = case[0], {key: value for key, value in case[1].items() if key != "max_rounds"}
    ends = Drive(many(case, 8), 300, 1).ends
    assert set(ends) == {(True, False, False)}
    assert ends[True, False, False] >= 5


@every_case
def test_ignored_action_of_next_step_changes_nothing_and_pays_0__B15(case):
    """Whatever it is: also one that does not exist."""
    env, twin = many(case, 6), many(case, 6)
    streams, rng = policy_streams(6, 1), np.random.default_rng(1)
    observation, _ = env.reset(seed=3)
    twin.reset(seed=3)
    over, ignored = np.zeros(6, np.bool_), 0
    for _ in range(200):
        actions = choose(observation["action_mask"], streams)
        wild = rng.random(6) < 0.05
        actions[wild] = rng.integers(0, env.single_action_space.n, 6)[wild]
        others = np.where(over, rng.integers(-5, 1000, 6), actions)
        seen = env.step(actions)
        assert frozen(seen) == frozen(twin.step(others))
        observation, reward, terminated, truncated, infos = seen
        assert (reward[over] == 0).all()
        assert not (terminated | truncated)[over].any()
        assert not infos.get("illegal_action", over & False)[over].any()
        assert observation["action_mask"][over].any(axis=1).all()
        ignored += over.sum()
        over = terminated | truncated
    assert ignored > 10


@every_case
def test_same_step_gives_the_last_observation_and_info_beside_the_first_of_the_next__B15(case):
    env = many(case, 8, SAME_STEP)
    observation, _ = env.reset(seed=1)
    streams, ended = policy_streams(8, 1), 0
    while ended < 20:
        observation, _, terminated, truncated, infos = env.step(choose(observation["action_mask"], streams))
        over = terminated | truncated
        assert ("final_obs" in infos) == ("final_info" in infos) == over.any()
        if not over.any():
            continue
        assert (infos["_final_obs"] == over).all()
        assert (infos["_final_info"] == over).all()
        for i in range(8):
            last = infos["final_obs"][i]
            assert (last is not None) == over[i]
            if over[i]:
                assert last in env.single_observation_space
                assert not last["action_mask"].any()
                assert last["observation"].any()
                assert (last["observation"] != observation["observation"][i]).any()
                ended += 1
        assert observation["action_mask"].any(axis=1).all()


@each_game
def test_step_of_an_ended_game_is_refused_where_autoreset_is_disabled__B15(case):
    env = many(case, 4, DISABLED)
    observation, _ = env.reset(seed=1)
    streams = policy_streams(4, 1)
    over = np.zeros(4, np.bool_)
    while not over.any():
        observation, _, terminated, truncated, _ = env.step(choose(observation["action_mask"], streams))
        over = terminated | truncated
    before = everything(env.games.batch)
    with pytest.raises(ResetNeeded, match=rf"^environments \[{np.flatnonzero(over)[0]}.*reset_mask"):
        env.step(choose(observation["action_mask"], streams))
    assert everything(env.games.batch) == before
    observation, _ = env.reset(options={"reset_mask": over})
    env.step(choose(observation["action_mask"], streams))


@each_game
def test_single_env_ends_and_waits_for_reset(case):
    env = one(case).unwrapped
    observation, _ = env.reset(seed=1)
    streams, over = policy_streams(1, 1), False
    while not over:
        action = int(choose(observation["action_mask"][None], streams)[0])
        observation, reward, terminated, truncated, info = env.step(action)
        assert (type(reward), type(terminated), type(truncated)) == (float, bool, bool)
        over = terminated or truncated
    assert not observation["action_mask"].any()
    assert not info["action_mask"].any()
    with pytest.raises(ResetNeeded, match="ended"):
        env.step(action)
    assert env.reset()[0]["action_mask"].any()


@each_game
def test_step_or_render_before_the_first_reset_is_refused(case):
    env = many(case, 3, render_mode="ansi")
    with pytest.raises(ResetNeeded, match=r"call reset\(\) before step"):
        env.step([0, 0, 0])
    with pytest.raises(ResetNeeded, match=r"call reset\(\) before render"):
        env.render()
    with pytest.raises(ResetNeeded, match=r"^the first reset\(\) must start every environment"):
        env.reset(options={"reset_mask": np.array([True, False, True])})
    env.reset(seed=0, options={"reset_mask": np.ones(3, np.bool_)})
    env.step(env.reset()[1]["action_mask"].argmax(axis=1))
    single = one(case).unwrapped
    with pytest.raises(ResetNeeded, match=r"call reset\(\) before step"):
        single.step(0)


@every_case
@every_mode
def test_partial_reset_starts_the_rows_of_its_mask_and_leaves_the_others_as_they_are__B15(case, mode):
    env = many(case, 5, mode)
    observation, _ = env.reset(seed=1)
    streams = policy_streams(5, 1)
    for _ in range(4):
        observation, _, terminated, truncated, _ = env.step(choose(observation["action_mask"], streams))
        if mode == DISABLED and (terminated | truncated).any():
            observation, _ = env.reset(options={"reset_mask": terminated | truncated})
    where = np.array([True, False, False, True, False])
    options = {"reset_mask": where}
    before = env.games.batch.state.copy()
    seen, infos = env.reset(seed=[70, 71, None, None, 72], options=options)
    for i in range(5):
        same = fields(env.games.batch.state[i : i + 1]) == fields(before[i : i + 1])
        assert same == (not where[i])
        if not where[i]:
            assert row_of(seen, i) == row_of(observation, i)
    assert (infos["_action_mask"] == where).all()
    assert (infos["_seat"] == where).all()
    assert not infos["action_mask"][~where].any()
    assert (infos["action_mask"][where] == seen["action_mask"][where]).all()
    fresh = many(case, 1, mode).reset(seed=70)[0]
    assert row_of(seen, 0) == row_of(fresh, 0)
    assert options["reset_mask"] is where
    assert not any(np.shares_memory(where, array) for array in arrays_in((seen, infos)))
    assert where.tolist() == [True, False, False, True, False]


@each_game
@pytest.mark.parametrize(
    "wrong",
    [np.zeros(4, np.bool_), np.ones(3, np.bool_), np.ones(4, np.int64), np.ones((4, 1), np.bool_), 1, None],
    ids=["empty", "short", "ints", "column", "number", "None"],
)
def test_wrong_reset_mask_is_refused_and_nothing_has_moved(case, wrong):
    env = many(case, 4)
    env.reset(seed=1)
    before = everything(env.games.batch)
    with pytest.raises(ValueError, match=r"^reset_mask must be 4 bools, not all False"):
        env.reset(options={"reset_mask": wrong})
    assert everything(env.games.batch) == before


@each_game
def test_another_reset_option_is_refused_and_nothing_has_moved(case):
    env, single = many(case, 4), one(case).unwrapped
    env.reset(seed=1)
    before = everything(env.games.batch)
    with pytest.raises(ValueError, match=r"^reset\(\) knows no option 'num_players'; it knows reset_mask"):
        env.reset(options={"num_players": 2})
    assert everything(env.games.batch) == before
    with pytest.raises(ValueError, match=r"^reset\(\) knows no option 'num_players'; it knows none"):
        single.reset(options={"num_players": 2})


# ------------------------------------------------------------------------------------------- K6: seeds and rows (B19)


def rows(case, seeds, steps):
    """What the environments with these seeds saw, each acting by its own seed; and how many episodes each ended."""
    env = many(case, len(seeds), SAME_STEP)
    streams, places = policy_streams(len(seeds), seeds), range(len(seeds))
    observation, _ = env.reset(seed=seeds)
    seen, ended = [[row_of(observation, i)] for i in places], np.zeros(len(seeds), int)
    for _ in range(steps):
        observation, *returned, infos = env.step(choose(observation["action_mask"], streams))
        for i in places:
            seen[i].append((row_of(observation, i), [part[i] for part in returned], infos["seat"][i]))
        ended += returned[1] | returned[2]
    return seen, ended


@every_case
def test_row_depends_on_its_own_seed_and_actions_alone_through_three_autoresets__B19(case):
    seeds = [11, 12, 13, 14]
    steps = 50
    four, ended = rows(case, seeds, steps)
    while ended.min() < 3:
        steps *= 2
        four, ended = rows(case, seeds, steps)
    for i, seed in enumerate(seeds):
        assert rows(case, [seed], steps)[0] == [four[i]]
    eight, _ = rows(case, [14, 12, 11, 13, 99, 98, 97, 96], steps)
    assert [eight[place] for place in (2, 1, 3, 0)] == four


@every_case
def test_other_actions_in_row_0_leave_the_others_as_they_were__B19(case):
    def play(first):
        env = many(case, 4, SAME_STEP)
        streams = policy_streams(4, 1)
        streams[0] = policy_streams(1, first)[0]
        observation, _ = env.reset(seed=3)
        seen = [[] for _ in range(4)]
        for _ in range(60):
            observation, reward, *_ = env.step(choose(observation["action_mask"], streams))
            for i in range(4):
                seen[i].append((row_of(observation, i), reward[i]))
        return seen

    one, other = play(98), play(99)
    assert one[0] != other[0]
    assert one[1:] == other[1:]


@every_case
def test_int_seed_is_seed_plus_i_and_the_deal_is_that_of_the_batch_and_the_aec_env__B19(case):
    env = many(case, 4)
    by_int = frozen(env.reset(seed=20))
    states, seats = env.games.batch.state.copy(), env.games.seat.copy()
    assert frozen(env.reset(seed=[20, 21, 22, 23])) == by_int
    assert frozen(env.reset(seed=np.int64(20))) == by_int
    assert frozen(env.reset(seed=(20, 21, 22, 23))) == by_int
    assert frozen(many(case, 4).reset(seed=20)) == by_int
    single = one(case).unwrapped
    for i in range(4):
        _, info = single.reset(seed=20 + i)
        inner = single._vector.games.batch
        assert fields(inner.state) == fields(states[i : i + 1])
        assert info["seat"] == seats[i]
    still = many(case, 4, learner_seat=int(new_batch(case, 1, 20).to_move[0]))  # nobody moves before this seat
    still.reset(seed=20)
    raw = api(case).raw_env(**case[1])
    raw.reset(seed=20)
    assert fields(still.games.batch.state[:1]) == fields(raw._batch.state) == fields(new_batch(case, 1, 20).state)


@every_case
def test_none_keeps_a_stream_and_a_list_may_hold_it__B18_B19(case):
    env, twin = many(case, 3), many(case, 3)
    first = env.reset(seed=5)[0]
    second = env.reset()[0]
    assert frozen(first) != frozen(second)
    twin.reset(seed=[5, 0, 7])
    mixed = twin.reset(seed=[None, 6, None])[0]
    assert [row_of(mixed, i) for i in range(3)] == [row_of(second, 0), row_of(first, 1), row_of(second, 2)]
    assert frozen(env.reset(seed=5)[0]) == frozen(first)
    assert frozen(env.reset(seed=None)[0]) == frozen(second)
    single = one(case)
    again = [frozen(single.reset(seed=seed)) for seed in (5, None, 5, None)]
    assert again[:2] == again[2:]
    assert again[0] != again[1]


@each_game
def test_envs_without_a_seed_are_different_games__B18(case):
    assert frozen(many(case, 8).reset()[0]) != frozen(many(case, 8).reset()[0])
    assert len({frozen(one(case).reset()[0])["observation"] for _ in range(12)}) > 1


WRONG_SEEDS = [-1, 1.5, "1", True, 2**64, [1, 2], [1, 2, 3, 4], [1, 2, "x"], [1, 2, -3]]


@each_game
@pytest.mark.parametrize("seed", WRONG_SEEDS, ids=repr)
def test_wrong_seeds_are_refused_and_nothing_has_moved__B19(case, seed):
    env, single = many(case, 3), one(case)
    observation, _ = env.reset(seed=1)
    alone, _ = single.reset(seed=1)
    with pytest.raises(ValueError, match=r"^seed"):
        env.reset(seed=seed)
    with pytest.raises(ValueError, match=r"^seed"):
        single.reset(seed=seed)
    twin, other = many(case, 3), one(case)
    twin.reset(seed=1)
    other.reset(seed=1)
    actions = observation["action_mask"].argmax(axis=1)
    assert frozen(env.step(actions)) == frozen(twin.step(actions))
    action = int(alone["action_mask"].argmax())
    assert frozen(single.step(action)) == frozen(other.step(action))


@each_game
def test_global_generators_are_neither_used_nor_touched__B18(case):
    expected = Drive(many(case, 3), 40, 1).seen
    np.random.seed(0)
    before = np.random.get_state()[1].tobytes()
    assert Drive(many(case, 3), 40, 1).seen == expected
    many(case, 3).reset()
    assert np.random.get_state()[1].tobytes() == before


# -------------------------------------------------------------------------------------- K2: masks, illegal actions


@every_case
@every_mode
def test_mask_of_a_row_that_goes_on_is_the_legal_set_and_never_empty__B06(case, mode):
    env = many(case, 32, mode)
    batch, games = env.games.batch, env.games
    observation, infos = env.reset(seed=1)
    streams, over = policy_streams(32, 1), np.zeros(32, np.bool_)
    ended, sizes = 0, set()
    while ended < 40:
        masks = observation["action_mask"]
        assert (infos["action_mask"] == masks).all()
        assert infos["_action_mask"].all()
        assert masks[~over].any(axis=1).all()
        assert not masks[over].any()
        assert (batch.to_move == games.seat)[~over].all()
        assert (infos["seat"] == games.seat).all()
        assert (masks[~over] == batch.mask(games.seat)[~over]).all()
        sizes |= set(masks.sum(axis=1).tolist())
        observation, _, terminated, truncated, infos = env.step(choose(masks, streams))
        over = terminated | truncated
        ended += over.sum()
        if mode == SAME_STEP:
            over = np.zeros(32, np.bool_)
        elif mode == DISABLED and over.any():
            env.reset(options={"reset_mask": over})
            observation, infos = env._observe(), env._infos(np.ones(32, np.bool_))
            over = np.zeros(32, np.bool_)
    assert len(sizes) > 1


@every_case
def test_mask_allows_exactly_what_the_core_takes__B06(case):
    """Every action of every row tried on a clone of its game."""
    env = many(case, 4, SAME_STEP)
    observation, _ = env.reset(seed=2)
    streams = policy_streams(4, 2)
    for _ in range(8):
        for action in range(env.single_action_space.n):
            for i in range(4):
                clone = env.games.batch.clone()
                if observation["action_mask"][i, action]:
                    clone.step(np.full(4, action), np.arange(4) == i)
                else:
                    with pytest.raises(IllegalAction):
                        clone.step(np.full(4, action), np.arange(4) == i)
        observation, *_ = env.step(choose(observation["action_mask"], streams))


@every_case
def test_illegal_action_that_loses_ends_its_own_episode_at_minus_1__B04(case):
    env, twin = many(case, 3, DISABLED), many(case, 3, DISABLED)
    observation, _ = env.reset(seed=1)
    twin.reset(seed=1)
    legal = observation["action_mask"].argmax(axis=1)
    actions = legal.copy()
    actions[1] = observation["action_mask"][1].argmin()
    before = fields(env.games.batch.state[1:2])
    after, reward, terminated, truncated, infos = env.step(actions)
    expected, expected_reward, *_ = twin.step(legal)
    assert (reward[1], terminated[1], truncated[1]) == (-1.0, True, False)
    assert infos["illegal_action"].tolist() == infos["_illegal_action"].tolist() == [False, True, False]
    assert fields(env.games.batch.state[1:2]) == before  # it was not played, nor anything in its place
    assert not after["action_mask"][1].any()
    assert not infos["action_mask"][1].any()
    assert (after["observation"][1] == observation["observation"][1]).all()
    for i in (0, 2):
        assert row_of(after, i) == row_of(expected, i)
        assert reward[i] == expected_reward[i]
    where = np.array([False, True, False])
    again, infos = env.reset(options={"reset_mask": where})
    assert again["action_mask"][1].any()
    assert "illegal_action" not in infos
    assert (again["observation"][1] != observation["observation"][1]).any()


@each_game
def test_illegal_action_in_the_single_env_loses_or_is_an_error__B04(case):
    env = one(case)
    observation, _ = env.reset(seed=1)
    illegal = int(observation["action_mask"].argmin())
    _, reward, terminated, truncated, info = env.step(illegal)
    assert (reward, terminated, truncated, info["illegal_action"]) == (-1.0, True, False, True)
    env = one(case, illegal_action="error").unwrapped
    env.reset(seed=1)
    before = everything(env._vector.games.batch)
    with pytest.raises(IllegalAction, match=rf"action {illegal} \(.*\) is not legal; legal are .*no game has moved"):
        env.step(illegal)
    assert everything(env._vector.games.batch) == before
    env.step(int(observation["action_mask"].argmax()))


@every_case
@every_mode
def test_illegal_action_that_is_an_error_moves_no_game__B04(case, mode):
    env, twin = (many(case, 6, mode, illegal_action="error") for _ in range(2))
    streams, other = policy_streams(6, 1), policy_streams(6, 1)
    observation, _ = env.reset(seed=1)
    expected, _ = twin.reset(seed=1)
    over = np.zeros(6, np.bool_)
    for step in range(30):
        actions = choose(observation["action_mask"], streams)
        row = step % 6
        if not over[row]:
            wrong = int(observation["action_mask"][row].argmin())
            before = everything(env.games.batch), env.games._players.streams.tobytes()
            spoilt = actions.copy()
            spoilt[row] = wrong
            with pytest.raises(IllegalAction, match=rf"^environment {row}: action {wrong} \(.*no game has moved\.$"):
                env.step(spoilt)
            assert (everything(env.games.batch), env.games._players.streams.tobytes()) == before
        seen = env.step(actions)
        assert frozen(seen) == frozen(twin.step(choose(expected["action_mask"], other)))
        observation, expected = seen[0], seen[0]
        over = seen[2] | seen[3]
        if mode == SAME_STEP:
            over = np.zeros(6, np.bool_)
        if mode == DISABLED and over.any():
            observation, _ = env.reset(options={"reset_mask": over})
            expected, _ = twin.reset(options={"reset_mask": over})
            over = np.zeros(6, np.bool_)


@each_game
@pytest.mark.parametrize("kind", [np.int8, np.int32, np.uint8, np.uint64, list, tuple, "read-only", "strided"], ids=str)
def test_actions_of_any_integer_kind_are_the_same__B22(case, kind):
    env, twin = many(case, 6), many(case, 6)
    observation, _ = env.reset(seed=1)
    twin.reset(seed=1)
    streams = policy_streams(6, 1)
    for _ in range(20):
        actions = choose(observation["action_mask"], streams)
        if kind in (list, tuple):
            given = kind(actions.tolist())
        elif kind == "strided":
            given = np.repeat(actions, 2)[::2]
        else:
            given = actions.astype(np.int64 if kind == "read-only" else kind)
        if kind == "read-only":
            given.flags.writeable = False
        seen = env.step(given)
        assert frozen(seen) == frozen(twin.step(actions))
        observation = seen[0]


@each_game
def test_wrong_actions_are_refused_and_nothing_has_moved__B22(case):
    env = many(case, 3)
    observation, _ = env.reset(seed=1)
    count = env.single_action_space.n
    good = observation["action_mask"].argmax(axis=1)
    before = everything(env.games.batch)
    for wrong in (good[:2], good[:, None], good.astype(np.float32), good == 0, int(good[0]), None, ["0", "1", "2"]):
        with pytest.raises(ValueError, match=r"^actions must be 3 integers"):
            env.step(wrong)
    for wrong in (-1, count, -count, 2**40):
        with pytest.raises(ValueError, match=rf"^actions must lie in 0 to {count - 1}, got {wrong}\.$"):
            env.step([good[0], wrong, good[2]])
    assert everything(env.games.batch) == before
    single = one(case).unwrapped
    alone, _ = single.reset(seed=1)
    before = everything(single._vector.games.batch)
    for wrong in (np.array([0]), 0.0, True, None, "0", [0], -1, count, np.float32(0)):
        with pytest.raises(ValueError, match=r"action"):
            single.step(wrong)
    assert everything(single._vector.games.batch) == before
    action = int(alone["action_mask"].argmax())
    seen = [
        frozen((single.reset(seed=1), single.step(kind(action))))
        for kind in (int, np.int8, np.int32, np.int64, np.array)
    ]
    assert all(each == seen[0] for each in seen)


# ------------------------------------------------------------------------------------------------ K3: rewards (B08)


def compare_with_replays(case, env, episodes):
    """Every episode's return against its deal and actions played again in the core; returns the learner's seats."""
    diary = Diary(env.games)
    steps = 60
    drive = Drive(env, steps, 100)
    while sum(len(row) for row in drive.returns) < episodes:
        steps *= 2
        diary = Diary(env.games)
        drive = Drive(env, steps, 100)
    seats = []
    for i in range(env.num_envs):
        batch, payoffs = new_batch(case, 1, 100 + i), []
        batch.reset(seed=100 + i)
        for seat, actions in diary.games[i]:
            paid, acted = np.zeros(batch.game.num_players), False
            for action in actions:
                acted |= batch.to_move[0] == seat
                paid += batch.step([action])[0][0]
            assert batch.to_move[0] == -1
            batch.reset()
            if acted:
                payoffs.append(paid[seat])
                seats.append(seat)
        assert drive.returns[i][: len(payoffs)] == pytest.approx(payoffs, abs=1e-5)
        assert len(drive.returns[i]) - len(payoffs) in (0, 1)  # the last may have ended without a reset after it
    return seats


@every_case
def test_episodes_return_is_the_core_payoff_of_each_fixed_seat__B08(case):
    for seat in range(new_batch(case, 1).game.num_players):
        seats = compare_with_replays(case, many(case, 6, learner_seat=seat), 8)
        assert set(seats) == {seat}


@every_case
@every_mode
def test_episodes_return_is_the_core_payoff_of_a_drawn_seat__B08(case, mode):
    seats = compare_with_replays(case, many(case, 16, mode), 40)
    assert set(seats) == set(range(new_batch(case, 1).game.num_players))


@pytest.mark.parametrize(("game", "players"), COUNTS)
def test_100_games_with_every_number_of_players_are_paid_right__B35(game, players):
    case = game, {"num_players": players}
    assert len(compare_with_replays(case, many(case, 16), 100)) >= 100
    record("Gymnasium `make`, `make_vec`", game, players, "works", "mask in the observation and in `infos`")


# --------------------------------------------------------------------------------------------------- K7: spaces (B21)


@every_case
@every_mode
def test_spaces_contain_every_observation__B21(case, mode):
    env = many(case, 4, mode)
    space, single = env.observation_space, env.single_observation_space
    observation, _ = env.reset(seed=1)
    streams, rng, finals = policy_streams(4, 1), np.random.default_rng(1), 0
    for _ in range(150):
        assert observation in space
        actions = choose(observation["action_mask"], streams)
        wild = rng.random(4) < 0.05
        actions[wild] = rng.integers(0, env.single_action_space.n, 4)[wild]
        assert actions in env.action_space
        observation, _, terminated, truncated, infos = env.step(actions)
        for last in infos.get("final_obs", []):
            assert last is None or last in single
            finals += last is not None
        if mode == DISABLED and (terminated | truncated).any():
            assert observation in space
            observation, _ = env.reset(options={"reset_mask": terminated | truncated})
    assert (finals > 0) == (mode == SAME_STEP)


@every_case
def test_spaces_of_the_single_env_contain_every_observation__B21(case):
    env = one(case)
    streams = policy_streams(1, 1)
    ended = 0
    observation, info = env.reset(seed=1)
    for _ in range(200):
        assert observation in env.observation_space
        assert (observation["action_mask"] == info["action_mask"]).all()
        assert observation["action_mask"].dtype == info["action_mask"].dtype == np.int8
        assert type(info["seat"]) is int
        action = int(choose(observation["action_mask"][None], streams)[0])
        observation, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            assert observation in env.observation_space
            observation, info = env.reset()
            ended += 1
    assert ended


# --------------------------------------------------------------------------------------------- K8: buffers and copies


@every_case
@every_mode
def test_what_was_returned_never_changes_later_and_shares_no_memory__B26(case, mode):
    env = many(case, 4, mode)
    games = env.games
    owners = (env, games, games.batch, games._players)
    owned = [value for owner in owners for value in vars(owner).values() if isinstance(value, np.ndarray)]
    streams, rng, kept, previous = policy_streams(4, 1), np.random.default_rng(1), [], []

    def keep(returned):
        arrays = arrays_in(returned)
        for i, array in enumerate(arrays):
            assert not any(np.shares_memory(array, other) for other in arrays[:i] + owned + previous)
        kept.append((returned, frozen(returned)))
        previous[:] = arrays

    keep(env.reset(seed=1))
    for _ in range(80):
        observation = kept[-1][0][0]
        actions = choose(observation["action_mask"], streams)
        wild = rng.random(4) < 0.03
        actions[wild] = 0
        returned = env.step(actions)
        keep(returned)
        over = returned[2] | returned[3]
        if mode == DISABLED and over.any():
            keep(env.reset(options={"reset_mask": over}))
    env.reset(seed=2)
    assert all(frozen(returned) == then for returned, then in kept)


@every_case
@every_mode
def test_writing_into_what_was_returned_changes_nothing__B26(case, mode):
    def play(vandal):
        env = many(case, 4, mode)
        streams, seen = policy_streams(4, 1), []
        returned = env.reset(seed=1)
        for _ in range(60):
            masks = returned[0]["action_mask"].copy()
            seen.append(frozen(returned))
            over = returned[2] | returned[3] if len(returned) == 5 else np.zeros(4, np.bool_)
            if vandal:
                for array in arrays_in(returned):
                    if array.dtype != object:
                        array.fill(1)
                returned[-1]["mine"] = 1
            if mode == DISABLED and over.any():
                returned = env.reset(options={"reset_mask": over})
                continue
            actions = choose(masks, streams)
            returned = env.step(actions)
            if vandal:
                actions.fill(9)
        return seen

    assert first_difference(play(False), play(True)) is None


@each_game
def test_what_the_single_env_returned_never_changes_later__B26(case):
    env = one(case)
    streams, kept = policy_streams(1, 1), []
    returned = env.reset(seed=1)
    for _ in range(100):
        kept.append((returned, frozen(returned)))
        observation, infos = returned[0], returned[-1]
        assert not np.shares_memory(observation["action_mask"], infos["action_mask"])
        action = int(choose(observation["action_mask"][None], streams)[0])
        returned = env.step(action)
        if returned[2] or returned[3]:
            kept.append((returned, frozen(returned)))
            returned = env.reset()
    assert all(frozen(returned) == then for returned, then in kept)


def pickled(env):
    return pickle.loads(pickle.dumps(env))


def cloudpickled(env):
    return pickle.loads(cloudpickle.dumps(env))


every_copy = pytest.mark.parametrize("duplicate", [copy.deepcopy, pickled, cloudpickled], ids=lambda way: way.__name__)


def advance(env, observation, streams, steps):
    """``steps`` more steps of a vector environment without interruption: what they returned, and the next masks."""
    seen = []
    for _ in range(steps):
        returned = env.step(choose(observation["action_mask"], streams))
        observation = returned[0]
        seen.append(frozen(returned))
        over = returned[2] | returned[3]
        if env.metadata["autoreset_mode"] == DISABLED and over.any():
            observation, infos = env.reset(options={"reset_mask": over})
            seen.append(frozen((observation, infos)))
    return seen, observation


@every_case
@every_mode
@every_copy
def test_copy_of_the_vector_env_goes_on_identically_and_apart__B25(case, mode, duplicate):
    env = many(case, 3, mode)
    streams = policy_streams(3, 1)
    observation, _ = env.reset(seed=1)
    for _ in range(2):
        _, observation = advance(env, observation, streams, 15)
        twin, other = duplicate(env), streams.copy()
        before = everything(env.games.batch)
        ahead, _ = advance(twin, observation, other.copy(), 15)
        assert everything(env.games.batch) == before
        kept = everything(twin.games.batch)
        seen, _ = advance(duplicate(env), observation, other.copy(), 15)
        assert first_difference(ahead, seen) is None
        original, observation = advance(env, observation, streams, 15)
        assert first_difference(ahead, original) is None
        assert everything(twin.games.batch) == kept


@every_case
@every_copy
def test_copy_of_the_single_env_goes_on_identically_and_apart__B25(case, duplicate):
    """With the wrappers that make() puts around it."""

    def play(env, observation, streams, steps):
        seen = []
        for _ in range(steps):
            returned = env.step(int(choose(observation["action_mask"][None], streams)[0]))
            seen.append(frozen(returned))
            observation = returned[0]
            if returned[2] or returned[3]:
                observation, info = env.reset()
                seen.append(frozen((observation, info)))
        return seen, observation

    env = one(case)
    observation, _ = env.reset(seed=1)
    streams = policy_streams(1, 1)
    for _ in range(3):
        _, observation = play(env, observation, streams, 7)
        twin, other = duplicate(env), streams.copy()
        ahead, _ = play(twin, observation, other, 40)
        original, observation = play(env, observation, streams, 40)
        assert first_difference(ahead, original) is None
    ahead, _ = play(twin, twin.reset(seed=3)[0], policy_streams(1, 2), 10)  # np_random and all
    original, _ = play(env, env.reset(seed=3)[0], policy_streams(1, 2), 10)
    assert ahead == original


@each_game
def test_copy_after_rendering_in_every_mode_is_whole__B25(case, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    for mode in ("ansi", "rgb_array", "human"):
        env = one(case, render_mode=mode)
        observation, _ = env.reset(seed=1)
        env.render()
        action = int(observation["action_mask"].argmax())
        for duplicate in (copy.deepcopy, pickled):
            twin = duplicate(env)
            assert frozen(twin.step(action)) == frozen(copy.deepcopy(env).step(action))
            assert frozen(twin.render()) == frozen(twin.render())
            twin.close()
        env.close()
        env.close()


@each_game
def test_rendering_shows_every_game_and_a_window_the_first__B49(case, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = many(case, 3, render_mode="ansi")
    env.reset(seed=1)
    texts = env.render()
    assert len(texts) == 3
    single = one(case, render_mode="ansi")
    for i in range(3):
        single.reset(seed=1 + i)
        assert single.render() == texts[i]
    env = many(case, 2, render_mode="rgb_array")
    env.reset(seed=1)
    assert [frame.dtype for frame in env.render()] == [np.uint8] * 2
    env = many(case, 2, render_mode="human")
    observation, _ = env.reset(seed=1)
    env.step(choose(observation["action_mask"], policy_streams(2, 1)))
    assert env.render() == (None,)
    env.close()
    env.close()


# --------------------------------------------------------------------------------------------------- vector wrappers


@every_case
@every_mode
def test_recordepisodestatistics_counts_every_episode_right__B15(case, mode):
    class Noting(gymnasium.vector.VectorWrapper):
        """Keeps the statistics of each episode as they come."""

        def __init__(self, env):
            super().__init__(env)
            self.of = [[] for _ in range(env.num_envs)]

        def step(self, actions):
            returned = self.env.step(actions)
            infos = returned[-1]
            assert infos.get("_episode", np.zeros(4, np.bool_)).tolist() == (returned[2] | returned[3]).tolist()
            for i in np.flatnonzero(infos.get("_episode", [])):
                self.of[i].append((infos["episode"]["l"][i], infos["episode"]["r"][i]))
            return returned

    env = Noting(RecordEpisodeStatistics(many(case, 4, mode)))
    drive = Drive(env, 250, 1, illegal=0.02)
    for i in range(4):
        assert [length for length, _ in env.of[i]] == drive.lengths[i]
        assert [total for _, total in env.of[i]] == pytest.approx(drive.returns[i])
    assert sum(len(row) for row in drive.lengths) > 12


@every_case
@every_mode
def test_normalizereward_scales_by_what_it_saw_and_skips_the_reset_step__B15(case, mode):
    native, reference = (NormalizeReward(make(case, 4, mode)) for make in (many, in_python))
    scaled, expected = (Drive(env, 100, 1, illegal=0.02) for env in (native, reference))
    assert first_difference(scaled.seen, expected.seen) is None
    assert np.isfinite(native.return_rms.var)
    steps, ends = 4 * 100, sum(scaled.ends.values())
    skipped = ends - sum(1 for i in range(4) if _ended_last(scaled, i)) if mode == NEXT_STEP else 0
    assert native.return_rms.count == pytest.approx(steps - skipped, abs=1e-2)
    plain = many(case, 4, mode)
    raw = Drive(plain, 1, 1, illegal=0.02).seen[1][1]
    first = np.frombuffer(scaled.seen[1][1][2])
    assert first * np.sqrt(_variance(np.frombuffer(raw[2])) + 1e-8) == pytest.approx(np.frombuffer(raw[2]))


def _ended_last(drive, i):
    """Whether row i ended in the very last step."""
    _, _, terminated, truncated, _ = drive.seen[-1]
    return bool(np.frombuffer(terminated[2], np.bool_)[i] | np.frombuffer(truncated[2], np.bool_)[i])


def _variance(values, weight=1e-4):
    """Of ``values`` and a standard normal prior of this weight."""
    count = weight + len(values)
    return (weight + (values**2).sum()) / count - (values.sum() / count) ** 2


@every_case
@every_mode
def test_dictinfotolist_gives_each_row_its_own_info__B15(case, mode):
    def lists(make):
        env = DictInfoToList(make(case, 3, mode))
        streams, rng, seen = policy_streams(3, 1), np.random.default_rng(1), []
        observation, infos = env.reset(seed=1)
        for _ in range(80):
            seen.append([frozen(info) for info in infos])
            assert len(infos) == 3
            for i, info in enumerate(infos):
                if "seat" in info:
                    assert (info["action_mask"] == observation["action_mask"][i]).all()
            actions = choose(observation["action_mask"], streams)
            wild = rng.random(3) < 0.05
            actions[wild] = rng.integers(0, env.single_action_space.n, 3)[wild]
            observation, reward, terminated, truncated, infos = env.step(actions)
            over = terminated | truncated
            for i, info in enumerate(infos):
                last = info.get("final_info", info)
                assert ("final_obs" in info) == ("final_info" in info) == (over[i] and mode == SAME_STEP)
                assert not last.get("illegal_action", False) or reward[i] == -1.0
                assert {"action_mask", "seat"} <= set(info)
            if mode == DISABLED and over.any():
                seen.append([frozen(info) for info in infos])
                observation, infos = env.reset(options={"reset_mask": over})
                assert ["seat" in info for info in infos] == over.tolist()
        return seen

    assert first_difference(lists(many), lists(in_python)) is None


@each_game
@every_mode
def test_wrappers_stack__B15(case, mode):
    env = DictInfoToList(NormalizeReward(RecordEpisodeStatistics(many(case, 4, mode))))
    observation, _ = env.reset(seed=1)
    streams, episodes = policy_streams(4, 1), 0
    while episodes < 8:
        observation, reward, terminated, truncated, infos = env.step(choose(observation["action_mask"], streams))
        over = terminated | truncated
        assert ["episode" in info for info in infos] == over.tolist()
        assert np.isfinite(reward).all()
        episodes += over.sum()
        if mode == DISABLED and over.any():
            observation, _ = env.reset(options={"reset_mask": over})


# ------------------------------------------------------------------------------------------------- processes (B52)


@each_game
@pytest.mark.parametrize("context", ["fork", "forkserver", "spawn"])
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_asyncvectorenv_gives_the_same_as_in_one_process__B52(case, context):
    """With a warm parent; 'module:' before the id imports what registers it in a new process."""
    make = partial(gymnasium.make, f"llama_envs:{gym_id(case)}", opponents=MIXED, **case[1])
    reference = Drive(SyncVectorEnv([make] * 2, autoreset_mode=SAME_STEP), 60, 1, illegal=0.02)
    env = AsyncVectorEnv([make] * 2, context=context, autoreset_mode=SAME_STEP)
    try:
        workers = Drive(env, 60, 1, illegal=0.02)
    finally:
        env.close(timeout=10)
    assert first_difference(workers.seen, reference.seen) is None
    assert first_difference(workers.seen, Drive(many(case, 2, SAME_STEP), 60, 1, illegal=0.02).seen) is None


@each_game
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_policy_object_as_opponent_reaches_workers__B52(case):
    policy = make_policy("heuristic", game_of(case))
    make = partial(one, case, policy)
    env = AsyncVectorEnv([make] * 2, context="fork")
    try:
        workers = Drive(env, 40, 1)
    finally:
        env.close(timeout=10)
    assert first_difference(workers.seen, Drive(many(case, 2, opponents=policy), 40, 1).seen) is None


# ------------------------------------------------------------------------------------------ other APIs, imports (B36)


@each_game
@pytest.mark.parametrize("policy", ["MlpPolicy", "MultiInputPolicy"])
def test_vector_env_given_to_sb3_is_an_error_that_names_our_adapter__B36(case, policy):
    from sb3_contrib import MaskablePPO
    from stable_baselines3 import A2C, DQN, PPO

    for learner in (PPO, A2C, DQN, MaskablePPO):
        with pytest.raises(ValueError, match=r"GymVectorEnv.* use llama_envs\.adapters\.sb3\.SB3VecEnv\), not a Gymn"):
            learner(policy, many(case, 4))


@each_game
def test_class_of_the_vector_env_is_ordinary_but_for_its_text(case):
    assert repr(GymVectorEnv) == "<class 'llama_envs.adapters.gym_vector.GymVectorEnv'>"
    assert pickled(GymVectorEnv) is GymVectorEnv
    assert str(many(case, 4)) == f"GymVectorEnv({gym_id(case)}, num_envs=4)"


def test_import_brings_no_learner_no_compiler_and_no_window():
    heavy = ("torch", "stable_baselines3", "sb3_contrib", "numba", "pygame", "PIL", "matplotlib", "pandas", "agents")
    code = f"import sys, llama_envs; print([name for name in {heavy!r} if name in sys.modules])"
    assert run_python(code) == "[]"


@each_game
def test_make_works_in_a_fresh_interpreter_and_brings_no_learner(case):
    code = f"""
import sys
import gymnasium
import llama_envs
env = gymnasium.make({gym_id(case)!r})
envs = gymnasium.make_vec({gym_id(case)!r}, num_envs=4)
observation, info = env.reset(seed=3)
env.step(int(info["action_mask"].argmax()))
print(observation["observation"].tolist() == envs.reset(seed=3)[0]["observation"][0].tolist())
env = gymnasium.make({gym_id(case)!r}, opponents=["heuristic", "baseline"])
env.reset(seed=3)
print([name for name in ("torch", "stable_baselines3", "pygame", "agents") if name in sys.modules])
"""
    assert run_python(code).splitlines() == ["True", "[]"]


@each_game
def test_make_imports_the_package_that_its_id_names(case):
    code = "import gymnasium, sys; print(gymnasium.make(sys.argv[1]).reset(seed=1)[1]['seat'] >= 0)"
    assert run_python(code, f"llama_envs:{gym_id(case)}") == "True"


@each_game
def test_an_opponent_that_nobody_knows_is_named_with_those_that_are_known(case):
    with pytest.raises(ValueError, match=r"^unknown policy 'nobody'; known are .*heuristic.*package\.module:Name"):
        gymnasium.make(gym_id(case), opponents="nobody")
