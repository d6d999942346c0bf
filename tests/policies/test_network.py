"""Policy files: networks play by NumPy alone; a file that does not fit says so (known faults B29, N01, N03, N06)."""

from __future__ import annotations

import io
import json
import os
import pickle
import time
import zipfile

import numpy as np
import pytest
from scipy import stats

from llama_envs.core.batch import policy_streams
from llama_envs.core.recording import config_to_json
from llama_envs.core.registry import make_game
from llama_envs.policies import View, make_policy
from llama_envs.policies.network import (
    FORMAT,
    Network,
    NetworkPolicy,
    describe,
    load_policy,
    load_value,
    probabilities,
    read_policy,
    sample_masked,
    write_policy,
)
from llama_envs.policies.search import ValuePolicy
from tests.cases import CASES, GAMES, cases_of, each_game, every_case, game_of, middle, run_python
from tests.policies.files import random_arrays, write_random

FIRST = CASES[0].values[0]
EVERY_INPUTS = [("observation",), ("observation", "action_mask"), ("action_mask", "observation")]


def views(case, num_games=400):
    """What seats to move see at many points: a view without a policy's needs."""
    batch = middle(case, num_games)
    return View(
        batch.game, batch.observation.copy(), batch.action_mask.copy(), batch.to_move.astype(np.int64),
        policy_streams(num_games, 5),
    )  # fmt: skip


