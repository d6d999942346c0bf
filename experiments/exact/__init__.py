"""Games small enough to be solved: their equilibria, and how far PPO's self-play stays from one."""
