"""When to quit a round of L.L.A.M.A., what a returned chip is worth, and where to sit: a study with its report."""
