"""Everything pickles and copies, and plays in worker processes as it does here (known faults B25, B52)."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import cloudpickle
import gymnasium
import joblib
import numpy as np
import pytest
import supersuit
import torch
from gymnasium.vector import AsyncVectorEnv
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

import llama_envs  # noqa: F401  (registers the ids)
from llama_envs.core.batch import policy_streams
from llama_envs.core.errors import IllegalAction
from llama_envs.core.registry import spec_of
from tests.cases import FIRST_CASES, api, each_game, everything, new_batch, play, play_in_worker

METHODS = ("fork", "forkserver", "spawn")
SEEDS = (1, 2, 3)
WORKERS = 2

# PyTorch and numba have threads here, which a forked child has not; the kernels use none
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")

every_method = pytest.mark.parametrize("method", METHODS)
FIRST = [case.values[0] for case in FIRST_CASES]
TASKS = [(case, seed) for case in FIRST for seed in SEEDS]

# a fresh interpreter takes seconds to import everything: the games take turns there
method_and_case = pytest.mark.parametrize(
    ("method", "case"),
    [("fork", case) for case in FIRST] + [("forkserver", FIRST[0]), ("spawn", FIRST[-1])],
    ids=lambda value: value if isinstance(value, str) else value[0],
)


@pytest.fixture(autouse=True)
def warm():
    """The parent has run every kernel."""
    for case in FIRST:
        play(new_batch(case, 4, 0, autoreset=True), 20, policy_streams(4, 0))


@pytest.fixture(scope="module")
def serial():
    return [play_in_worker(case, seed) for case, seed in TASKS]


def gym_env(case):
    """A function that makes the game's Gymnasium environment; it imports what it needs, as a fresh process must."""
    return partial(gymnasium.make, f"llama_envs:{spec_of(case[0]).gymnasium_id}", **case[1])


def choose(masks, rng):
    return np.array([rng.choice(np.flatnonzero(mask)) if mask.any() else 0 for mask in masks])


# ------------------------------------------------------------------------------------------------------ copies (K8)

COPIES = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
    "cloudpickle": lambda thing: pickle.loads(cloudpickle.dumps(thing)),
}
each_copy = pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)


@each_game
@each_copy
def test_game_batch_and_environments_survive_a_copy_together__B25(case, copied):
    """One object that holds them all, as a checkpoint does: the game stays the same object, the rest is apart."""
    batch, raw = new_batch(case, 5, 1), api(case).raw_env(**case[1])
    env, parallel = api(case).env(**case[1]), api(case).parallel_env(**case[1])
    for each in (raw, env, parallel):
        each.reset(seed=2)
    raw.step(int(np.flatnonzero(raw.observe(raw.agent_selection)["action_mask"])[0]))
    things = {"game": batch.game, "batch": batch, "raw": raw, "env": env, "parallel": parallel}
    twins = copied(things)
    assert twins["game"] is batch.game
    assert everything(twins["batch"]) == everything(batch)
    for name in ("raw", "env", "parallel"):
        ours, theirs = things[name].unwrapped._batch, twins[name].unwrapped._batch
        assert theirs is not ours
        assert everything(theirs) == everything(ours)
        before = everything(ours)
        theirs.step(theirs.sample_actions(policy_streams(1, 3)))
        assert everything(ours) == before


# --------------------------------------------------------------------------------------------------- processes (K15)


def gymnasium_trace(env, steps=60):
    seen = []
    observation, _ = env.reset(seed=5)
    rng = np.random.default_rng(0)
    for _ in range(steps):
        observation, reward, terminated, truncated, _ = env.step(choose(observation["action_mask"], rng))
        arrays = (*observation.values(), reward, terminated, truncated)
        seen.append(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays))
    env.close()
    return seen


def sb3_trace(env, steps=60):
    seen = []
    env.seed(5)
    observation = env.reset()
    rng = np.random.default_rng(0)
    for _ in range(steps):
        observation, reward, done, infos = env.step(choose(observation["action_mask"], rng))
        last = [
            info["terminal_observation"]["observation"].tobytes()
            for info, over in zip(infos, done, strict=True)
            if over
        ]
        parts = (observation[key] for key in sorted(observation))  # the two differ in order and in a dtype
        reward = reward.astype(np.float32)
        seen.append((*(array.tobytes() for array in (*parts, reward, done)), *last))
    env.close()
    return seen


