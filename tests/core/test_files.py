"""core.files: a file is there as a whole or not at all, in UTF-8, and nothing but a regular file is replaced."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from llama_envs.core.files import write_atomically, write_json, write_text
from tests.cases import run_python

TEXT = "± ∞ Größe 🦙"


def test_a_failing_write_leaves_what_was_there_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    write_text(path, "old")

    def fails(temporary: Path) -> None:
        temporary.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left") as raised:
        write_atomically(path, fails)
    assert raised.value.filename == str(path)  # so that a command can say which file it could not write
    assert [file.name for file in tmp_path.iterdir()] == ["table.csv"]
    assert path.read_text(encoding="utf-8") == "old"


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1"])
def test_text_is_utf_8_whatever_the_locale__N07(locale: str, tmp_path: Path) -> None:
    path = tmp_path / "report.md"
    code = f"""
from pathlib import Path
from llama_envs.core.files import write_text
write_text(Path({str(path)!r}), {TEXT!a})
"""
    run_python(code, LC_ALL=locale, PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", PYTHONIOENCODING="ascii")
    assert path.read_bytes() == TEXT.encode()


def test_a_terminal_that_cannot_show_a_character_gets_a_substitute__N07() -> None:
    code = "from llama_envs.cli.command import show_what_the_terminal_can as show; show(); print('0.5 \\xb1 0.1')"
    assert run_python(code, PYTHONIOENCODING="ascii") == "0.5 ? 0.1"


def test_a_link_is_followed_and_stays_a_link__N08(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "latest.json"
    link.symlink_to(tmp_path / "there" / "real.json")
    write_json(link, {"a": 1})
    assert link.is_symlink()
    assert (tmp_path / "there" / "real.json").read_text(encoding="utf-8") == '{\n  "a": 1\n}\n'


def test_a_pipe_a_device_and_a_folder_are_never_replaced__N08(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, words in ((pipe, "no regular file"), (Path(os.devnull), "no regular file"), (tmp_path, "a folder")):
        with pytest.raises(OSError, match=words):
            write_text(path, "x")
    assert pipe.is_fifo()
    assert Path(os.devnull).is_char_device()
    assert [file.name for file in tmp_path.iterdir()] == ["pipe"]
