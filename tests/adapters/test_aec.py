"""PettingZoo's AEC and Parallel environments (known faults B01, B06, B08-B12, B18, B21, B22, B25, B26, B43, B49)."""

from __future__ import annotations

import copy
import gc
import hashlib
import pickle
import random
import tracemalloc
import warnings
from functools import partial
from pathlib import Path

import cloudpickle
import numpy as np
import pettingzoo
import pytest
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

import llama_envs  # noqa: F401  (registers the ids)
from llama_envs.core.batch import policy_streams, resampled
from llama_envs.core.errors import IllegalAction, ResetNeeded
from llama_envs.core.registry import spec_of
from tests.cases import CASES, api, each_game, each_truncating, every_case, fields, new_batch, run_python

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # PettingZoo's test package imports its own deprecated names
    from pettingzoo.test import api_test, parallel_api_test, render_test, seed_test, state_test
    from pettingzoo.test.seed_test import check_environment_deterministic, parallel_seed_test

KINDS = ("raw_env", "env")
each_kind = pytest.mark.parametrize("kind", KINDS)

# Every environment whose observation is a Dict gets these two from PettingZoo's api_test, its own card games by name
# excepted; nothing else is let through.
dict_observation_warnings = [
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be:UserWarning"),
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array:UserWarning"),
]


def allow_dict_observations(test):
    for mark in dict_observation_warnings:
        test = mark(test)
    return test


