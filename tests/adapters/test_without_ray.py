"""Where Ray is not installed, the commands that need it say so in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases import GAMES, run_python

NO_RAY = "import sys; sys.modules['ray'] = None; "


@pytest.mark.parametrize(
    "command",
    [
        ["experiments.train_rllib", GAMES[0]],
        ["experiments.evaluate", GAMES[0], "--ray", "--deals", "2"],
        ["experiments.exploit", GAMES[0], "--ray"],
        ["experiments.train", GAMES[0], "--ray", "--seeds", "2"],
        ["experiments.distill", GAMES[0], "--ray"],
    ],
    ids=["train_rllib", "evaluate", "exploit", "train", "distill"],
)
def test_the_commands_name_what_to_install_and_leave_nothing(command: list[str], tmp_path: Path) -> None:
    code = f"{NO_RAY}import os, runpy; os.chdir({str(tmp_path)!r}); sys.argv[1:] = {command[1:]!r}; "
    code += f"runpy.run_module({command[0]!r}, run_name='__main__', alter_sys=True)"
    with pytest.raises(AssertionError) as failed:
        run_python(code)
    (sentence,) = str(failed.value).splitlines()[:1]
    assert sentence.startswith("error: ")
    assert "pip install 'llama-envs[ray]'" in sentence
    assert "Traceback" not in str(failed.value)
    assert list(tmp_path.iterdir()) == []
