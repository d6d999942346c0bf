"""Runnable studies: ``python -m experiments.<name> --help``."""