@pytest.fixture(autouse=True)
def headless(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("PYGAME_HIDE_SUPPORT_PROMPT", "1")


def make(case, kind="raw_env", **more):
    return getattr(api(case), kind)(**case[1], **more)


def batch_of(env):
    return env.unwrapped._batch


def content(env):
    """All that the environment holds of its game, as bytes, and what it tells its agents."""
    batch = batch_of(env)
    hidden = fields(batch.state), batch.streams.tobytes(), batch.episode.tobytes(), batch.action_mask.tobytes()
    open_ = env.agents, env.agent_selection, env.rewards, env.terminations, env.truncations, env.infos
    return hidden, copy.deepcopy(open_), dict(env.unwrapped._cumulative_rewards)


def any_legal(rng, mask):
    return int(rng.choice(np.flatnonzero(mask)))


def together(env, choose):
    """An action for every agent of a Parallel environment: ``choose(mask)`` where it decides, 0 elsewhere."""
    masks = [batch_of(env).mask(seat)[0] for seat in range(env.game.num_players)]
    return {agent: choose(mask) if mask.any() else 0 for agent, mask in zip(env.agents, masks, strict=True)}


def last_legal(mask):
    return int(np.flatnonzero(mask)[-1])


def frames(env, seed, limit=10_000):
    """Play random actions to the end: one tuple per turn, dead ones included."""
    rng = np.random.default_rng(seed)
    for agent in env.agent_iter(limit):
        observation, reward, terminated, truncated, info = env.last()
        action = None if terminated or truncated else any_legal(rng, observation["action_mask"])
        seen = observation["observation"].tobytes(), observation["action_mask"].tobytes()
        yield agent, *seen, reward, terminated, truncated, str(info), action
        env.step(action)


def middle_of(case, kind="raw_env", turns=12, seed=3, **more):
    """An environment in the middle of a game."""
    env = make(case, kind, **more)
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    for _ in range(turns):
        while not env.agents or env.terminations[env.agent_selection] or env.truncations[env.agent_selection]:
            env.reset()
        env.step(any_legal(rng, env.observe(env.agent_selection)["action_mask"]))
    while env.terminations[env.agent_selection] or env.truncations[env.agent_selection]:
        env.reset()
    return env


# --------------------------------------------------------------------------------------------------- PettingZoo's tests


@every_case
@each_kind
@allow_dict_observations
def test_passes_pettingzoos_api_test(case, kind):
    api_test(make(case, kind), num_cycles=200)


@every_case
@each_kind
def test_passes_pettingzoos_seed_test__B18(case, kind):
    seed_test(lambda: make(case, kind), num_cycles=200)


@every_case
def test_seed_test_can_fail(case):
    first, second = make(case), make(case)
    second.reset = lambda seed, reset=second.reset: reset(seed=seed + 1)
    with pytest.raises(AssertionError):
        check_environment_deterministic(first, second, 200)


@every_case
def test_passes_pettingzoos_parallel_api_test(case):
    parallel_api_test(make(case, "parallel_env"), num_cycles=200)


@every_case
def test_passes_pettingzoos_state_test(case):
    # it samples without the mask: only the wrapped environment, for which an illegal action is an end, can take part
    state_test(make(case, "env"), make(case, "parallel_env"))


@each_game
def test_passes_pettingzoos_render_test__B49(case):
    render_test(lambda render_mode: make(case, "env", render_mode=render_mode))


FRESH = """
import sys, pettingzoo
import llama_envs
from llama_envs.core.registry import spec_of
for name, config in eval(sys.argv[1]):
    env = pettingzoo.make("aec", spec_of(name).pettingzoo_id, **config)
    env.reset(seed=5)
    parallel = pettingzoo.make("parallel", spec_of(name).pettingzoo_id, **config)
    views, _ = parallel.reset(seed=5)
    print(env.unwrapped.game.id, env.metadata["name"], type(env).__name__, env.num_agents, len(views))
"""


def test_pettingzoo_makes_every_game_by_its_id_in_a_fresh_interpreter():
    cases = [case.values[0] for case in CASES]
    players = [config["num_players"] for _, config in cases]
    ids = [spec_of(name).id for name, _ in cases]
    expected = [f"{i} {i} OrderEnforcingWrapper {n} {n}" for i, n in zip(ids, players, strict=True)]
    assert run_python(FRESH, repr(cases)).splitlines() == expected


@each_game
def test_pettingzoo_makes_it_by_its_id_here(case):
    env = pettingzoo.make("aec", spec_of(case[0]).pettingzoo_id, **case[1])
    assert isinstance(env, OrderEnforcingWrapper)
    assert env.unwrapped.game is make(case).game


# ------------------------------------------------------------------------------------------ one game, whatever the API


@every_case
@pytest.mark.parametrize("seed", [0, 1, 2**63])
def test_raw_wrapped_parallel_and_batch_play_the_same_game_for_a_seed(case, seed):
    raw, wrapped, parallel = (make(case, kind) for kind in ("raw_env", "env", "parallel_env"))
    batch = new_batch(case, 1, [seed])
    int_seeded = new_batch(case, 3, seed)
    raw.reset(seed=seed)
    wrapped.reset(seed=seed)
    seen, _ = parallel.reset(seed=seed)
    assert fields(int_seeded.state[:1]) == fields(batch.state)
    rng = np.random.default_rng(1)
    over = False
    while not over:
        first = raw.agent_selection
        assert seen[first]["observation"].tobytes() == batch.observation[0].tobytes()
        assert (seen[first]["action_mask"] == batch.action_mask[0]).all()
        actions, paid = dict.fromkeys(parallel.agents, 0), np.zeros(batch.game.num_players)
        for _ in range(batch.game.num_players if batch.game.simultaneous else 1):  # a step of the Parallel environment
            agent = raw.agent_selection
            assert wrapped.agent_selection == agent == f"player_{batch.to_move[0]}"
            for view in (raw.observe(agent), wrapped.observe(agent)):
                assert view["observation"].tobytes() == batch.observation[0].tobytes()
                assert (view["action_mask"] == batch.action_mask[0]).all()
            actions[agent] = action = any_legal(rng, batch.action_mask[0])
            raw.step(action)
            wrapped.step(action)
            reward, terminated, truncated = batch.step([action])
            assert raw.rewards == wrapped.rewards == dict(zip(raw.agents, reward[0].tolist(), strict=True))
            assert {*raw.terminations.values()} == {*wrapped.terminations.values()} == {bool(terminated[0])}
            assert {*raw.truncations.values()} == {*wrapped.truncations.values()} == {bool(truncated[0])}
            paid += reward[0]
            over = bool(terminated[0] or truncated[0])
        seen, rewards, terminations, truncations, _ = parallel.step(actions)
        assert list(rewards.values()) == paid.tolist()
        assert {*terminations.values()} == {bool(terminated[0])}
        assert {*truncations.values()} == {bool(truncated[0])}
    assert parallel.agents == []
    for agent in raw.possible_agents:
        assert seen[agent]["observation"].tobytes() == raw.observe(agent)["observation"].tobytes()


# ------------------------------------------------------------------------------------------------------ K3: rewards


@every_case
def test_rewards_of_last_sum_to_rewards_of_steps_and_to_the_payoff_of_the_core__B08_B09(case):
    """170 games in each of the six configurations: 1,020."""
    env = make(case)
    for seed in range(170):
        env.reset(seed=seed)
        batch, rng = new_batch(case, 1, [seed]), np.random.default_rng(seed)
        by_last = dict.fromkeys(env.possible_agents, 0.0)
        by_steps = dict.fromkeys(env.possible_agents, 0.0)
        payoff = np.zeros(env.num_agents)
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, _ = env.last()
            by_last[agent] += reward
            if terminated or truncated:
                env.step(None)
                continue
            action = any_legal(rng, observation["action_mask"])
            env.step(action)
            payoff += batch.step([action])[0][0]
            for other, paid in env.rewards.items():
                by_steps[other] += paid
        assert list(by_last.values()) == pytest.approx(payoff.tolist(), abs=1e-9)
        assert by_steps == pytest.approx(by_last, abs=1e-9)
        assert sum(payoff) == pytest.approx(0, abs=1e-4)


@every_case
def test_winners_and_nobody_else_get_the_most__B10(case):
    env, finished = make(case), 0
    for seed in range(30):
        env.reset(seed=seed)
        paid = dict.fromkeys(env.possible_agents, 0.0)
        for frame in frames(env, seed):
            paid[frame[0]] += frame[3]
        state = batch_of(env).state
        if state["terminated"][0] and case[1].get("reward", "win") != "score":
            best = np.array([paid[agent] == max(paid.values()) for agent in env.possible_agents])
            total = state["total"][0]
            assert (best == (env.game.win_shares(state)[0] > 0)).all()
            assert total[best].mean() == (total.max() if env.game.most_points_win else total.min())
            finished += 1
    assert finished >= 20 or case[1].get("max_rounds") or case[1].get("reward") == "score"


# --------------------------------------------------------------------------------------------------- K4: turns (B12)


@every_case
def test_agents_never_change_until_the_game_ends_for_all_at_once__B12(case):
    env = make(case)
    for seed in range(5):
        env.reset(seed=seed)
        everybody = list(env.possible_agents)
        order = []
        for frame in frames(env, seed):
            if frame[4] or frame[5]:
                order.append(frame[0])
                assert frame[-1] is None
            else:
                assert env.agents == everybody
        assert sorted(order) == sorted(everybody)
        assert env.agents == []
        assert env.possible_agents == everybody


# ------------------------------------------------------------------------------------------- K2, K7: masks and spaces


@every_case
def test_selected_agent_has_a_legal_action_and_everyone_else_none__B06(case):
    env = make(case)
    for seed in range(15):
        env.reset(seed=seed)
        rng = np.random.default_rng(seed)
        for agent in env.agent_iter():
            over = env.terminations[agent] or env.truncations[agent]
            masks = {other: env.observe(other)["action_mask"] for other in env.possible_agents}
            assert not any(mask.any() for other, mask in masks.items() if over or other != agent)
            if not over:
                assert masks[agent].any()
                assert (masks[agent] == batch_of(env).action_mask[0]).all()
            env.step(None if over else any_legal(rng, masks[agent]))


@every_case
def test_observations_are_inside_their_space_for_everyone_at_every_step__B21(case):
    env = make(case)
    for seed in range(8):
        env.reset(seed=seed)
        for frame in frames(env, seed):
            for agent in env.possible_agents:
                view = env.observe(agent)
                assert env.observation_space(agent).contains(view)
                assert view["action_mask"].dtype == np.int8
                assert view["observation"].dtype == np.float32
            assert env.state_space.contains(env.state())
            assert (type(frame[3]), type(frame[4]), type(frame[5])) == (float, bool, bool)
            if frame[-1] is not None:
                assert {type(paid) for paid in env.rewards.values()} == {float}


@every_case
@pytest.mark.parametrize("kind", ["raw_env", "env", "parallel_env"])
def test_spaces_are_the_same_object_at_every_call_and_equal_for_all_agents__B21(case, kind):
    env = make(case, kind)
    first = env.possible_agents[0]
    for agent in env.possible_agents:
        assert env.observation_space(agent) is env.observation_space(agent)
        assert env.action_space(agent) is env.action_space(agent)
        assert env.observation_space(agent) == env.observation_space(first)
        assert env.action_space(agent) == env.action_space(first)
    assert env.action_space(first).n == env.unwrapped.game.num_actions
    assert env.observation_space(first)["observation"].shape == (env.unwrapped.game.observation.size,)


@every_case
def test_metadata_names_the_game_its_render_modes_and_that_masks_come_one_agent_at_a_time(case):
    env = make(case)
    assert env.metadata["name"] == f"{case[0]}_v0" == str(env.game.id)
    assert env.metadata["render_modes"] == ["human", "ansi", "rgb_array"]
    assert env.metadata["is_parallelizable"] is False
    assert env.possible_agents == [f"player_{i}" for i in range(env.game.num_players)]


@every_case
def test_state_is_all_observations_and_no_agent_gets_it(case):
    env = middle_of(case)
    views = [env.observe(agent)["observation"] for agent in env.possible_agents]
    assert env.state().tobytes() == np.concatenate(views).tobytes()
    assert env.state_space.shape == env.state().shape


ACTION_KINDS = {
    "int": int,
    "np.int8": np.int8,
    "np.int32": np.int32,
    "np.int64": np.int64,
    "np.uint8": np.uint8,
    "0-d array": lambda action: np.array(action),
    "0-d int8 array": lambda action: np.array(action, np.int8),
}


@every_case
@pytest.mark.parametrize("kind", ["raw_env", "env", "parallel_env"])
def test_an_action_of_any_integer_kind_is_the_same__B22(case, kind):
    after = set()
    for convert in ACTION_KINDS.values():
        env = make(case, kind)
        env.reset(seed=3)
        rng = np.random.default_rng(0)
        for _ in range(6):
            batch = batch_of(env)
            if batch.to_move[0] < 0:
                env.reset()
                batch = batch_of(env)
            if kind == "parallel_env":
                env.step(together(env, lambda mask, convert=convert, rng=rng: convert(any_legal(rng, mask))))
            else:
                env.step(convert(any_legal(rng, batch.action_mask[0])))
        after.add(fields(batch_of(env).state))
    assert len(after) == 1


NO_ACTIONS = {
    "1-element array": lambda a: np.array([a]),
    "2-element array": lambda a: np.array([a, a]),
    "float": float,
    "0-d float array": lambda a: np.array(float(a)),
    "True": lambda a: True,
    "np.True_": lambda a: np.True_,
    "0-d bool array": lambda a: np.array(True),
    "None": lambda a: None,
    "text": str,
    "list": lambda a: [a],
    "nan": lambda a: float("nan"),
    "-1": lambda a: -1,
    "n": lambda a: 1000,
    "huge": lambda a: 2**80,
    "np.int64 -1": lambda a: np.int64(-1),
    "0-d -1": lambda a: np.array(-1),
}


@every_case
@pytest.mark.parametrize("spoil", NO_ACTIONS.values(), ids=NO_ACTIONS)
def test_anything_else_is_refused_in_one_sentence_and_changes_nothing__B22(case, spoil):
    env = middle_of(case)
    legal = int(np.flatnonzero(batch_of(env).action_mask[0])[-1])
    before = content(env)
    with pytest.raises(
        ValueError, match=r"^(an action must be one integer from 0 to|action -?\d+ does not exist;).*\.$"
    ):
        env.step(spoil(legal))
    assert content(env) == before
    env.step(legal)
    assert content(env) != before


@every_case
def test_parallel_refuses_the_same_and_missing_actions_and_changes_nothing__B22(case):
    env = make(case, "parallel_env")
    env.reset(seed=3)
    before = fields(batch_of(env).state)
    for spoil in NO_ACTIONS.values():
        actions = together(env, lambda mask, spoil=spoil: spoil(last_legal(mask)))
        with pytest.raises(ValueError, match=r"^(an action must|action -?\d+ does not exist)"):
            env.step(actions)
        assert fields(batch_of(env).state) == before
    with pytest.raises(ValueError, match=r"^player_\d must act in this step"):
        env.step({})
    assert fields(batch_of(env).state) == before
    env.step(together(env, last_legal))


@every_case
def test_an_illegal_action_is_named_with_what_was_legal_and_changes_nothing(case):
    env = middle_of(case)
    game, mask = env.game, batch_of(env).action_mask[0]
    illegal = int(np.flatnonzero(~mask)[0])
    before = content(env)
    with pytest.raises(IllegalAction) as refused:
        env.step(illegal)
    assert content(env) == before
    message = str(refused.value)
    assert f"action {illegal} ({game.action_names[illegal]}) is not legal" in message
    assert env.agent_selection in message
    legal = message.split("legal are")[1]
    assert [f"{a} ({game.action_names[a]})" in legal for a in range(game.num_actions)] == mask.tolist()
    parallel = api(case).parallel_env(illegal_action="error", **case[1])
    parallel.reset(seed=3)
    mask, actions = batch_of(parallel).action_mask[0], together(parallel, last_legal)
    actions[f"player_{batch_of(parallel).to_move[0]}"] = int(np.flatnonzero(~mask)[0])
    before = fields(batch_of(parallel).state)
    with pytest.raises(IllegalAction, match=rf"^player_{batch_of(parallel).to_move[0]}: action \d+ .* is not legal"):
        parallel.step(actions)
    assert fields(batch_of(parallel).state) == before


@every_case
def test_an_illegal_action_in_a_parallel_step_loses_and_ends_the_game_for_all(case):
    parallel = make(case, "parallel_env")
    parallel.reset(seed=3)
    mover = f"player_{batch_of(parallel).to_move[0]}"
    actions = together(parallel, last_legal)
    actions[mover] = int(np.flatnonzero(~batch_of(parallel).action_mask[0])[0])
    before = fields(batch_of(parallel).state)
    observations, rewards, terminations, truncations, infos = parallel.step(actions)
    assert rewards == {agent: -1.0 if agent == mover else 0.0 for agent in parallel.possible_agents}
    assert all(terminations.values())
    assert not any(truncations.values())
    assert infos[mover] == {"illegal_action": True}
    assert not any(observation["action_mask"].any() for observation in observations.values())
    assert parallel.agents == []
    assert fields(batch_of(parallel).state) == before
    with pytest.raises(ResetNeeded):
        parallel.step(actions)


@each_game
def test_pettingzoos_parallel_seed_test_passes_with_its_unmasked_actions(case):
    parallel_seed_test(lambda: make(case, "parallel_env"))


@every_case
def test_an_illegal_action_loses_and_ends_the_wrapped_game_as_in_pettingzoos_own(case):
    env = middle_of(case, "env")
    agent = env.agent_selection
    env.step(int(np.flatnonzero(~batch_of(env).action_mask[0])[0]))
    assert env.rewards == {other: -1.0 if other == agent else 0 for other in env.possible_agents}
    assert all(env.terminations.values())
    for _ in env.agent_iter():
        env.step(None)
    assert env.agents == []


@every_case
def test_an_illegal_action_terminates_the_wrapped_game_truncates_nobody_and_leaves_no_mask__B14(case):
    env = middle_of(case, "env")
    loser = env.agent_selection
    env.step(int(np.flatnonzero(~batch_of(env).action_mask[0])[0]))
    assert set(env.terminations.values()) == {True}
    assert set(env.truncations.values()) == {False}
    for agent in env.possible_agents:
        assert not env.observe(agent)["action_mask"].any()
    paid = {}
    for agent in env.agent_iter():
        observation, paid[agent], terminated, truncated, _ = env.last()
        assert (terminated, truncated) == (True, False)
        assert not observation["action_mask"].any()
        env.step(None)
    assert paid[loser] == -1
    env.reset()
    assert set(env.terminations.values()) == {False}
    assert env.observe(env.agent_selection)["action_mask"].any()


# ---------------------------------------------------------------------------------------------------- errors, in order


@each_game
def test_wrapped_environment_before_reset_is_refused(case):
    env = make(case, "env", render_mode="ansi")
    for use in (lambda: env.step(0), lambda: env.observe("player_0"), env.state, env.render):
        with pytest.raises(Exception, match=r"reset\(\)"):
            use()


@each_game
def test_raw_environment_before_reset_says_so(case):
    env = make(case, render_mode="ansi")
    uses = (
        lambda: env.step(0), lambda: env.step("x"), lambda: env.observe("player_0"), env.state, env.render, env.last,
    )  # fmt: skip
    for use in uses:
        with pytest.raises(ResetNeeded, match=r"call reset\(\)"):
            use()
    env.close()


@each_game
@pytest.mark.parametrize("kind", ["raw_env", "env", "parallel_env"])
@pytest.mark.parametrize("option", ["num_players", "reset_mask"])
def test_an_option_that_reset_does_not_know_is_refused_and_the_game_goes_on(case, kind, option):
    env = make(case, kind)
    env.reset(seed=1, options={})
    before = fields(batch_of(env).state)
    with pytest.raises(ValueError, match=rf"^reset\(\) knows no option '{option}'; it knows none"):
        env.reset(seed=2, options={option: 2})
    assert fields(batch_of(env).state) == before


@every_case
def test_step_after_the_end_needs_a_reset(case):
    env = make(case)
    env.reset(seed=1)
    for _ in frames(env, 1):
        pass
    for action in (None, 0, "x"):
        with pytest.raises(ResetNeeded, match=r"call reset\(\)"):
            env.step(action)
    env.reset()
    assert env.agents == env.possible_agents
    parallel = make(case, "parallel_env")
    parallel.reset(seed=1)
    play_parallel(parallel, 1)
    with pytest.raises(ResetNeeded, match=r"call reset\(\)"):
        parallel.step({})
    parallel.reset()


@every_case
def test_a_dead_agent_takes_none_only(case):
    env = make(case)
    env.reset(seed=1)
    for frame in frames(env, 1):
        if frame[4] or frame[5]:
            break
    with pytest.raises(ValueError, match="None"):
        env.step(0)
    env.step(None)


@each_game
@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"render_mode": "video"}, "render_mode"),
        ({"render_mode": 5}, "render_mode"),
        ({"render_seat": -1}, "render_seat"),
        ({"render_seat": 99}, "render_seat"),
        ({"render_seat": "0"}, "render_seat"),
        ({"num_player": 3}, "num_player"),
        ({"num_players": 1}, "num_players"),
        ({"num_players": "4"}, "num_players"),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", ["raw_env", "env", "parallel_env"])
