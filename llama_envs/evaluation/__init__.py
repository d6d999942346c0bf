"""Policies against each other: matches on shared deals, schedules, standings, intervals."""

from llama_envs.evaluation.matches import Comparison, MatchResults, Standing, compare, play

__all__ = ["Comparison", "MatchResults", "Standing", "compare", "play"]
