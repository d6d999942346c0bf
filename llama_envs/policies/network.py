"""Trained policies: one file that says what it is and plays without torch.

A policy file is a numpy archive with an entry ``about`` (JSON) and the arrays of its networks:

=========================  =============================================================================================
``policy.K.weight``        (out, in) float32, layer K of the network that gives a logit for each action
``policy.K.bias``          (out,) float32
``value.K.…``              the same for the network that gives what the seat to move expects; may be missing
``observation.mean``       (D,) float32; with ``observation.deviation`` it standardises the observation; may be missing
=========================  =============================================================================================

``about`` holds ``format``, ``game`` and ``version``, the whole ``config`` (contents of a deck included; ``reward`` is
what the value network speaks in), ``inputs`` and ``activation`` of the networks, ``trained`` (which of "policy" and
"value" were), ``made`` (command, seed, versions) and ``hash``, the SHA-256 of all the rest. A model file of
Stable-Baselines3 that ``experiments.train`` wrote is a policy file too: it has the same entries.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from llama_envs.core.chance import draw_unit
from llama_envs.core.compile import kernel
from llama_envs.core.contract import Integers, Streams
from llama_envs.core.game import Game
from llama_envs.core.recording import config_to_json
from llama_envs.policies.view import Actions, View

FORMAT = "llama_envs policy 1"
INPUTS = ("observation", "action_mask")
ACTIVATIONS = ("tanh", "relu")
PARTS = ("policy", "value")
# Rows that are multiplied at a time, however many there are: so no row's sums depend on the others. Larger blocks are
# no faster, and BLAS shares them among threads, which takes ten times as long.
BLOCK = 4

Arrays = dict[str, npt.NDArray[np.float32]]
Rows = npt.NDArray[np.float32]


# ------------------------------------------------------------------------------------------------------------ the file


@dataclass(frozen=True, eq=False)
class PolicyFile:
    """What a policy file holds.

    Attributes:
        about: see the module.
        arrays: see the module.
        source: where it was read, for messages.
    """

    about: dict[str, Any]
    arrays: Arrays
    source: str = ""

    def network(self, part: str) -> Network:
        """The network "policy" or "value"."""
        layers = sum(name.startswith(f"{part}.") and name.endswith(".weight") for name in self.arrays)
        weights = [(self.arrays[f"{part}.{k}.weight"], self.arrays[f"{part}.{k}.bias"]) for k in range(layers)]
        if "observation.mean" in self.arrays:
            weight, bias = (array.astype(np.float64) for array in weights[0])
            weight = weight / self.arrays["observation.deviation"]
            bias = bias - weight @ self.arrays["observation.mean"]
            weights[0] = weight.astype(np.float32), bias.astype(np.float32)
        return Network(weights, self.about["activation"], tuple(self.about["inputs"]))

    def check_fits(self, game: Game, part: str = "policy") -> None:
        """ValueError with one sentence unless its network ``part`` was trained, and for the rules of ``game``."""
        about = self.about
        if part not in about["trained"]:
            raise ValueError(
                f"{self.source} has no trained {part} network; trained was {' and '.join(about['trained'])}."
            )
        if (about["game"], about["version"]) != (game.name, game.version):
            raise ValueError(f"{self.source} was made for {about['game']}_v{about['version']}, not for {game.id}.")
        later = {each.name: each.default for each in dataclasses.fields(game.config) if each.metadata.get("later")}
        there, here = {**later, **about["config"]}, {**later, **config_to_json(game.config)}
        if there.get("history") == 0 != here["history"]:  # the events come last, and this network reads none
            game = game.spec.make_game(dataclasses.replace(game.config, history=0))
            here["history"] = 0
        for field in dict.fromkeys(["num_players", *here, *there]):
            if there.get(field) != here.get(field) and (field != "reward" or part == "value"):
                raise ValueError(
                    f"{self.source} was made for {game.id} with {field} = {_short(there.get(field))}, "
                    f"not with {_short(here.get(field))}."
                )
        size = sum({"observation": game.observation.size, "action_mask": game.num_actions}[x] for x in about["inputs"])
        outputs = game.num_actions if part == "policy" else 1
        network = self.network(part)
        if (network.layers[0][0].shape[0], network.layers[-1][0].shape[1]) != (size, outputs):
            raise ValueError(f"{self.source} is damaged: its {part} network does not fit {game.id}.")


def describe(
    game: Game, *, inputs: Sequence[str] = ("observation",), activation: str = "tanh",
    trained: Sequence[str] = PARTS, made: Mapping[str, Any] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The entry ``about`` of a policy for ``game``, but for the hash."""
    return {
        "format": FORMAT,
        "game": game.name,
        "version": game.version,
        "config": config_to_json(game.config),
        "inputs": list(inputs),
        "activation": activation,
        "trained": list(trained),
        "made": dict(made or {}),
    }


