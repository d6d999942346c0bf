"""What every game is built on: Game, Batch, observations, chance, payoffs, recordings."""
