"""``python -m experiments.evaluate``: play policies against each other (:mod:`llama_envs.cli.evaluate`)."""

from llama_envs.cli.evaluate import main

if __name__ == "__main__":
    main()
