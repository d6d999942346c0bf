"""Runnable studies: ``python -m experiments.<name> --help``."""

import llama_envs  # noqa: F401  before all else: from then on an interrupt is one line