def outputs(arrays, part, view, inputs=("observation",), activation="tanh"):
    """The network told once more, in float64."""
    read = {"observation": view.observation.astype(np.float64), "action_mask": view.mask.astype(np.float64)}
    rows = np.concatenate([read[name] for name in inputs], axis=1)
    if "observation.mean" in arrays:
        rows = (rows - arrays["observation.mean"]) / arrays["observation.deviation"]
    layers = sum(name.startswith(part) and name.endswith("weight") for name in arrays)
    for number in range(layers):
        rows = rows @ arrays[f"{part}.{number}.weight"].astype(np.float64).T + arrays[f"{part}.{number}.bias"]
        if number + 1 < layers:
            rows = np.tanh(rows) if activation == "tanh" else np.maximum(rows, 0)
    return rows


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A file of three players of the first game, and its arrays."""
    path = tmp_path_factory.mktemp("network") / "policy.npz"
    return path, write_random(path, make_game(GAMES[0], num_players=3))


@pytest.fixture(scope="module")
def game():
    return make_game(GAMES[0], num_players=3)


THREE = (GAMES[0], {"num_players": 3})


# ------------------------------------------------------------------------------------------------------------- playing


@every_case
@pytest.mark.parametrize("statistics", [False, True], ids=["raw", "standardised"])
def test_a_file_plays_the_likeliest_legal_action_of_its_network__B04(case, statistics, tmp_path):
    view = views(case)
    arrays = write_random(tmp_path / "policy.npz", view.game, statistics=statistics)
    logits = outputs(arrays, "policy", view)
    legal = np.where(view.mask, logits, -np.inf)
    best = np.sort(legal, axis=1)
    clear = ~(best[:, -1] - best[:, -2] < 1e-4)
    for name in ("network", "ppo"):
        actions = make_policy(f"{name}:{tmp_path / 'policy.npz'}", view.game).act(view)
        assert actions.dtype == np.int64
        assert (actions == legal.argmax(axis=1))[clear].all()
        assert view.mask[np.arange(len(view)), actions].all()
    assert clear.mean() > 0.9
    assert len(set(actions.tolist())) > 2


@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("inputs", EVERY_INPUTS, ids="-".join)
@pytest.mark.parametrize("layers", [(), (8,), (8, 9, 10)], ids=str)
def test_any_depth_activation_and_order_of_inputs_is_evaluated(layers, inputs, activation, game, tmp_path):
    arrays = write_random(tmp_path / "policy.npz", game, activation, layers=layers, inputs=inputs)
    view, file = views(THREE), read_policy(tmp_path / "policy.npz")
    for part in ("policy", "value"):
        found = file.network(part)(view.observation, view.mask)
        assert found.dtype == np.float32
        assert found == pytest.approx(outputs(arrays, part, view, inputs, activation), rel=1e-4, abs=1e-4)


@each_game
def test_results_do_not_depend_on_how_many_rows_are_evaluated_at_once(case, tmp_path):
    view = views(case, 1000)
    write_random(tmp_path / "policy.npz", view.game, layers=(64, 64), statistics=True)
    for part in ("policy", "value"):
        network = read_policy(tmp_path / "policy.npz").network(part)
        whole = network(view.observation, view.mask)
        assert len(np.unique(whole, axis=0)) > 100
        for rows in (1, 7, 16):
            pieces = [network(view.observation[k : k + rows], view.mask[k : k + rows]) for k in range(0, 1000, rows)]
            assert np.concatenate(pieces).tobytes() == whole.tobytes(), rows
        shuffled = np.random.default_rng(0).permutation(1000)
        assert network(view.observation[shuffled], view.mask[shuffled]).tobytes() == whole[shuffled].tobytes()
    assert network(view.observation[:0], view.mask[:0]).shape == (0, 1)


def test_greedy_never_picks_an_illegal_action_however_likely(game):
    bias = np.linspace(1000, 0, game.num_actions, dtype=np.float32)
    network = Network([(np.zeros((game.num_actions, game.observation.size), np.float32), bias)], "tanh")
    view = views(THREE)
    assert (NetworkPolicy(network).act(view) == view.mask.argmax(axis=1)).all()


def test_probabilities_are_a_softmax_over_the_legal_actions():
    logits = np.array([[0, np.log(3), 50], [1e4, 1e4, -1e4], [-1e4, 0, 0]], np.float32)
    mask = np.array([[True, True, False], [True, True, True], [True, False, False]])
    assert probabilities(logits, mask) == pytest.approx(np.array([[0.25, 0.75, 0], [0.5, 0.5, 0], [1, 0, 0]]))


def test_sampling_follows_the_networks_distribution_and_never_leaves_the_mask(saved, game):
    path, arrays = saved
    one = views(THREE)
    row, n = int(one.mask.sum(axis=1).argmax()), 40_000
    observation, mask = (np.repeat(array[[row]], n, axis=0) for array in (one.observation, one.mask))
    view = View(game, observation, mask, np.zeros(n, np.int64), policy_streams(n, 3))
    logits = outputs(arrays, "policy", view)[:1].astype(np.float32)
    expected = probabilities(logits, mask[:1])[0] * n
    for name in ("network_sample", "ppo_sample"):
        view.streams = policy_streams(n, 3)
        counts = np.bincount(make_policy(f"{name}:{path}", game).act(view), minlength=len(expected))
        assert not counts[~mask[0]].any()
        likely = expected > 5
        assert counts[~likely].sum() < 50
        share = expected[likely] / expected[likely].sum() * counts[likely].sum()
        assert stats.chisquare(counts[likely], share).pvalue > 0.001


def test_sampling_is_fixed_by_the_view_and_its_streams(saved, game):
    policy = make_policy(f"network_sample:{saved[0]}", game)
    first, again = policy.act(views(THREE)), policy.act(views(THREE))
    assert (first == again).all()
    other = views(THREE)
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


@pytest.mark.parametrize("copied", [lambda p: pickle.loads(pickle.dumps(p))], ids=["pickle"])
def test_a_network_policy_can_be_sent_to_another_process(saved, game, copied):
    policy = load_policy(saved[0], game)
    assert (copied(policy).act(views(THREE)) == policy.act(views(THREE))).all()


FRESH = """
import sys, numpy
from llama_envs.core.registry import make_game
from llama_envs.policies import View, make_policy
stored = numpy.load(sys.argv[2])
game = make_game(sys.argv[3], num_players=3)
n = len(stored["mask"])
view = View(game, stored["observation"], stored["mask"], numpy.zeros(n, numpy.int64), numpy.zeros(n, numpy.uint64))
print(*make_policy("network:" + sys.argv[1], game).act(view))
heavy = ("torch", "stable_baselines3", "sb3_contrib", "agents", "experiments", "pandas", "matplotlib")
print(*[name for name in heavy if name in sys.modules])
"""


def test_opens_in_a_fresh_process_without_torch_and_the_training_code__B29(saved, game, tmp_path):
    path, _ = saved
    view = views(THREE, 100)
    np.savez(tmp_path / "stored.npz", observation=view.observation, mask=view.mask)
    expected = load_policy(path, game).act(view)
    output = run_python(FRESH, str(path), str(tmp_path / "stored.npz"), game.name).splitlines()
    assert output == [" ".join(map(str, expected))]


# ----------------------------------------------------------------------------------------------------- what is written


@each_game
def test_a_file_says_what_it_is_and_comes_back_as_it_was(case, tmp_path):
    game = game_of(case)
    arrays = write_random(tmp_path / "policy.npz", game, "relu", inputs=EVERY_INPUTS[1], statistics=True)
    file = read_policy(tmp_path / "policy.npz")
    about = file.about
    assert (about["format"], about["game"], about["version"]) == (FORMAT, game.name, game.version)
    assert about["config"] == json.loads(json.dumps(config_to_json(game.config)))
    assert (about["inputs"], about["activation"], about["trained"]) == (
        ["observation", "action_mask"], "relu", ["policy", "value"],
    )  # fmt: skip
    assert about["made"] == {"seed": 3}
    assert len(about["hash"]) == 64
    assert {name: array.tobytes() for name, array in file.arrays.items()} == {
        name: array.tobytes() for name, array in arrays.items()
    }
    assert file.source == str(tmp_path / "policy.npz")


@each_game
def test_equal_contents_give_equal_bytes(case, tmp_path, monkeypatch):
    game = game_of(case)
    write_random(tmp_path / "one.npz", game)
    monkeypatch.setattr(time, "time", lambda: 2e9)
    write_random(tmp_path / "two.npz", game)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    write_random(tmp_path / "other.npz", game, seed=1)
    hashes = {read_policy(tmp_path / f"{name}.npz").about["hash"] for name in ("one", "two", "other")}
    assert len(hashes) == 2


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_weights_that_are_not_finite_are_not_written__N01(bad, game, tmp_path):
    arrays = random_arrays(game)
    arrays["policy.1.bias"][2] = bad
    with pytest.raises(
        ValueError, match=r"^a policy with weights that are not finite cannot be saved \(policy\.1\.bias\)"
    ):
        write_policy(tmp_path / "policy.npz", describe(game), arrays)
    assert not (tmp_path / "policy.npz").exists()


# ----------------------------------------------------------------------------------------------- files that do not fit


def refusal(path, game, load=load_policy):
    """The one sentence with which a file is refused, wherever it is asked for."""
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        load(path, game)
    message = str(refused.value)
    assert type(refused.value) is ValueError
    assert "\n" not in message
    assert message.endswith(".")
    assert str(path) in message
    name = "network_sample:" if load is load_policy else "mc:3:network="
    with pytest.raises(ValueError) as again:  # noqa: PT011
        make_policy(f"{name}{path}", game)
    assert str(again.value) == message
    return message


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewrite(source, target, **changes):
    """A copy of a file with some members replaced (bytes) or left out (None)."""
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in {
            **members(source),
            **{f"{k.replace('__', '.')}.npy": v for k, v in changes.items()},
        }.items():
            if content is not None:
                archive.writestr(name, content)
    return target


def npy(value):
    file = io.BytesIO()
    np.save(file, value)
    return file.getvalue()


def relabel(source, target, keep_hash=False, **changes):
    """A copy of a policy file that says something else of itself; ``None`` removes a field, the hash is made to fit."""
    file = read_policy(source)
    about = {key: value for key, value in {**file.about, **changes}.items() if value is not None}
    if keep_hash:
        return rewrite(source, target, about=npy(np.array(json.dumps(about))))
    write_policy(target, about, file.arrays)
    return target


def test_missing_files_and_folders_are_refused(game, tmp_path):
    assert refusal(tmp_path / "none.npz", game).startswith("there is no policy file")
    assert refusal(tmp_path, game).startswith("there is no policy file")


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"PK\x03\x04", b"\x00" * 5000], ids=["empty", "text", "stub", "zeros"]
)
def test_files_that_are_no_policy_files_are_refused(game, tmp_path, content):
    (tmp_path / "policy.npz").write_bytes(content)
    refusal(tmp_path / "policy.npz", game)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99, 0.9999])
def test_truncated_files_are_refused__B29(saved, game, tmp_path, share):
    whole = saved[0].read_bytes()
    (tmp_path / "policy.npz").write_bytes(whole[: int(len(whole) * share)])
    refusal(tmp_path / "policy.npz", game)


def test_files_with_a_flipped_byte_in_weights_or_description_are_refused(saved, game, tmp_path):
    whole = saved[0].read_bytes()
    with zipfile.ZipFile(saved[0]) as archive:
        for name in ("about.npy", "policy.0.weight.npy", "value.1.bias.npy"):
            entry = archive.getinfo(name)
            for where in (0.2, 0.5, 0.8):
                spoilt = bytearray(whole)
                spoilt[entry.header_offset + 30 + len(name) + int(entry.compress_size * where)] ^= 0xFF
                (tmp_path / "policy.npz").write_bytes(bytes(spoilt))
                refusal(tmp_path / "policy.npz", game)


ENTRIES = {
    "no description": {"about": None},
    "no text": {"about": npy(np.arange(3))},
    "no json": {"about": npy(np.array("{ no json"))},
    "a list": {"about": npy(np.array("[1, 2]"))},
    "null": {"about": npy(np.array("null"))},
    "nothing in it": {"about": npy(np.array("{}"))},
    "garbage": {"about": b"garbage"},
    "empty": {"about": b""},
    "empty weights": {"policy__0__weight": b""},
    "garbage for weights": {"policy__0__weight": b"garbage"},
    "text for weights": {"policy__0__weight": npy(np.array(["a"]))},
    "no weights": {"policy__0__weight": None},
    "other weights": {"policy__0__bias": npy(np.zeros(24, np.float32))},
    "more weights": {"policy__7__bias": npy(np.zeros(24, np.float32))},
}


@pytest.mark.parametrize("entries", ENTRIES.values(), ids=ENTRIES)
def test_files_with_damaged_entries_are_refused(saved, game, tmp_path, entries):
    refusal(rewrite(saved[0], tmp_path / "policy.npz", **entries), game)


def test_a_content_that_does_not_fit_the_hash_is_refused(saved, game, tmp_path):
    message = refusal(relabel(saved[0], tmp_path / "policy.npz", keep_hash=True, made={"seed": 4}), game)
    assert message.endswith("is damaged: its content does not fit its hash.")
    bias = read_policy(saved[0]).arrays["policy.0.bias"].copy()
    bias[0] = np.nextafter(bias[0], np.float32(9))
    message = refusal(rewrite(saved[0], tmp_path / "policy.npz", policy__0__bias=npy(bias)), game)
    assert message.endswith("is damaged: its content does not fit its hash.")


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_not_read__N01(saved, game, tmp_path, bad, monkeypatch):
    file = read_policy(saved[0])
    file.arrays["policy.0.bias"][0] = bad
    with monkeypatch.context() as patched:  # a writer that does not look
        patched.setattr(np, "isfinite", lambda array: np.ones_like(array, np.bool_))
        write_policy(tmp_path / "policy.npz", file.about, file.arrays)
    assert refusal(tmp_path / "policy.npz", game).endswith("has weights that are not finite; its training failed.")


class Trap:
    def __reduce__(self):
        return os.mkdir, (os.environ["TRAP"],)


def test_a_policy_file_runs_no_code(saved, game, tmp_path, monkeypatch):
    monkeypatch.setenv("TRAP", str(tmp_path / "sprung"))
    for entry in ("about", "policy__0__weight"):
        for content in (pickle.dumps(Trap()), npy(np.array([Trap()], object))):
            refusal(rewrite(saved[0], tmp_path / "policy.npz", **{entry: content}), game)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "llama_envs policy 2"}, {"format": None}, {"activation": "sigmoid"}, {"activation": None},
        {"inputs": ["observation", "luck"]}, {"inputs": None}, {"inputs": 5}, {"trained": ["everything"]},
        {"trained": None}, {"game": None}, {"version": None}, {"config": None}, {"config": 5},
    ],
    ids=str,
)  # fmt: skip
def test_a_description_that_makes_no_sense_is_refused(saved, game, tmp_path, changes):
    refusal(relabel(saved[0], tmp_path / "policy.npz", **changes), game)


def test_networks_of_other_sizes_than_the_games_are_refused(game, tmp_path):
    for wrong in ({"policy.2.weight": (5, 16), "policy.2.bias": (5,)}, {"policy.0.weight": (24, 7)}):
        arrays = {**random_arrays(game), **{name: np.zeros(shape, np.float32) for name, shape in wrong.items()}}
        write_policy(tmp_path / "policy.npz", describe(game), arrays)
        assert "is damaged: its policy network does not fit" in refusal(tmp_path / "policy.npz", game)


def test_a_file_of_another_kind_says_who_writes_policy_files(game, tmp_path):
    np.savez(tmp_path / "policy.npz", a=np.zeros(3))
    message = refusal(tmp_path / "policy.npz", game)
    assert message.endswith("does not say which game it plays; agents.ppo.save_policy writes files that do.")


# ----------------------------------------------------------------------------------------------- other games and rules


@pytest.mark.parametrize("name", GAMES)
def test_another_game_version_or_number_of_players_is_named_with_both(name, saved, tmp_path):
    path, game = tmp_path / "policy.npz", make_game(name, num_players=3)
    write_random(path, game)
    assert f"was made for {game.id} with num_players = 3, not with 2." in refusal(path, make_game(name, num_players=2))
    for other in set(GAMES) - {name}:
        message = refusal(path, make_game(other, num_players=3))
        assert f"was made for {game.id}, not for {other}_v0." in message
    message = refusal(relabel(path, tmp_path / "other.npz", version=1), game)
    assert f"was made for {name}_v1, not for {name}_v0." in message


@pytest.mark.parametrize("name", GAMES)
def test_other_rules_of_the_same_observations_and_actions_are_refused__N06(name, tmp_path):
    path, game = tmp_path / "policy.npz", make_game(name, num_players=3)
    write_random(path, game)
    for field, options in cases_of(name).OTHER_RULES:
        other = make_game(name, num_players=3, **options)
        assert (other.observation.size, other.action_names) == (game.observation.size, game.action_names)
        for load in (load_policy, load_value):
            assert f"was made for {game.id} with {field} = " in refusal(path, other, load)


@pytest.mark.parametrize("name", GAMES)
def test_rules_of_other_observations_or_actions_are_refused_by_a_field_and_not_by_a_shape__B29(name, tmp_path):
    path, games = tmp_path / "policy.npz", [make_game(name, **options) for options in cases_of(name).CONFIGS]
    write_random(path, games[0])
    for other in games[1:]:
        field = refusal(path, other).partition(f"was made for {games[0].id} with ")[2].partition(" = ")[0]
        assert getattr(other.config, field) != getattr(games[0].config, field)


@pytest.mark.parametrize("name", GAMES)
def test_a_policy_that_reads_a_history_is_refused_where_another_is_kept(name, tmp_path):
    path = tmp_path / "policy.npz"
    write_random(path, make_game(name, history=4))
    for history in (0, 2, 5):
        message = refusal(path, make_game(name, history=history))
        assert message.endswith(f"with history = 4, not with {history}.")


@pytest.mark.parametrize("name", GAMES)
def test_another_reward_matters_to_the_value_network_alone__N03(name, tmp_path):
    path, game = tmp_path / "policy.npz", make_game(name, num_players=3, reward="score")
    write_random(path, game)
    other = make_game(name, num_players=3, reward="win")
    load_policy(path, other)
    load_value(path, game)
    assert "with reward = 'score', not with 'win'." in refusal(path, other, load_value)
    assert isinstance(make_policy(f"mc:3:network={path}", game), ValuePolicy)


@pytest.mark.parametrize("name", GAMES)
def test_a_network_that_was_not_trained_is_refused__N03(name, tmp_path):
    path, game = tmp_path / "policy.npz", make_game(name, num_players=3)
    write_random(path, game, trained=("policy",))
    load_policy(path, game)
    assert refusal(path, game, load_value).endswith("has no trained value network; trained was policy.")
    write_random(path, game, trained=("value",))
    load_value(path, game)
    assert refusal(path, game).endswith("has no trained policy network; trained was value.")


@each_game
@pytest.mark.parametrize("name", ["network", "network:", "network_sample", "network_sample:", "ppo", "ppo_sample:"])
def test_a_name_without_a_path_says_how_it_is_written(case, name):
    with pytest.raises(ValueError, match="network:PATH"):
        make_policy(name, game_of(case))
