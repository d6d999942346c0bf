"""Policies that ship: importing this package registers ``heuristic``, ``ppo``, ``baseline``, ``mc``,
``ismcts`` and ``tabular`` by name."""

from agents import baseline, heuristic, ppo, search, tabular

heuristic.register()
ppo.register()
baseline.register()
search.register()
tabular.register()
