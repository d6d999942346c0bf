"""The APIs of other libraries, over any Game: PettingZoo, Gymnasium, Stable-Baselines3, OpenSpiel, RLlib."""
