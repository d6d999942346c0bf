"""From models of Stable-Baselines3 to policy files and back (known faults B04, B29, N01, N03)."""

from __future__ import annotations

import json

import gymnasium
import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3 import A2C, DQN, PPO
from torch import nn

from agents.ppo import TorchPolicy, actor, actor_weights, load_weights, save_model, save_policy
from agents.standardise import Standardise, moments
from llama_envs.adapters.sb3 import SB3VecEnv
from llama_envs.core.batch import policy_streams
from llama_envs.core.recording import config_to_json
from llama_envs.core.registry import make_game, spec_of
from llama_envs.policies import View, make_policy
from llama_envs.policies.network import NetworkPolicy, load_policy, load_value, probabilities, read_policy
from llama_envs.policies.search import ValuePolicy
from tests.cases import GAMES, Case, each_game, every_case, game_of, middle, new_batch, run_python

LAYERS = {"pi": [24, 16], "vf": [8]}
FIRST: Case = (GAMES[0], {"num_players": 3})


def new_model(case, layers=LAYERS, kind=MaskablePPO, num_envs=4, **options):
    """A small model that has learned nothing."""
    torch.set_num_threads(1)
    env = SB3VecEnv(case[0], num_envs, seed=1, **case[1])
    if kind is not A2C:
        options = {"batch_size": 32, **options}
    policy_kwargs = {"net_arch": layers, **options.pop("policy_kwargs", {})}
    return kind("MlpPolicy", env, n_steps=16, seed=0, device="cpu", policy_kwargs=policy_kwargs, **options)


def train(case, layers=LAYERS, steps=256, **options):
    """A small model, trained a little so that its choices are no longer near uniform."""
    model = new_model(case, layers, num_envs=16, batch_size=64, n_epochs=8, learning_rate=3e-2, **options)
    return model.learn(steps)


@pytest.fixture(scope="module")
def trained():
    """A model for three players of the first game."""
    return train(FIRST)


@pytest.fixture
def saved(trained, tmp_path):
    """Its policy file."""
    save_policy(trained, game_of(FIRST), tmp_path / "policy.npz")
    return tmp_path / "policy.npz"


def views(case, num_games=400):
    """What seats to move see at many points: a view without a policy's needs."""
    batch = middle(case, num_games)
    return View(
        batch.game, batch.observation.copy(), batch.action_mask.copy(), batch.to_move.astype(np.int64),
        policy_streams(num_games, 5),
    )  # fmt: skip


def logits_of(model, view):
    """What the model's own policy network gives for a view, before masks: (n, A)."""
    shown = {"observation": torch.from_numpy(view.observation), "action_mask": torch.from_numpy(view.mask)}
    dictionary = isinstance(model.observation_space, gymnasium.spaces.Dict)
    with torch.no_grad():
        seen = model.policy.extract_features(shown if dictionary else shown["observation"])
        return model.policy.action_net(model.policy.mlp_extractor.forward_actor(seen)).numpy()


def values_of(model, view):
    with torch.no_grad():
        return model.policy.predict_values(torch.from_numpy(view.observation)).numpy()


# ----------------------------------------------------------------------------------------------------- models to files


@every_case
def test_a_saved_model_plays_the_greedy_actions_of_the_model__B04(case, tmp_path):
    model = train(case)
    save_policy(model, game_of(case), tmp_path / "policy.npz")
    view = views(case)
    expected, _ = model.predict(view.observation, deterministic=True, action_masks=view.mask)
    actions = make_policy(f"network:{tmp_path / 'policy.npz'}", view.game).act(view)
    assert actions.dtype == np.int64
    assert (actions == expected).all()
    assert len(set(actions.tolist())) > 2


@pytest.mark.parametrize(
    "layers", [{"pi": [], "vf": []}, {"pi": [8], "vf": [8]}, {"pi": [8, 9, 10], "vf": []}], ids=str
)
def test_networks_of_any_depth_are_saved(layers, tmp_path):
    model = new_model(FIRST, layers)
    save_policy(model, game_of(FIRST), tmp_path / "policy.npz")
    view, file = views(FIRST), read_policy(tmp_path / "policy.npz")
    assert file.network("policy")(view.observation, view.mask) == pytest.approx(logits_of(model, view), abs=1e-5)
    assert file.network("value")(view.observation, view.mask) == pytest.approx(values_of(model, view), abs=1e-5)