def test_wrong_options_are_refused_in_one_sentence_that_names_the_field(case, kind, options, field):
    with pytest.raises(ValueError, match=field) as refused:
        getattr(api(case), kind)(**options)
    assert str(refused.value).count(".") >= 1
    assert "\n" not in str(refused.value)


@each_game
@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "1", True, [1]], ids=repr)
@pytest.mark.parametrize("kind", ["raw_env", "parallel_env"])
def test_a_wrong_seed_is_refused_and_the_game_goes_on(case, kind, seed):
    env = make(case, kind)
    env.reset(seed=3)
    before = fields(batch_of(env).state)
    with pytest.raises(ValueError, match=r"^seed must be an integer in \[0, 2\*\*64\), got "):
        env.reset(seed=seed)
    assert fields(batch_of(env).state) == before


# ---------------------------------------------------------------------------------------------------------- K6: seeds


def digest(env, seed=None, games=2):
    """A hash over all that ``games`` games show, the first of ``seed``."""
    seen = hashlib.sha256()
    for game in range(games):
        env.reset(seed=seed if game == 0 else None)
        for frame in frames(env, game):
            seen.update(repr(frame).encode())
    return seen.hexdigest()


@every_case
@each_kind
def test_a_seed_gives_the_same_games_and_no_global_generator_matters__B18(case, kind):
    expected = digest(make(case, kind), 7)
    np.random.seed(1)
    random.seed(1)
    env = make(case, kind)
    env.reset()
    assert digest(env, 7) == expected
    assert digest(make(case, kind), 8) != expected
    before = np.random.get_state()[1].tobytes(), random.getstate()
    digest(make(case, kind))
    assert (np.random.get_state()[1].tobytes(), random.getstate()) == before


