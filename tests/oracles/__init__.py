"""Referees: slow plain-Python rules, written from the rules pages alone, to check the kernels against."""
