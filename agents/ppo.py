"""From models of Stable-Baselines3 to policy files and back, and networks in torch as opponents in training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from llama_envs.core.game import Game
from llama_envs.core.runs import made_here
from llama_envs.policies import Actions, View
from llama_envs.policies.network import (
    PARTS,
    Arrays,
    add_policy,
    describe,
    entries,
    read_policy,
    sample_masked,
    write_policy,
)

STANDARDISED = ("observation.mean", "observation.deviation")


def save_policy(
    model: Any, game: Game, path: str | Path, *, trained: Sequence[str] = PARTS, made: Mapping[str, Any] | None = None
) -> None:
    """Write what a model has learned as one file that plays without torch (:mod:`llama_envs.policies.network`).

    Args:
        model: of MaskablePPO, PPO or A2C with an ``MlpPolicy`` (or ``MultiInputPolicy``) trained on ``game``.
        game: what it plays; its whole configuration goes into the file.
        path: of the file; ``network:PATH`` then stands for it wherever a policy is asked for.
        trained: which of its networks were trained, "policy" and "value".
        made: what else the file should say of where it comes from; command, seed and versions are there anyway.

    Raises:
        ValueError: the policy is of another kind, does not fit the game, or has weights that are not finite.
    """
    about, arrays = policy_of(model, game, trained, made)
    write_policy(path, about, arrays)


def save_model(model: Any, game: Game, path: Path, trained: Sequence[str] = PARTS) -> None:
    """What the model itself saves, and the entries of a policy file in it: one file to train on from and to play."""
    about, arrays = policy_of(model, game, trained)
    entries(about, arrays)  # weights that are not finite are refused before anything is written
    model.save(path)
    add_policy(path, about, arrays)


def policy_of(
    model: Any, game: Game, trained: Sequence[str] = PARTS, made: Mapping[str, Any] | None = None
) -> tuple[dict[str, Any], Arrays]:
    """The description and the arrays of a policy file; arguments and errors as :func:`save_policy`."""
    policy = model.policy
    for name in ("mlp_extractor", "action_net", "value_net"):
        if not hasattr(policy, name):
            raise ValueError(
                f"only actor-critic policies of Stable-Baselines3 can be saved so, got {type(policy).__name__}."
            )
    inputs = _inputs(policy, game)
    activations = {type(part) for net in (policy.mlp_extractor.policy_net, policy.mlp_extractor.value_net)
                   for part in net if not isinstance(part, nn.Linear)}  # fmt: skip
    names = {nn.Tanh: "tanh", nn.ReLU: "relu"}
    if not activations <= set(names) or len(activations) > 1:
        raise ValueError(f"activation_fn must be torch.nn.Tanh or torch.nn.ReLU, got {activations}.")
    state = {name: value.detach().cpu().numpy() for name, value in policy.state_dict().items()}
    arrays: Arrays = {}
    for part in trained:
        trunk, head = {"policy": ("policy_net", "action_net"), "value": ("value_net", "value_net")}[part]
        layers = [
            key.removesuffix(".weight")
            for key in state
            if key.startswith(f"mlp_extractor.{trunk}.") and key.endswith("weight")
        ]
        for number, layer in enumerate([*layers, head]):
            for kind in ("weight", "bias"):
                arrays[f"{part}.{number}.{kind}"] = state[f"{layer}.{kind}"]
    for name in STANDARDISED:
        if (ours := name.replace("observation", "features_extractor")) in state:
            arrays[name] = state[ours]
    activation = names[activations.pop()] if activations else "tanh"
    here = {**made_here(), "seed": getattr(model, "seed", None), "decisions": int(model.num_timesteps)}
    return describe(game, inputs=inputs, activation=activation, trained=trained, made={**here, **(made or {})}), arrays


def load_weights(model: Any, game: Game, path: Path) -> None:
    """Give a new model of Stable-Baselines3 the networks in a policy file; those that it lacks stay as they are.

    Raises:
        ValueError: the file is damaged, or was made for other rules or other layers.
    """
    file = read_policy(path)
    file.check_fits(game)
    about, own = policy_of(model, game)
    for part in file.about["trained"]:
        theirs, ours = _layers(file.arrays, part), _layers(own, part)
        if theirs != ours:
            raise ValueError(f"{path} has the layers {theirs}, the model {ours}; give the same --layers.")
    if about["activation"] != file.about["activation"]:
        raise ValueError(f"{path} has the activation {file.about['activation']!r}, the model {about['activation']!r}.")
    if about["inputs"] != file.about["inputs"] or (STANDARDISED[0] in file.arrays and STANDARDISED[0] not in own):
        raise ValueError(f"{path} takes its observations in another way than the model.")
    policy = model.policy
    with torch.no_grad():
        for part in file.about["trained"]:
            trunk, head = {"policy": (policy.mlp_extractor.policy_net, policy.action_net),
                           "value": (policy.mlp_extractor.value_net, policy.value_net)}[part]  # fmt: skip
            for number, layer in enumerate([*(x for x in trunk if isinstance(x, nn.Linear)), head]):
                layer.weight.copy_(torch.from_numpy(file.arrays[f"{part}.{number}.weight"]))
                layer.bias.copy_(torch.from_numpy(file.arrays[f"{part}.{number}.bias"]))
        for name, neutral in zip(STANDARDISED, (np.zeros, np.ones), strict=True):
            if name in own:  # a file without it has learned from plain observations
                statistic = file.arrays.get(name, neutral(own[name].shape, np.float32))
                getattr(policy.features_extractor, name.split(".")[1]).copy_(torch.from_numpy(statistic))


def _layers(arrays: Arrays, part: str) -> list[int]:
    """Widths of the hidden layers of a network."""
    last = sum(name.startswith(f"{part}.") and name.endswith(".bias") for name in arrays) - 1
    return [len(arrays[f"{part}.{number}.bias"]) for number in range(last)]


def _inputs(policy: Any, game: Game) -> tuple[str, ...]:
    """Which parts of an observation the networks read."""
    kind = type(policy.features_extractor).__name__
    sizes = {"observation": game.observation.size, "action_mask": game.num_actions}
    inputs: tuple[str, ...] = ("observation",)
    if kind == "CombinedExtractor":
        inputs = tuple(policy.features_extractor.extractors)  # concatenated in this order
    elif kind not in ("FlattenExtractor", "Standardise"):
        raise ValueError(f"a features extractor {kind} cannot be saved; use the default one or agents.standardise.")
    if not set(inputs) <= set(sizes) or sum(sizes[name] for name in inputs) != policy.features_extractor.features_dim:
        raise ValueError(
            f"the model reads {policy.features_extractor.features_dim} numbers ({', '.join(inputs)}), which is not "
            f"what {game.id} shows."
        )
    return inputs


class TorchPolicy:
    """A masked actor in torch, for opponents that change while a learner trains; copies play by :class:`NetworkPolicy`.

    Args:
        network: torch module from observations (n, D) to logits (n, A); used as it is, not copied.
        greedy: take the likeliest legal action, or sample from the policy's own streams.
    """

    needs_worlds = False

    def __init__(self, network: Any, greedy: bool = True) -> None:
        self.network = network
        self.greedy = greedy

    def act(self, view: View) -> Actions:
        """The likeliest or a sampled legal action for each row: (n,) int64."""
        with torch.no_grad():
            logits = self.network(torch.from_numpy(view.observation)).numpy()
        if self.greedy:
            return np.where(view.mask, logits, -np.inf).argmax(axis=1)
        actions = np.empty(len(view), np.int64)
        sample_masked(logits, view.mask, view.streams, actions)
        return actions


def actor(observation_size: int, num_actions: int, layers: list[int]) -> Any:
    """The actor of an SB3 ``MlpPolicy``: tanh layers and a linear head."""
    parts: list[Any] = []
    width = observation_size
    for size in layers:
        parts += [nn.Linear(width, size), nn.Tanh()]
        width = size
    return nn.Sequential(*parts, nn.Linear(width, num_actions))


def actor_weights(state_dict: dict[str, Any]) -> dict[str, Any]:
    """The actor's part of an SB3 ``MlpPolicy`` state dict, named as in :func:`actor`, for raw observations."""
    trunk = "mlp_extractor.policy_net."
    weights = {name.removeprefix(trunk): value for name, value in state_dict.items() if name.startswith(trunk)}
    depth = sum(name.endswith("weight") for name in weights)
    weights[f"{2 * depth}.weight"] = state_dict["action_net.weight"]
    weights[f"{2 * depth}.bias"] = state_dict["action_net.bias"]
    if "features_extractor.deviation" in state_dict:
        weights["0.weight"] = weights["0.weight"] / state_dict["features_extractor.deviation"]
        weights["0.bias"] = weights["0.bias"] - weights["0.weight"] @ state_dict["features_extractor.mean"]
    return weights