@every_case
def test_reset_without_a_seed_deals_another_game_and_keeps_the_configuration__B18(case):
    env = make(case)
    env.reset(seed=7)
    first = fields(batch_of(env).state)
    env.reset()
    second = fields(batch_of(env).state)
    game = env.game
    env.reset(seed=7)
    assert fields(batch_of(env).state) == first
    env.reset()
    assert fields(batch_of(env).state) == second
    assert first != second
    assert env.game is game
    assert game.config == type(game.config)(**case[1])


@every_case
def test_environments_without_a_seed_are_different_games__B18(case):
    deals = set()
    for _ in range(20):
        env = make(case)
        env.reset()
        deals.add(fields(batch_of(env).state))
    assert len(deals) > 3


@every_case
def test_interleaved_environments_play_as_if_alone__B18(case):
    alone = []
    for seed in (1, 2):
        env = make(case)
        env.reset(seed=seed)
        alone.append(list(frames(env, seed)))
    envs = make(case), make(case)
    for env, seed in zip(envs, (1, 2), strict=True):
        env.reset(seed=seed)
    plays = [frames(env, seed) for env, seed in zip(envs, (1, 2), strict=True)]
    together: list[list] = [[], []]
    for _ in range(max(map(len, alone))):
        for play, seen in zip(plays, together, strict=True):
            seen += [frame for frame in [next(play, None)] if frame is not None]
    assert together == alone


