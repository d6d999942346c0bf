"""Policies that ship: importing this package registers ``heuristic``, ``ppo`` and ``mc`` by name."""

from agents import heuristic, ppo, search

heuristic.register()
ppo.register()
search.register()
