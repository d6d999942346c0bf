"""One masked policy in every seat, with TorchRL: ``python -m experiments.examples.torchrl_rollout``."""

from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.modules import MaskedCategorical, ProbabilisticActor

from llama_envs import llama_llama_v0


def main() -> None:
    """Play one game with an untrained network."""
    parallel = llama_llama_v0.parallel_env(num_players=3, illegal_action="error")
    env = PettingZooWrapper(parallel)  # for L.L.A.M.A.: PettingZooWrapper(lama_v0.env(), use_mask=True)
    seen = ("player", "observation", "observation")  # (players, D)
    network = nn.Sequential(nn.LazyLinear(64), nn.Tanh(), nn.Linear(64, parallel.game.num_actions))
    policy = ProbabilisticActor(
        TensorDictModule(network, in_keys=[seen], out_keys=[("player", "logits")]),
        in_keys={"logits": ("player", "logits"), "mask": ("player", "action_mask")},
        out_keys=[("player", "action")],
        distribution_class=MaskedCategorical,
    )
    rollout = env.rollout(1000, policy)
    paid = rollout["next", "player", "reward"].sum(0).flatten().tolist()
    print(f"{len(rollout)} steps, payoffs {paid}")


if __name__ == "__main__":
    main()