DIGEST = """
import sys
sys.path.insert(0, "tests/adapters")
from test_aec import digest, make
print(digest(make(eval(sys.argv[1])), 7))
"""


@each_game
@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_fresh_process_and_hash_seed_change_nothing__B18(case, hash_seed):
    assert run_python(DIGEST, repr(case), PYTHONHASHSEED=hash_seed) == digest(make(case), 7)


# ------------------------------------------------------------------------------------------------- K8: copies, buffers

COPIES = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "cloudpickle": lambda env: pickle.loads(cloudpickle.dumps(env)),
}


@every_case
@pytest.mark.parametrize("kind", ["raw_env", "env", "parallel_env"])
@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_a_copy_in_mid_game_has_the_same_present_and_future_and_its_own_memory__B25(case, kind, copied):
    for seed in range(4):
        env = make(case, kind)
        env.reset(seed=seed)
        rng = np.random.default_rng(seed)
        for _ in range(3 * seed):
            if batch_of(env).to_move[0] >= 0:
                choose = partial(any_legal, rng)
                env.step(together(env, choose) if kind == "parallel_env" else choose(batch_of(env).action_mask[0]))
        if batch_of(env).to_move[0] < 0:
            env.reset()
        twin = copied(env)
        assert batch_of(twin) is not batch_of(env)
        play = play_parallel if kind == "parallel_env" else lambda e, s: [*frames(e, s), *second_game(e, s)]
        if kind != "parallel_env":
            assert content(twin) == content(env)
        before = fields(batch_of(env).state)
        ahead = play(twin, 5)
        assert fields(batch_of(env).state) == before
        after = fields(batch_of(twin).state)
        assert play(env, 5) == ahead
        assert fields(batch_of(twin).state) == after


