"""Who plays against the learner: itself, as it is and as it was, and policies that stay the same."""

from __future__ import annotations

import copy
from typing import Any

from sb3_contrib import MaskablePPO

from agents.ppo import TorchPolicy, actor, actor_weights
from experiments.train.options import Options
from llama_envs.core.game import Game
from llama_envs.policies import Policy, make_policy


def scripted_opponents(game: Game, options: Options) -> tuple[str, ...]:
    """The names behind ``options.scripted``."""
    found = ("heuristic",) if game.spec.heuristic is not None else ()
    return found if options.scripted == ("auto",) else options.scripted


class OpponentPool:
    """The current policy, a ring of past snapshots, and scripted policies; copies of the learner sample their actions.

    Copies change only in ``refresh`` (the current policy, before every rollout) and ``remember`` (one snapshot).
    """

    def __init__(self, game: Game, options: Options) -> None:
        def blank() -> TorchPolicy:
            return TorchPolicy(actor(game.observation.size, game.num_actions, list(options.layers)), greedy=False)

        self.current = blank()
        self.past = [blank() for _ in range(options.snapshots)]
        self.remembered = 0
        self.weights: dict[str | Policy, float] = {}
        if options.self_weight > 0:
            self.weights[self.current] = options.self_weight
        for policy in self.past if options.snapshot_weight > 0 else []:
            self.weights[policy] = options.snapshot_weight / len(self.past)
        scripted = scripted_opponents(game, options) if options.scripted_weight > 0 else ()
        for name in scripted:
            self.weights[make_policy(name, game)] = options.scripted_weight / len(scripted)

    def refresh(self, model: MaskablePPO) -> None:
        """The current policy becomes the learner's present one."""
        self.current.network.load_state_dict(actor_weights(model.policy.state_dict()))

    def remember(self, model: MaskablePPO) -> None:
        """The learner's present policy replaces the oldest snapshot; at first, all of them."""
        slots = self.past if self.remembered == 0 else [self.past[self.remembered % len(self.past)]]
        for policy in slots:
            policy.network.load_state_dict(actor_weights(model.policy.state_dict()))
        self.remembered += 1

    def state(self) -> dict[str, Any]:
        """All that a checkpoint must hold."""
        networks = [policy.network.state_dict() for policy in (self.current, *self.past)]
        return {"networks": copy.deepcopy(networks), "remembered": self.remembered}

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to a ``state``."""
        self.remembered = state["remembered"]
        for policy, weights in zip((self.current, *self.past), state["networks"], strict=True):
            policy.network.load_state_dict(weights)
