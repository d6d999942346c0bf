"""Policies that ship: importing this package registers ``heuristic`` and ``ppo`` with ``llama_envs.core.policy``."""

from agents import heuristic, ppo

heuristic.register()
ppo.register()