def entries(about: Mapping[str, Any], arrays: Arrays) -> dict[str, bytes]:
    """The members of the archive.

    Raises:
        ValueError: a weight is not finite.
    """
    arrays = {name: np.ascontiguousarray(array, np.float32) for name, array in arrays.items()}
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise ValueError(f"a policy with weights that are not finite cannot be saved ({name}).")
    about = {**about, "hash": _hash(about, arrays)}
    members: dict[str, npt.NDArray[Any]] = {"about": np.array(json.dumps(about)), **arrays}
    return {f"{name}.npy": _to_bytes(array) for name, array in members.items()}


def write_policy(path: str | Path, about: Mapping[str, Any], arrays: Arrays) -> None:
    """Write a policy file; equal contents give equal bytes.

    Raises:
        ValueError: a weight is not finite.
    """
    add_policy(path, about, arrays, "w")


def add_policy(path: str | Path, about: Mapping[str, Any], arrays: Arrays, mode: Any = "a") -> None:
    """Add the entries of a policy file to an archive that has none, such as a model file of Stable-Baselines3."""
    members = entries(about, arrays)
    with zipfile.ZipFile(path, mode, zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)


def read_policy(path: str | Path) -> PolicyFile:
    """The policy in a file.

    Raises:
        ValueError: the file is missing, damaged or no policy file; one sentence.
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"there is no policy file {path}.")
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{path} is not a readable policy file (it is no zip archive).")
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as archive:
            ours = [name.removesuffix(".npy") for name in archive.zip.namelist() if name.endswith(".npy")]
            members = {name: archive[name] for name in ours}
    except Exception as error:  # whatever a damaged archive makes of its readers
        raise ValueError(f"{path} is not a readable policy file ({str(error) or type(error).__name__}).") from None
    if "about" not in members:
        raise ValueError(f"{path} does not say which game it plays; agents.ppo.save_policy writes files that do.")
    try:
        about = json.loads(str(members.pop("about")))
        arrays = {name: array.astype(np.float32, copy=False) for name, array in members.items()}
        claimed = about.pop("hash")
        known = about["format"] == FORMAT
        sound = (
            about["activation"] in ACTIVATIONS
            and set(about["inputs"]) <= set(INPUTS)
            and set(about["trained"]) <= set(PARTS)
            and isinstance(about["game"], str)
            and isinstance(about["version"], int)
            and isinstance(about["config"], dict)
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(f"{path} is damaged: its description cannot be read.") from None
    if not known:
        raise ValueError(f"{path} has the format {about['format']!r}, not {FORMAT!r}.")
    if not sound:
        raise ValueError(f"{path} is damaged: its description makes no sense.")
    if claimed != _hash(about, arrays):
        raise ValueError(f"{path} is damaged: its content does not fit its hash.")
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise ValueError(f"{path} has weights that are not finite; its training failed.")
    return PolicyFile({**about, "hash": claimed}, arrays, str(path))


def _hash(about: Mapping[str, Any], arrays: Arrays) -> str:
    digest = hashlib.sha256(json.dumps({k: v for k, v in about.items() if k != "hash"}, sort_keys=True).encode())
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].shape}".encode())
        digest.update(np.ascontiguousarray(arrays[name], "<f4").tobytes())
    return digest.hexdigest()


def _to_bytes(array: npt.NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


# ------------------------------------------------------------------------------------------------------------- playing


class Network:
    """Fully connected layers in float32. A row's results do not depend on the other rows.

    Args:
        layers: (out, in) weight and (out,) bias of each.
        activation: "tanh" or "relu", between layers.
        inputs: which of "observation" and "action_mask" are read, in this order.
    """

    def __init__(
        self, layers: Sequence[tuple[Rows, Rows]], activation: str, inputs: Sequence[str] = ("observation",)
    ) -> None:
        self.layers = [(np.ascontiguousarray(weight.T, np.float32), np.ascontiguousarray(bias, np.float32))
                       for weight, bias in layers]  # fmt: skip
        self.tanh = activation == "tanh"
        self.inputs = tuple(inputs)

    def __call__(self, observation: Rows, mask: npt.NDArray[np.bool_]) -> Rows:
        """The last layer's outputs, (n, out) float32, for ``observation`` (n, D) and ``mask`` (n, A)."""
        n, width = len(observation), len(self.layers[0][0])
        seen = width - mask.shape[1] if "action_mask" in self.inputs else width  # events may follow (``history``)
        read = {"observation": observation[:, :seen], "action_mask": mask}
        rows = np.zeros((-(-n // BLOCK) * BLOCK, width), np.float32)
        np.concatenate([read[name] for name in self.inputs], axis=1, out=rows[:n], casting="unsafe")
        blocks = rows.reshape(-1, BLOCK, width)
        for number, (weight, bias) in enumerate(self.layers):
            blocks = np.matmul(blocks, weight)
            blocks += bias
            if number + 1 < len(self.layers):
                np.tanh(blocks, out=blocks) if self.tanh else np.maximum(blocks, 0, out=blocks)
        return blocks.reshape(len(rows), blocks.shape[-1])[:n]


class NetworkPolicy:
    """A network that gives a logit for each action.

    Args:
        network: what is evaluated.
        greedy: take the likeliest legal action, or sample from the policy's own streams.
    """

    needs_worlds = False

    def __init__(self, network: Network, greedy: bool = True) -> None:
        self.network = network
        self.greedy = greedy

    def act(self, view: View) -> Actions:
        """The likeliest or a sampled legal action for each row: (n,) int64."""
        logits = self.network(view.observation, view.mask)
        if self.greedy:
            return np.where(view.mask, logits, -np.inf).argmax(axis=1)
        actions = np.empty(len(view), np.int64)
        sample_masked(logits, view.mask, view.streams, actions)
        return actions


@kernel(allocates=True)
def sample_masked(logits: Rows, mask: npt.NDArray[np.bool_], streams: Streams, actions: Integers) -> None:
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


def probabilities(logits: npt.NDArray[np.float32], mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Softmax over the legal actions: (n, A) float64."""
    shifted = np.where(mask, logits.astype(np.float64), -np.inf)
    weights = np.exp(shifted - shifted.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def load_policy(path: str | Path, game: Game, greedy: bool = True) -> NetworkPolicy:
    """The policy in a file, ready to play ``game``.

    Raises:
        ValueError: the file is missing or damaged, or was made for another game or other rules.
    """
    file = read_policy(path)
    file.check_fits(game)
    return NetworkPolicy(file.network("policy"), greedy)


def load_value(path: str | Path, game: Game) -> Network:
    """The value network in a file: from observations (n, D) and masks (n, A) to expected returns (n, 1).

    Raises:
        ValueError: as :func:`load_policy`; or the network was not trained, or in another reward.
    """
    file = read_policy(path)
    file.check_fits(game, "value")
    return file.network("value")


def build_greedy(game: Game, argument: str) -> NetworkPolicy:
    """``network:PATH``: the likeliest action."""
    return _build(game, argument, True)


def build_sampling(game: Game, argument: str) -> NetworkPolicy:
    """``network_sample:PATH``: an action drawn by its probability."""
    return _build(game, argument, False)


def _build(game: Game, argument: str, greedy: bool) -> NetworkPolicy:
    if not argument:
        raise ValueError("a network policy is written network:PATH, with the path of a policy file.")
    return load_policy(argument, game, greedy)