def second_game(env, seed):
    env.reset()
    return frames(env, seed)


def play_parallel(env, seed):
    """Random actions to the end; what every step showed, as text."""
    rng, seen = np.random.default_rng(seed), []
    while env.agents:
        observations, *rest = env.step(together(env, partial(any_legal, rng)))
        seen.append((b"".join(view["observation"].tobytes() for view in observations.values()), repr(rest)))
    return seen


@each_game
@each_kind
@pytest.mark.parametrize("mode", ["human", "ansi", "rgb_array"])
@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_a_copy_after_a_render_plays_and_renders_on__B25(case, kind, mode, copied):
    env = middle_of(case, kind, render_mode=mode)
    frame = env.render()
    twin = copied(env)
    assert content(twin) == content(env)
    assert np.array_equal(twin.render(), frame) if mode == "rgb_array" else twin.render() == frame
    env.close()
    twin.close()


@every_case
def test_what_was_returned_never_changes_later_and_is_shared_with_nothing__B26(case):
    env = make(case)
    env.reset(seed=3)
    kept, arrays = [], []
    for _ in range(200):
        if not env.agents:
            env.reset()
        agent = env.agent_selection
        views = [env.observe(other) for other in env.possible_agents]
        kept += [(array, array.tobytes()) for view in views for array in view.values()]
        kept.append((env.state(), env.state().tobytes()))
        arrays = [array for view in views for array in view.values()]
        owned = [value for value in vars(batch_of(env)).values() if isinstance(value, np.ndarray)]
        for i, array in enumerate(arrays):
            assert not any(np.shares_memory(array, other) for other in arrays[:i] + owned)
        dead = env.terminations[agent] or env.truncations[agent]
        env.step(None if dead else int(np.flatnonzero(env.observe(agent)["action_mask"])[-1]))
    assert all(array.tobytes() == then for array, then in kept)


