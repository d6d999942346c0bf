"""``python -m experiments.quitting_study``: see ``experiments/quitting/__main__.py``."""

from experiments.quitting.__main__ import main

if __name__ == "__main__":
    main()
