"""Solve a tiny game with OpenSpiel's CFR+: ``python -m experiments.examples.open_spiel_cfr``.

Only tiny games can be solved so: at full size the tree is out of reach of CFR and exploitability.
"""

import pyspiel
from open_spiel.python.algorithms import cfr, exploitability

import llama_envs.adapters.open_spiel  # noqa: F401  registers python_lama and python_llama_llama


def main() -> None:
    """Play CFR+ against itself and print how far its average policy is from an equilibrium."""
    game = pyspiel.load_game(
        "python_lama",
        {
            "num_players": 2,
            "num_ranks": 2,
            "copies": 2,
            "hand_size": 1,
            "max_rounds": 1,
            "single_round_terminates": True,
        },
    )
    solver = cfr.CFRPlusSolver(game)
    for iteration in range(1, 41):
        solver.evaluate_and_update_policy()
        if iteration in (1, 2, 5, 10, 20, 40):
            distance = exploitability.exploitability(game, solver.average_policy())
            print(f"iteration {iteration:3}: exploitability {distance:.4f}")


if __name__ == "__main__":
    main()
