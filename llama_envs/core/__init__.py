"""The door between games and everything else: Game, Batch, observations, chance, payoffs, policies."""
