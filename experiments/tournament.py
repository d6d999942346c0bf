"""``python -m experiments.tournament``: a tournament of any number of policies (:mod:`llama_envs.cli.tournament`)."""

from llama_envs.cli.tournament import main

if __name__ == "__main__":
    main()
