"""Command lines: ``llama-envs evaluate``, ``tournament``, ``games``, ``policies`` (extra ``cli``)."""
