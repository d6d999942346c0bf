"""``ppo:PATH`` and ``ppo_sample:PATH``: a trained MaskablePPO model as a policy, greedy or sampling.

A model file is what MaskablePPO saves, and one entry more, ``llama_envs``: the game it was made for and the shape of
its network. Only that entry and the weights are read, so a file opens under other versions of Python and numpy.
"""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from llama_envs.core.chance import draw_unit
from llama_envs.core.compile import kernel
from llama_envs.core.game import Game
from llama_envs.core.policy import Actions, Policy, View, register_policy

ENTRY = "llama_envs"


def describe(game: Game, net_arch: dict[str, list[int]]) -> dict[str, Any]:
    """What a model file must say of itself: the game, its actions and observation, and the network."""
    return {
        "game": game.name,
        "version": game.version,
        "num_players": game.num_players,
        "actions": list(game.action_names),
        "observation": [[piece.name, *piece.shape, piece.scale] for piece in game.observation.values()],
        "net_arch": net_arch,
    }


def check_fits(made_for: dict[str, Any], game: Game, source: str) -> None:
    """ValueError with one sentence unless a model made for ``made_for`` can play ``game``."""
    here = describe(game, {})
    for field in ("game", "version", "num_players"):
        if made_for.get(field) != here[field]:
            raise ValueError(
                f"{source} was made for {made_for.get('game')}_v{made_for.get('version')} with "
                f"{made_for.get('num_players')} players, not for {game.id} with {game.num_players}."
            )
    for field, noun in (("actions", "actions"), ("observation", "observation slices")):
        if made_for.get(field) != here[field]:
            theirs, ours = made_for.get(field), here[field]
            theirs = theirs if isinstance(theirs, list) else []
            different = next((pair for pair in zip(theirs, ours, strict=False) if pair[0] != pair[1]), None)
            detail = (
                f"{different[0]} there, {different[1]} here" if different else f"{len(theirs)} there, {len(ours)} here"
            )
            raise ValueError(
                f"{source} was made for other {noun} of {game.id} ({detail}); use the options it was made with."
            )


def read_model(path: Path) -> tuple[dict[str, Any], bytes]:
    """The description and the weights in a model file.

    Raises:
        ValueError: the file is missing, not a model, damaged, or not made by this project.
    """
    if not path.is_file():
        raise ValueError(f"there is no model file {path}.")
    try:
        with zipfile.ZipFile(path) as archive:
            data = json.loads(archive.read("data"))
            weights = archive.read("policy.pth")
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError, OSError) as error:
        raise ValueError(f"{path} is not a readable MaskablePPO model file ({error}).") from None
    if not isinstance(data, dict) or not isinstance(data.get(ENTRY), dict):
        raise ValueError(f"{path} does not say which game it plays; train it with experiments.train.")
    return data[ENTRY], weights


def load_state_dict(weights: bytes) -> dict[str, Any]:
    """The weights that :func:`read_model` gave, as tensors; whatever torch raises if they are damaged."""
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what torch thinks of a damaged file
        return dict(torch.load(io.BytesIO(weights), map_location="cpu", weights_only=True))


def write_model(path: Path, made_for: dict[str, Any], state_dict: dict[str, Any]) -> None:
    """A model file with the description and the weights (named as in SB3's ``MlpPolicy``), and nothing else."""
    import torch

    parameters = io.BytesIO()
    torch.save({name: torch.as_tensor(value).clone() for name, value in state_dict.items()}, parameters)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data", json.dumps({ENTRY: made_for}))
        archive.writestr("policy.pth", parameters.getvalue())


