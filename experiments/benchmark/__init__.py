"""How good the policies are, in both games: tournaments, equal-time comparisons, exploitability, one report."""