@every_case
def test_what_is_done_to_returned_objects_does_not_reach_the_game__B26(case):
    def vandalise(env):
        for agent in env.possible_agents:
            for array in env.observe(agent).values():
                array.fill(1)
        env.state().fill(1)
        for info in env.infos.values():
            info["hands"] = "all"
        batch_of(env).observe(0).fill(1)

    env, twin = make(case), make(case)
    env.reset(seed=3)
    twin.reset(seed=3)
    rng = np.random.default_rng(0)
    for _ in range(60):
        if not env.agents or env.terminations[env.agent_selection] or env.truncations[env.agent_selection]:
            env.reset()
            twin.reset()
        vandalise(env)
        assert env.agent_selection == twin.agent_selection
        for agent in env.possible_agents:
            assert env.observe(agent)["observation"].tobytes() == twin.observe(agent)["observation"].tobytes()
            assert env.observe(agent)["action_mask"].tobytes() == twin.observe(agent)["action_mask"].tobytes()
        action = any_legal(rng, batch_of(twin).action_mask[0])
        env.rewards["player_0"] += 100
        env.step(action)
        twin.step(action)
        assert env.rewards == twin.rewards
        assert fields(batch_of(env).state) == fields(batch_of(twin).state)


# ---------------------------------------------------------------------------------------- K1: nothing hidden comes out


@every_case
@pytest.mark.parametrize("kind", ["raw_env", "env"])
def test_two_games_that_differ_in_what_an_agent_cannot_know_look_the_same_to_it__B01(case, kind):
    changed = 0
    for turns in range(0, 36, 4):
        env = middle_of(case, kind, turns, seed=turns, render_mode="ansi")
        for seat, agent in enumerate(env.possible_agents):
            twin = copy.deepcopy(env)
            batch = batch_of(twin)
            batch.state[:] = resampled(env.unwrapped.game, batch.state, np.array([seat]), policy_streams(1, turns), 1)[
                0
            ]
            batch.refresh()
            changed += fields(batch.state) != fields(batch_of(env).state)
            mine, other = env.observe(agent), twin.observe(agent)
            assert mine["observation"].tobytes() == other["observation"].tobytes()
            assert mine["action_mask"].tobytes() == other["action_mask"].tobytes()
            assert env.infos[agent] == twin.infos[agent]
            if env.agent_selection == agent:
                assert env.render() == twin.render()
                assert env.last()[1:] == twin.last()[1:]
            else:
                assert env.agent_selection == twin.agent_selection
    assert changed > 3


