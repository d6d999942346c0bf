"""``ppo:PATH``: a saved model plays as it was trained, and a file that does not fit says so (known faults B04, B29)."""

from __future__ import annotations

import io
import json
import os
import pickle
import zipfile

import numpy as np
import pytest
import torch
from tests.cases import ROOMS, each_game, every_case, middle, new_batch, run_python
from sb3_contrib import MaskablePPO
from scipy import stats

import agents  # noqa: F401  (registers ppo)
from agents.ppo import ENTRY, PPOPolicy, describe, load_ppo, probabilities, read_model, sample_masked
from llama_envs.adapters.sb3 import SB3VecEnv
from llama_envs.core.batch import policy_streams
from llama_envs.policies.policy import View, make_policy

LAYERS = {"pi": [24, 16], "vf": [8]}
ROOM = (ROOMS[0].door, {"num_players": 3})


def train(case, layers=LAYERS, steps=256):
    """A small model, trained a little so that its choices are no longer near uniform."""
    torch.set_num_threads(1)
    env = SB3VecEnv(case[0].removesuffix("_v0"), 16, seed=1, **case[1])
    model = MaskablePPO(
        "MlpPolicy", env, n_steps=16, batch_size=64, n_epochs=8, learning_rate=3e-2, seed=0, device="cpu",
        policy_kwargs={"net_arch": layers},
    )  # fmt: skip
    model.learn(steps)
    model.llama_envs = describe(env.game, layers)
    return model


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A model for three-player L.L.A.M.A. and its file."""
    model = train(ROOM)
    path = tmp_path_factory.mktemp("model") / "model.zip"
    model.save(path)
    return model, path


def views(case, num_games=400):
    """What seats to move see at many points: a view without a policy's needs."""
    batch = middle(case, num_games)
    return View(
        batch.game, batch.observation.copy(), batch.action_mask.copy(), batch.to_move.astype(np.int64),
        policy_streams(num_games, 5),
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------------- playing


@every_case
def test_a_saved_model_plays_the_greedy_actions_of_the_model__B04(case, tmp_path):
    model = train(case)
    model.save(tmp_path / "model.zip")
    view = views(case)
    expected, _ = model.predict(view.observation, deterministic=True, action_masks=view.mask)
    policy = make_policy(f"ppo:{tmp_path / 'model.zip'}", view.game)
    actions = policy.act(view)
    assert actions.dtype == np.int64
    assert (actions == expected).all()
    assert view.mask[np.arange(len(view)), actions].all()
    assert len(set(actions.tolist())) > 2


@pytest.mark.parametrize(
    "layers", [{"pi": [], "vf": []}, {"pi": [8], "vf": [8]}, {"pi": [8, 9, 10], "vf": []}], ids=str
)
def test_any_depth_of_network_opens(layers, tmp_path):
    model = train(ROOM, layers)
    model.save(tmp_path / "model.zip")
    view = views(ROOM)
    expected, _ = model.predict(view.observation, deterministic=True, action_masks=view.mask)
    assert (load_ppo(tmp_path / "model.zip", view.game).act(view) == expected).all()


def test_probabilities_are_those_of_the_models_distribution(saved):
    model, path = saved
    view = views(ROOM)
    with torch.no_grad():
        expected = model.policy.get_distribution(
            torch.from_numpy(view.observation), view.mask
        ).distribution.probs.numpy()
        logits = load_ppo(path, view.game).network(torch.from_numpy(view.observation)).numpy()
    given = probabilities(logits, view.mask)
    assert given == pytest.approx(expected, abs=1e-6)
    assert given.sum(axis=1) == pytest.approx(1)
    assert not given[~view.mask].any()


def test_sampling_follows_the_models_distribution_and_never_leaves_the_mask(saved):
    model, path = saved
    one = views(ROOM)
    row = int(one.mask.sum(axis=1).argmax())
    n = 40_000
    observation, mask = (np.repeat(array[[row]], n, axis=0) for array in (one.observation, one.mask))
    view = View(one.game, observation, mask, np.zeros(n, np.int64), policy_streams(n, 3))
    actions = make_policy(f"ppo_sample:{path}", one.game).act(view)
    with torch.no_grad():
        distribution = model.policy.get_distribution(torch.from_numpy(observation[:1]), mask[:1])
    expected = distribution.distribution.probs.numpy()[0].astype(np.float64) * n
    counts = np.bincount(actions, minlength=len(expected))
    assert not counts[~mask[0]].any()
    likely = expected > 5
    assert counts[~likely].sum() < 50
    assert (
        stats.chisquare(counts[likely], expected[likely] / expected[likely].sum() * counts[likely].sum()).pvalue > 0.001
    )


def test_sampling_is_fixed_by_the_view_and_its_streams(saved):
    _, path = saved
    policy = make_policy(f"ppo_sample:{path}", views(ROOM).game)
    first, again = policy.act(views(ROOM)), policy.act(views(ROOM))
    assert (first == again).all()
    other = views(ROOM)
    other.streams = policy_streams(len(other), 6)
    assert (policy.act(other) != first).any()


def test_sampling_stays_legal_with_extreme_logits():
    logits = np.array([[1e4, -1e4, 0, 80], [-1e4, -1e4, -1e4, 1e4], [0, 0, 0, 0]], np.float32).repeat(2000, axis=0)
    mask = np.array([[True, True, False, True], [True, True, True, False], [False, False, False, True]]).repeat(2000, 0)
    actions = np.empty(len(mask), np.int64)
    sample_masked(logits, mask, policy_streams(len(mask), 1), actions)
    assert mask[np.arange(len(mask)), actions].all()
    assert (actions[:2000] == 0).all()
    assert stats.chisquare(np.bincount(actions[2000:4000], minlength=3)).pvalue > 0.001
    assert (actions[4000:] == 3).all()


def test_greedy_never_picks_an_illegal_action_however_likely():
    game = new_batch(ROOM, 1, 0).game
    network = torch.nn.Linear(game.observation.size, game.num_actions)
    with torch.no_grad():
        network.bias += torch.linspace(1000, 0, game.num_actions)
    view = views(ROOM)
    assert view.mask[np.arange(len(view)), PPOPolicy(network).act(view)].all()


def test_a_row_is_played_the_same_alone(saved):
    _, path = saved
    view, policy = views(ROOM, 50), load_ppo(path, views(ROOM).game)
    together = policy.act(view)
    for i in range(50):
        alone = View(view.game, view.observation[[i]], view.mask[[i]], view.seat[[i]], view.streams[[i]])
        assert policy.act(alone)[0] == together[i]


FRESH = """
import sys, numpy
from llama_envs import lama_v0
from llama_envs.policies.policy import View, make_policy
import agents
stored = numpy.load(sys.argv[2])
game = lama_v0.batch(1, num_players=3).game
n = len(stored["mask"])
view = View(game, stored["observation"], stored["mask"], numpy.zeros(n, numpy.int64), numpy.zeros(n, numpy.uint64))
print(*make_policy("ppo:" + sys.argv[1], game).act(view))
learners = [name for name in ("stable_baselines3", "sb3_contrib", "experiments") if name in sys.modules]
print(*learners)
"""


def test_opens_in_a_fresh_process_without_the_training_code__B29(saved, tmp_path):
    model, path = saved
    view = views(ROOM, 100)
    np.savez(tmp_path / "stored.npz", observation=view.observation, mask=view.mask)
    expected, _ = model.predict(view.observation, deterministic=True, action_masks=view.mask)
    actions, *learners = run_python(FRESH, str(path), str(tmp_path / "stored.npz")).splitlines()
    assert actions == " ".join(map(str, expected))
    assert learners == []


def test_importing_agents_loads_no_torch():
    assert run_python("import sys, agents; print('torch' in sys.modules)") == "False"


def test_without_torch_one_sentence_says_what_to_install(saved, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(ValueError, match=r"^a ppo policy needs torch: pip install 'llama-envs\[train\]'\.$"):
        load_ppo(saved[1], new_batch(ROOM, 1, 0).game)


# ----------------------------------------------------------------------------------------------- files that do not fit


def refusal(path, game=None):
    """The one sentence with which a file is refused, wherever it is asked for."""
    game = game or new_batch(ROOM, 1, 0).game
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        load_ppo(path, game)
    with pytest.raises(ValueError) as again:  # noqa: PT011
        make_policy(f"ppo_sample:{path}", game)
    message = str(refused.value)
    assert str(again.value) == message
    assert type(refused.value) is ValueError
    assert "\n" not in message
    assert message.endswith(".")
    assert str(path) in message
    return message


def rewrite(source, target, **entries):
    """A copy of a model file with some entries replaced (bytes) or left out (None)."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = entries.get(name.replace(".", "_"), old.read(name))
            if content is not None:
                new.writestr(name, content)
    return target


def relabel(source, target, **changes):
    """A copy of a model file that says something else of itself; ``None`` removes a field."""
    data = json.loads(zipfile.ZipFile(source).read("data"))
    data[ENTRY].update(changes)
    data[ENTRY] = {key: value for key, value in data[ENTRY].items() if value is not None}
    return rewrite(source, target, data=json.dumps(data).encode())


def test_missing_files_and_folders_are_refused(tmp_path):
    assert refusal(tmp_path / "none.zip").startswith("there is no model file")
    assert refusal(tmp_path).startswith("there is no model file")


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"PK\x03\x04", b"\x00" * 5000], ids=["empty", "text", "stub", "zeros"]
)
def test_files_that_are_no_model_are_refused(tmp_path, content):
    (tmp_path / "model.zip").write_bytes(content)
    assert "not a readable MaskablePPO model file" in refusal(tmp_path / "model.zip")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99, 0.9999])
def test_truncated_files_are_refused__B29(saved, tmp_path, share):
    whole = saved[1].read_bytes()
    (tmp_path / "model.zip").write_bytes(whole[: int(len(whole) * share)])
    refusal(tmp_path / "model.zip")


def test_files_with_a_flipped_byte_in_weights_or_description_are_refused(saved, tmp_path):
    whole = saved[1].read_bytes()
    with zipfile.ZipFile(saved[1]) as archive:
        for name in ("data", "policy.pth"):
            entry = archive.getinfo(name)
            for where in (0.2, 0.5, 0.8):
                spoilt = bytearray(whole)
                spoilt[entry.header_offset + 60 + int(entry.compress_size * where)] ^= 0xFF
                (tmp_path / "model.zip").write_bytes(bytes(spoilt))
                refusal(tmp_path / "model.zip")


@pytest.mark.parametrize(
    "entries",
    [
        {"data": None},
        {"policy_pth": None},
        {"data": b"\xff\xfe\x00 no text"},
        {"data": b"{ no json"},
        {"data": b"[1, 2]"},
        {"data": b"null"},
        {"data": b"{}"},
        {"data": json.dumps({ENTRY: "lama"}).encode()},
        {"policy_pth": b""},
        {"policy_pth": b"garbage"},
        {"policy_pth": pickle.dumps([1, 2])},
        {"policy_pth": b"\x80\x05."},
    ],
    ids=lambda entries: str(entries)[:50],
)
def test_files_with_damaged_entries_are_refused(saved, tmp_path, entries):
    refusal(rewrite(saved[1], tmp_path / "model.zip", **entries))


def test_truncated_weights_are_refused(saved, tmp_path):
    weights = zipfile.ZipFile(saved[1]).read("policy.pth")
    for share in (0.1, 0.5, 0.99):
        cut = weights[: int(len(weights) * share)]
        assert "weights" in refusal(rewrite(saved[1], tmp_path / "model.zip", policy_pth=cut))


def test_weights_that_are_something_else_are_refused(saved, tmp_path):
    for content in ([1, 2], {"a": torch.zeros(2)}, torch.zeros(3), {"action_net.weight": 5, "action_net.bias": 5}):
        file = io.BytesIO()
        torch.save(content, file)
        assert "weights" in refusal(rewrite(saved[1], tmp_path / "model.zip", policy_pth=file.getvalue()))


class Trap:
    def __reduce__(self):
        return os.mkdir, (os.environ["TRAP"],)


def test_a_model_file_runs_no_code(saved, tmp_path, monkeypatch):
    monkeypatch.setenv("TRAP", str(tmp_path / "sprung"))
    file = io.BytesIO()
    torch.save({"action_net.weight": Trap()}, file)
    refusal(rewrite(saved[1], tmp_path / "model.zip", policy_pth=file.getvalue()))
    refusal(rewrite(saved[1], tmp_path / "model.zip", policy_pth=pickle.dumps(Trap())))
    assert not (tmp_path / "sprung").exists()


def test_another_number_of_players_is_named_with_both(saved):
    message = refusal(saved[1], new_batch((ROOM[0], {"num_players": 4}), 1, 0).game)
    assert "made for lama_v0 with 3 players, not for lama_v0 with 4" in message


def test_another_game_and_another_version_are_named_with_both(saved, tmp_path):
    message = refusal(relabel(saved[1], tmp_path / "model.zip", game="other"))
    assert "made for other_v0 with 3 players, not for lama_v0 with 3" in message
    message = refusal(relabel(saved[1], tmp_path / "model.zip", version=1))
    assert "made for lama_v1 with 3 players, not for lama_v0 with 3" in message


def test_other_actions_and_other_observations_are_named_and_not_a_shape_error__B29(saved, tmp_path):
    message = refusal(saved[1], new_batch((ROOM[0], {**ROOM[1], "chip_exchange": "choice"}), 1, 0).game)
    assert "other actions of lama_v0 (12 there, 14 here)" in message
    slices = describe(new_batch(ROOM, 1, 0).game, {})["observation"]
    name, *shape = slices[1]
    message = refusal(relabel(saved[1], tmp_path / "model.zip", observation=[slices[0], [name, 99], *slices[2:]]))
    assert f"other observation slices of lama_v0 ({[name, 99]} there, {[name, *shape]} here)" in message
    message = refusal(relabel(saved[1], tmp_path / "model.zip", observation=slices[:-1]))
    assert f"other observation slices of lama_v0 ({len(slices) - 1} there, {len(slices)} here)" in message


@pytest.mark.parametrize(
    "changes",
    [
        {"net_arch": None},
        {"net_arch": {}},
        {"net_arch": {"pi": 5}},
        {"net_arch": {"pi": ["wide"]}},
        {"net_arch": {"pi": [-1]}},
        {"net_arch": [24, 16]},
        {"net_arch": {"pi": [24, 17]}},
        {"net_arch": {"pi": [24]}},
        {"net_arch": {"pi": [24, 16, 16]}},
        {"game": None},
        {"actions": None},
        {"observation": None},
        {"observation": 5},
        {"actions": [1, 2]},
        {"num_players": "3"},
    ],
    ids=str,
)
def test_a_description_that_does_not_fit_the_weights_or_the_game_is_refused(saved, tmp_path, changes):
    refusal(relabel(saved[1], tmp_path / "model.zip", **changes))


@each_game
@pytest.mark.parametrize("name", ["ppo", "ppo:", "ppo_sample", "ppo_sample:"])
def test_a_name_without_a_path_says_how_it_is_written(case, name):
    with pytest.raises(ValueError, match="ppo:PATH"):
        make_policy(name, new_batch(case, 1, 0).game)


def test_description_holds_all_that_decides_whether_a_model_fits(saved):
    made_for, weights = read_model(saved[1])
    game = new_batch(ROOM, 1, 0).game
    assert made_for == json.loads(json.dumps(describe(game, LAYERS)))
    assert made_for["actions"] == list(game.action_names)
    assert [name for name, *_ in made_for["observation"]] == list(game.observation)
    assert len(weights) > 1000


def test_a_model_that_does_not_say_its_game_is_refused(tmp_path):
    env = SB3VecEnv("lama", 2, seed=1, num_players=3)
    MaskablePPO("MlpPolicy", env, n_steps=4, batch_size=8, device="cpu").save(tmp_path / "model.zip")
    assert "does not say which game it plays" in refusal(tmp_path / "model.zip")