@pytest.mark.parametrize("kind", [MaskablePPO, PPO, A2C], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("activation", [nn.Tanh, nn.ReLU], ids=lambda kind: kind.__name__)
def test_models_of_every_actor_critic_learner_are_saved(kind, activation, tmp_path):
    model = new_model(FIRST, kind=kind, policy_kwargs={"activation_fn": activation})
    save_policy(model, game_of(FIRST), tmp_path / "policy.npz")
    view = views(FIRST)
    network = read_policy(tmp_path / "policy.npz").network("policy")
    assert network(view.observation, view.mask) == pytest.approx(logits_of(model, view), abs=1e-5)


@each_game
@pytest.mark.parametrize("kind", [PPO, A2C], ids=lambda kind: kind.__name__)
def test_models_of_gymnasiums_dictionaries_are_saved_and_read_what_they_read(case, kind, tmp_path):
    env = gymnasium.make(spec_of(case[0]).gymnasium_id, illegal_action="lose", **case[1])
    model = kind(
        "MultiInputPolicy", env, n_steps=16, seed=0, device="cpu", **({} if kind is A2C else {"batch_size": 8})
    )
    model.learn(32)
    path = tmp_path / "policy.npz"
    save_policy(model, game_of(case), path)
    view, file = views(case), read_policy(path)
    assert set(file.about["inputs"]) == {"observation", "action_mask"}
    assert file.network("policy")(view.observation, view.mask) == pytest.approx(logits_of(model, view), abs=1e-5)
    actions = make_policy(f"network:{path}", view.game).act(view)
    assert view.mask[np.arange(len(view)), actions].all()
    with pytest.raises(ValueError, match=r"reads .*; a search has observations\.$"):
        make_policy(f"mc:2:network={path}", view.game)


@each_game
def test_what_standardises_the_observation_is_part_of_the_network(case, tmp_path):
    view = views(case)
    extractor = {"features_extractor_class": Standardise, "features_extractor_kwargs": moments(view.observation)}
    model = new_model(case, policy_kwargs=extractor)
    save_policy(model, game_of(case), tmp_path / "policy.npz")
    file = read_policy(tmp_path / "policy.npz")
    assert {"observation.mean", "observation.deviation"} <= set(file.arrays)
    for part, expected in (("policy", logits_of(model, view)), ("value", values_of(model, view))):
        assert file.network(part)(view.observation, view.mask) == pytest.approx(expected, abs=1e-4)


def test_probabilities_are_those_of_the_models_distribution(trained, saved):
    view = views(FIRST)
    with torch.no_grad():
        seen = torch.from_numpy(view.observation)
        expected = trained.policy.get_distribution(seen, view.mask).distribution.probs.numpy()
    logits = load_policy(saved, view.game).network(view.observation, view.mask)
    given = probabilities(logits, view.mask)
    assert given == pytest.approx(expected, abs=1e-6)
    assert given.sum(axis=1) == pytest.approx(1)
    assert not given[~view.mask].any()


def test_a_file_says_by_what_it_was_made(trained, saved, tmp_path):
    about = read_policy(saved).about
    assert about["config"] == json.loads(json.dumps(config_to_json(game_of(FIRST).config)))
    assert about["trained"] == ["policy", "value"]
    made = about["made"]
    assert (made["seed"], made["decisions"]) == (0, trained.num_timesteps)
    assert {"command", "versions"} <= set(made)
    assert {"python", "numpy", "torch", "stable-baselines3"} <= set(made["versions"])
    save_policy(trained, game_of(FIRST), tmp_path / "more.npz", trained=("policy",), made={"note": "mine", "seed": 7})
    about = read_policy(tmp_path / "more.npz").about
    assert about["trained"] == ["policy"]
    assert (about["made"]["note"], about["made"]["seed"]) == ("mine", 7)


@each_game
def test_a_model_file_is_a_policy_file_too(case, tmp_path):
    model, path = new_model(case), tmp_path / "model.zip"
    save_model(model, game_of(case), path)
    view = views(case)
    expected, _ = model.predict(view.observation, deterministic=True, action_masks=view.mask)
    assert (make_policy(f"ppo:{path}", view.game).act(view) == expected).all()
    again = MaskablePPO.load(path, device="cpu")
    assert all(
        torch.equal(one, other)
        for one, other in zip(model.policy.state_dict().values(), again.policy.state_dict().values(), strict=True)
    )


def test_a_model_file_of_somebody_elses_is_refused_in_one_sentence(tmp_path):
    new_model(FIRST).save(tmp_path / "model.zip")
    with pytest.raises(
        ValueError, match=r"does not say which game it plays; agents\.ppo\.save_policy writes files that do"
    ):
        load_policy(tmp_path / "model.zip", game_of(FIRST))


def test_a_model_with_weights_that_are_not_finite_is_not_saved__N01(tmp_path):
    model = new_model(FIRST)
    with torch.no_grad():
        model.policy.action_net.bias[0] = float("nan")
    for save in (save_policy, save_model):
        with pytest.raises(ValueError, match="weights that are not finite cannot be saved"):
            save(model, game_of(FIRST), tmp_path / "model.zip")
        assert not (tmp_path / "model.zip").exists()


class Other(Standardise):
    """A features extractor that nobody knows."""


def test_models_that_cannot_be_written_down_are_refused_in_one_sentence(tmp_path):
    game, seen = game_of(FIRST), views(FIRST).observation
    others = {"features_extractor_class": Other, "features_extractor_kwargs": moments(seen)}
    env = gymnasium.make(spec_of(FIRST[0]).gymnasium_id, **FIRST[1])
    models = {
        "a features extractor Other cannot be saved": new_model(FIRST, policy_kwargs=others),
        "activation_fn must be torch.nn.Tanh or torch.nn.ReLU": new_model(
            FIRST, policy_kwargs={"activation_fn": nn.ELU}
        ),
        "only actor-critic policies of Stable-Baselines3 can be saved so, got ": DQN(
            "MultiInputPolicy", env, buffer_size=10, device="cpu"
        ),
        "which is not what": new_model((FIRST[0], {"num_players": 2})),
    }
    for sentence, model in models.items():
        with pytest.raises(ValueError, match=r"\.$") as refused:
            save_policy(model, game, tmp_path / "policy.npz")
        assert sentence in str(refused.value)
        assert "\n" not in str(refused.value)
        assert not (tmp_path / "policy.npz").exists()


FRESH = "import sys, agents; print(*{'torch', 'stable_baselines3', 'sb3_contrib'} & set(sys.modules))"


def test_importing_agents_loads_no_torch():
    assert run_python(FRESH) == ""


# ----------------------------------------------------------------------------------------------------- files to models


@each_game
def test_weights_go_from_a_file_into_a_new_model_and_back(case, tmp_path):
    extractor = {"features_extractor_class": Standardise, "features_extractor_kwargs": moments(views(case).observation)}
    for number, kind in enumerate(({}, extractor)):
        model, game, path = new_model(case, policy_kwargs=kind), game_of(case), tmp_path / f"{number}.npz"
        save_policy(model, game, path)
        twin = new_model(case, policy_kwargs=kind)
        with torch.no_grad():
            for parameter in [*twin.policy.parameters(), *twin.policy.buffers()]:
                parameter.mul_(2.0)
        load_weights(twin, game, path)
        for name, value in model.policy.state_dict().items():
            assert torch.equal(value, twin.policy.state_dict()[name]), name
        save_policy(twin, game, tmp_path / "again.npz")
        assert (tmp_path / "again.npz").read_bytes() == path.read_bytes()


def test_networks_that_a_file_lacks_stay_as_they_are(tmp_path):
    model, game, path = new_model(FIRST), game_of(FIRST), tmp_path / "policy.npz"
    save_policy(model, game, path, trained=("policy",))
    twin = new_model(FIRST)
    with torch.no_grad():
        twin.policy.action_net.bias += 1
        twin.policy.value_net.bias += 1
    load_weights(twin, game, path)
    assert torch.equal(twin.policy.action_net.bias, model.policy.action_net.bias)
    assert torch.equal(twin.policy.value_net.bias, model.policy.value_net.bias + 1)


def test_a_file_from_plain_observations_makes_a_standardising_model_play_as_it_did(tmp_path):
    view, game, path = views(FIRST), game_of(FIRST), tmp_path / "policy.npz"
    model = new_model(FIRST)
    save_policy(model, game, path)
    extractor = {"features_extractor_class": Standardise, "features_extractor_kwargs": moments(view.observation)}
    twin = new_model(FIRST, policy_kwargs=extractor)
    load_weights(twin, game, path)
    assert logits_of(twin, view) == pytest.approx(logits_of(model, view), abs=1e-6)


def test_a_file_that_does_not_fit_a_model_leaves_it_as_it_is(tmp_path):
    game, path = game_of(FIRST), tmp_path / "policy.npz"
    extractor = {
        "features_extractor_class": Standardise,
        "features_extractor_kwargs": moments(views(FIRST).observation),
    }
    files = {
        "give the same --layers": new_model(FIRST, {"pi": [24], "vf": [8]}),
        "has the layers [24, 17]": new_model(FIRST, {"pi": [24, 17], "vf": [8]}),
        "has the activation 'relu', the model 'tanh'": new_model(FIRST, policy_kwargs={"activation_fn": nn.ReLU}),
        "takes its observations in another way": new_model(FIRST, policy_kwargs=extractor),
    }
    for sentence, model in files.items():
        save_policy(model, game, path)
        _refused(game, path, sentence)
    other = make_game(FIRST[0], num_players=2)
    save_policy(new_model((FIRST[0], {"num_players": 2})), other, path)
    _refused(game, path, "num_players = 2, not with 3")


def _refused(game, path, sentence):
    target = new_model(FIRST)
    before = {name: value.clone() for name, value in target.policy.state_dict().items()}
    with pytest.raises(ValueError, match=r"\.$") as refused:
        load_weights(target, game, path)
    assert sentence in str(refused.value)
    assert all(torch.equal(value, before[name]) for name, value in target.policy.state_dict().items())


# ------------------------------------------------------------------------------------------------- networks in torch

SHIPPED = [pytest.param((name, {"num_players": 3}), id=name) for name in GAMES]


@pytest.mark.parametrize("case", SHIPPED)
def test_numpy_and_torch_choose_the_same_actions_on_100_000_positions(case):
    """Ties aside, where the two best logits differ by no more than 1e-4."""
    game = game_of(case)
    path = game.spec.baselines / f"{game.name}_3p.npz"
    file = read_policy(path)
    layers = {part: [len(file.arrays[f"{part}.{k}.bias"]) for k in range(2)] for part in file.about["trained"]}
    statistics = {name: file.arrays[f"observation.{name}"].tolist() for name in ("mean", "deviation")}
    extractor = {"features_extractor_class": Standardise, "features_extractor_kwargs": statistics}
    model = new_model(case, {"pi": layers["policy"], "vf": layers.get("value", [])}, policy_kwargs=extractor)
    load_weights(model, game, path)
    policy = make_policy("baseline", game)
    batch, streams = new_batch(case, 2000, 3, autoreset=True), policy_streams(2000, 4)
    checked = ties = 0
    for _ in range(50):
        view = View(game, batch.observation.copy(), batch.action_mask.copy(), batch.to_move.astype(np.int64), streams)
        legal = np.where(view.mask, logits_of(model, view), -np.inf)
        best = np.sort(legal, axis=1)
        clear = ~(best[:, -1] - best[:, -2] <= 1e-4)
        assert (policy.act(view) == legal.argmax(axis=1))[clear].all()
        checked, ties = checked + len(view), ties + int((~clear).sum())
        batch.step(batch.sample_actions(streams))
    assert checked == 100_000
    assert ties < 100


@each_game
def test_a_network_in_torch_plays_as_the_file_of_the_same_weights(case, tmp_path):
    view = views(case)
    extractor = {"features_extractor_class": Standardise, "features_extractor_kwargs": moments(view.observation)}
    model, game = new_model(case, policy_kwargs=extractor), game_of(case)
    save_policy(model, game, tmp_path / "policy.npz")
    network = actor(game.observation.size, game.num_actions, LAYERS["pi"])
    network.load_state_dict(actor_weights(model.policy.state_dict()))
    there = NetworkPolicy(load_policy(tmp_path / "policy.npz", game).network, greedy=False)
    for greedy in (True, False):
        there.greedy = greedy
        view.streams = policy_streams(len(view), 5)
        actions = TorchPolicy(network, greedy).act(view)
        view.streams = policy_streams(len(view), 5)
        assert (actions == there.act(view)).mean() > 0.99
        assert view.mask[np.arange(len(view)), actions].all()


def test_greedy_in_torch_never_picks_an_illegal_action_however_likely():
    view = views(FIRST)
    network = nn.Linear(view.game.observation.size, view.game.num_actions)
    with torch.no_grad():
        network.bias += torch.linspace(1000, 0, view.game.num_actions)
    assert view.mask[np.arange(len(view)), TorchPolicy(network).act(view)].all()


@pytest.mark.parametrize("layers", [{"pi": [8], "vf": [12, 6]}, {"pi": [8], "vf": []}], ids=str)
@each_game
def test_the_value_network_of_a_file_expects_what_the_model_expects__N03(case, layers, tmp_path):
    model, game, path = new_model(case, layers), game_of(case), tmp_path / "policy.npz"
    with torch.no_grad():
        for parameter in model.policy.parameters():
            parameter.mul_(3.0)
    save_policy(model, game, path)
    view = views(case, 50)
    found = load_value(path, game)(view.observation, view.mask)
    assert found == pytest.approx(values_of(model, view), rel=1e-4, abs=1e-5)
    assert len(np.unique(found)) > 40
    assert isinstance(make_policy(f"mc:3:network={path}", game), ValuePolicy)
    save_policy(model, game, path, trained=("policy",))
    with pytest.raises(ValueError, match=r"has no trained value network; trained was policy\.$"):
        make_policy(f"mc:3:ppo={path}", game)
