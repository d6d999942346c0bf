"""Doors to other libraries, each generic over Game: PettingZoo AEC and Parallel, Stable-Baselines3."""
