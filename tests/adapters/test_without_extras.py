"""An adapter whose library is not installed says so in one sentence that names the extra."""

from __future__ import annotations

import pytest

from tests.cases import run_python

CODE = """
import importlib, sys
sys.modules[sys.argv[1]] = None
try:
    importlib.import_module(sys.argv[2])
except ImportError as error:
    print(error, error.__suppress_context__)
"""


@pytest.mark.parametrize(
    ("library", "module", "sentence"),
    [
        (
            "stable_baselines3",
            "llama_envs.adapters.sb3",
            "llama_envs.adapters.sb3 needs Stable-Baselines3: pip install 'llama-envs[train]'.",
        ),
        (
            "pyspiel",
            "llama_envs.adapters.open_spiel",
            "llama_envs.adapters.open_spiel needs OpenSpiel: pip install 'llama-envs[openspiel]'.",
        ),
    ],
)
def test_a_missing_library_is_one_sentence_that_says_what_to_install(library: str, module: str, sentence: str) -> None:
    assert run_python(CODE, library, module) == f"{sentence} True"


def test_rllib_also_says_what_failed() -> None:
    said = run_python(CODE, "ray", "llama_envs.adapters.rllib")
    assert said.startswith("llama_envs.adapters.rllib needs RLlib and torch (No module named 'ray.rllib'")
    assert "): pip install 'llama-envs[ray]'" in said
    assert len(said.splitlines()) == 1