class PPOPolicy:
    """A masked actor network.

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
        import torch

        with torch.no_grad():
            logits = self.network(torch.from_numpy(view.observation)).numpy()
        if self.greedy:
            return np.where(view.mask, logits, -np.inf).argmax(axis=1)
        actions = np.empty(len(view), np.int64)
        sample_masked(logits, view.mask, view.streams, actions)
        return actions


@kernel(allocates=True)
def sample_masked(logits, mask, streams, actions):
    """Draw ``actions[i]`` from the softmax of ``logits[i]`` over the legal actions, by stream i."""
    weights = np.empty(logits.shape[1], np.float64)
    for i in range(len(logits)):
        best = -np.inf
        for a in range(len(weights)):
            if mask[i, a] and logits[i, a] > best:
                best = float(logits[i, a])
        total = 0.0
        for a in range(len(weights)):
            weights[a] = np.exp(float(logits[i, a]) - best) if mask[i, a] else 0.0
            total += weights[a]
        left = draw_unit(streams, i) * total
        for a in range(len(weights)):
            if mask[i, a]:
                actions[i] = a
                left -= weights[a]
                if left < 0.0:
                    break


def actor(observation_size: int, num_actions: int, layers: list[int]) -> Any:
    """The actor of an SB3 ``MlpPolicy``: tanh layers and a linear head."""
    from torch import nn

    parts: list[Any] = []
    width = observation_size
    for size in layers:
        parts += [nn.Linear(width, size), nn.Tanh()]
        width = size
    return nn.Sequential(*parts, nn.Linear(width, num_actions))


def actor_weights(state_dict: dict[str, Any]) -> dict[str, Any]:
    """The actor's part of an SB3 ``MlpPolicy`` state dict, named as in :func:`actor`, for raw observations."""
    return mlp_weights(state_dict, "mlp_extractor.policy_net.", "action_net")


def critic_weights(state_dict: dict[str, Any]) -> dict[str, Any]:
    """The critic's part, named as in :func:`actor` with one output: the return that the seat to move expects."""
    return mlp_weights(state_dict, "mlp_extractor.value_net.", "value_net")


def mlp_weights(state_dict: dict[str, Any], trunk: str, head: str) -> dict[str, Any]:
    """Layers under ``trunk`` and the linear ``head``; what standardises the observation goes into the first layer."""
    weights = {name.removeprefix(trunk): value for name, value in state_dict.items() if name.startswith(trunk)}
    depth = sum(name.endswith("weight") for name in weights)
    weights[f"{2 * depth}.weight"] = state_dict[f"{head}.weight"]
    weights[f"{2 * depth}.bias"] = state_dict[f"{head}.bias"]
    if "features_extractor.deviation" in state_dict:
        weights["0.weight"] = weights["0.weight"] / state_dict["features_extractor.deviation"]
        weights["0.bias"] = weights["0.bias"] - weights["0.weight"] @ state_dict["features_extractor.mean"]
    return weights


def load_ppo(path: str | Path, game: Game, greedy: bool = True) -> PPOPolicy:
    """The policy in a model file, ready to play ``game``.

    Raises:
        ValueError: the file is missing or damaged, or was made for another game, player count or observation.
    """
    made_for, weights = read_model(Path(path))
    check_fits(made_for, game, str(path))
    try:
        import torch  # noqa: F401
    except ImportError:
        raise ValueError("a ppo policy needs torch: pip install 'llama-envs[train]'.") from None
    try:
        network = actor(game.observation.size, game.num_actions, made_for["net_arch"]["pi"])
        network.load_state_dict(actor_weights(load_state_dict(weights)))
    except Exception as error:  # a damaged file can make torch raise anything
        first_line = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ValueError(f"the weights in {path} are damaged ({first_line}).") from None
    return PPOPolicy(network, greedy)


def probabilities(logits: npt.NDArray[np.float32], mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Softmax over the legal actions: (n, A) float64."""
    shifted = np.where(mask, logits.astype(np.float64), -np.inf)
    weights = np.exp(shifted - shifted.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def register() -> None:
    """Register ``ppo`` and ``ppo_sample``."""

    def build(greedy: bool) -> Any:
        def make(game: Game, argument: str) -> Policy:
            if not argument:
                raise ValueError("a ppo policy is written ppo:PATH, with the path of a model file.")
            return load_ppo(argument, game, greedy)

        return make

    register_policy("ppo", build(True), "ppo:PATH")
    register_policy("ppo_sample", build(False), "ppo_sample:PATH")
