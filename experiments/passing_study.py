"""``python -m experiments.passing_study``: see ``experiments/passing/__main__.py``."""

from experiments.passing.__main__ import main

if __name__ == "__main__":
    main()
