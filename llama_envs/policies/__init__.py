"""Policies: what chooses actions, the names by which everything asks for one, and those that ship."""

from llama_envs.core.contract import PolicyKernel
from llama_envs.policies.names import make_policy, policy_usage, register_policy
from llama_envs.policies.players import Players, PolicyError
from llama_envs.policies.scripted import RandomPolicy, ScriptedPolicy
from llama_envs.policies.view import Actions, Policy, View, make_view

__all__ = [
    "Actions",
    "Players",
    "Policy",
    "PolicyError",
    "PolicyKernel",
    "RandomPolicy",
    "ScriptedPolicy",
    "View",
    "make_policy",
    "make_view",
    "policy_usage",
    "register_policy",
]