@every_case
def test_infos_are_empty_and_apart_for_every_agent_at_every_step__B01(case):
    env = make(case)
    env.reset(seed=1)
    assert len({id(info) for info in env.infos.values()}) == env.num_agents
    for frame in frames(env, 1):
        assert frame[6] == "{}"
        assert all(info == {} for info in env.infos.values())


@every_case
def test_no_public_attribute_of_the_environment_holds_the_deal__B01(case):
    env = middle_of(case, "env")
    public = {name: getattr(env, name) for name in dir(env) if not name.startswith("_")}
    assert not any(isinstance(value, np.ndarray) for value in public.values())


# ---------------------------------------------------------------------------------------------------- K5: the end (B16)


@each_truncating
def test_a_game_cut_by_its_limit_is_truncated_for_all_and_not_terminated__B16(case):
    for kind in ("raw_env", "env"):
        env = make(case, kind)
        ends = set()
        for seed in range(20):
            env.reset(seed=seed)
            for frame in frames(env, seed):
                if frame[4] or frame[5]:
                    ends.add((frame[4], frame[5]))
                    assert len({*env.truncations.values()}) == 1
        assert (False, True) in ends
        assert (True, True) not in ends


# ------------------------------------------------------------------------------------------------- K14: rendering (B49)


@every_case
def test_each_mode_returns_what_it_says__B49(case):
    text = middle_of(case, render_mode="ansi").render()
    assert isinstance(text, str)
    assert len(text.strip().splitlines()) > 2
    frame = middle_of(case, render_mode="rgb_array").render()
    assert frame.dtype == np.uint8
    assert frame.ndim == 3
    assert frame.shape[2] == 3
    assert len(np.unique(frame @ np.array([65536, 256, 1]))) > 10  # colours
    env = middle_of(case, render_mode="human")
    assert env.render() is None
    env.close()
    env.close()


@every_case
def test_frames_differ_after_a_move_and_earlier_ones_stay_as_they_were__B49(case):
    env = middle_of(case, render_mode="rgb_array")
    first = env.render()
    kept = first.copy()
    env.step(int(np.flatnonzero(batch_of(env).action_mask[0])[-1]))
    second = env.render()
    assert (second != first).any()
    first[:] = 0
    assert (env.render() == second).all()
    assert (kept != 0).any()


@each_game
def test_rendering_without_a_mode_warns_and_draws_nothing__B49(case):
    env = middle_of(case)
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


@every_case
@pytest.mark.parametrize("mode", ["ansi", "rgb_array", "human"])
def test_rendering_changes_nothing_in_the_game__B49(case, mode):
    env = make(case, render_mode=mode)
    plain = make(case)
    env.reset(seed=3)
    plain.reset(seed=3)
    shown = []
    for frame, expected in zip(frames(env, 1), frames(plain, 1), strict=True):
        if len(shown) < 15:
            shown.append(env.render())
        assert frame == expected
    env.close()


@each_game
def test_a_finished_game_and_one_whose_agents_are_gone_can_be_rendered__B49(case):
    for mode in ("ansi", "rgb_array"):
        env = make(case, render_mode=mode)
        env.reset(seed=1)
        for frame in frames(env, 1):
            if frame[4] or frame[5]:
                assert env.render() is not None
        assert env.agents == []
        assert env.render() is not None


@each_game
def test_1000_renders_take_no_more_memory_and_leave_no_open_file__B49(case):
    env = middle_of(case, render_mode="ansi")
    picture = middle_of(case, render_mode="rgb_array")
    for _ in range(3):
        env.render()
        picture.render()
    descriptors = Path("/proc/self/fd")
    open_before = len(list(descriptors.iterdir())) if descriptors.exists() else 0
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for i in range(1000):
            env.render()
            if i % 40 == 0:
                picture.render()
        env.close()
        picture.close()
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - before < 200_000
    finally:
        tracemalloc.stop()
    assert not descriptors.exists() or len(list(descriptors.iterdir())) <= open_before


@each_game
@pytest.mark.parametrize("kind", ["raw_env", "env", "parallel_env"])
def test_closing_twice_or_before_a_reset_is_fine__B49(case, kind):
    env = make(case, kind)
    env.close()
    env.reset(seed=1)
    env.close()
    env.close()


@each_game
def test_render_seat_and_reveal_choose_whose_view_is_drawn(case):
    fixed = middle_of(case, render_mode="ansi", render_seat=0).render()
    follows = middle_of(case, render_mode="ansi")
    follows_text = follows.render()
    revealed = middle_of(case, render_mode="ansi", reveal=True).render()
    assert (fixed == follows_text) == (follows.agent_selection == "player_0")
    assert revealed not in (fixed, follows_text)