@method_and_case
def test_sb3_subproc_vec_env_plays_as_the_serial_one__B52(method, case):
    makers = [gym_env(case)] * WORKERS
    assert sb3_trace(SubprocVecEnv(makers, start_method=method)) == sb3_trace(DummyVecEnv(makers))


@each_game
def test_supersuit_on_two_processes_plays_as_on_one(case):
    single = supersuit.pettingzoo_env_to_vec_env_v1(api(case).parallel_env(**case[1]))
    traces = []
    for num_cpus in (0, WORKERS):
        env = supersuit.concat_vec_envs_v1(single, WORKERS, num_cpus=num_cpus)
        traces.append(gymnasium_trace(env))
    assert traces[0] == traces[1]


@every_method
def test_a_process_pool_plays_as_the_parent__B52(method, serial):
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(WORKERS, mp_context=context) as pool:
        assert list(pool.map(play_in_worker, *zip(*TASKS, strict=True), timeout=120)) == serial


def test_joblib_workers_play_as_the_parent__B52(serial):
    jobs = [joblib.delayed(play_in_worker)(case, seed) for case, seed in TASKS]
    assert joblib.Parallel(n_jobs=WORKERS, backend="threading")(jobs) == serial  # kernels release the GIL
    assert joblib.Parallel(n_jobs=WORKERS)(jobs) == serial


class Deals(torch.utils.data.Dataset):
    """Item i is what a random game of a warm, shared batch shows."""

    def __init__(self):
        self.batches = [new_batch(case, 3, 1, autoreset=True) for case in FIRST]

    def __len__(self):
        return 6

    def __getitem__(self, i):
        batch = self.batches[i % len(self.batches)].clone()
        batch.reset(seed=i)
        return play(batch, 30, policy_streams(3, i)).digest()


@every_method
def test_dataloader_workers_play_as_the_parent__B52(method):
    deals = Deals()
    loader = torch.utils.data.DataLoader(
        deals, batch_size=None, num_workers=WORKERS, multiprocessing_context=method, timeout=120
    )
    assert list(loader) == [deals[i] for i in range(len(deals))]


# ---------------------------------------------------------------------------------------------------------- errors


def play_illegally(case):
    batch = new_batch(case, 2, 0)
    batch.step(np.argmin(batch.action_mask, axis=1))


@every_method
def test_an_error_in_a_pool_worker_reaches_the_parent_as_itself__B52(method):
    case = TASKS[0][0]
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        with pytest.raises(IllegalAction, match=r"is not legal; legal are .*no game has moved"):
            pool.submit(play_illegally, case).result(timeout=120)
        with pytest.raises(ValueError, match=r"^seed must be an integer"):
            pool.submit(play_in_worker, case, -1).result(timeout=120)


def test_an_error_in_a_joblib_worker_reaches_the_parent_as_itself__B52():
    with pytest.raises(IllegalAction, match=r"is not legal; legal are"):
        joblib.Parallel(n_jobs=WORKERS)(joblib.delayed(play_illegally)(case) for case, _ in TASKS[:2])


@each_game
@pytest.mark.filterwarnings("ignore:.*ERROR:UserWarning")  # Gymnasium's log of it
def test_an_error_in_a_gymnasium_worker_reaches_the_parent_as_itself__B52(case):
    env = AsyncVectorEnv([partial(gym_env(case), illegal_action="error")] * WORKERS)
    observation, _ = env.reset(seed=0)
    with pytest.raises(IllegalAction, match=r"is not legal; legal are"):
        env.step(np.argmin(observation["action_mask"], axis=1))
    env.close(terminate=True)


@each_game
def test_sb3_subproc_vec_env_says_at_once_that_a_worker_is_gone_and_shows_its_error__B52(case, capfd):
    """Stable-Baselines3 sends no error across; the worker prints it and ends."""
    env = SubprocVecEnv([partial(gym_env(case), illegal_action="error")] * WORKERS, start_method="fork")
    observation = env.reset()
    with pytest.raises((EOFError, ConnectionResetError)):
        env.step(np.argmin(observation["action_mask"], axis=1))
    for process in env.processes:
        process.join(10)
        assert process.exitcode == 1
    assert "IllegalAction" in capfd.readouterr().err
