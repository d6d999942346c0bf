"""The text of the studies: every sentence is asked for, has its numbers, and one for every side of an interval."""

from __future__ import annotations

import ast
import string
from pathlib import Path

import pytest

import experiments.lib
from experiments.lib.findings import Findings, by_players, either, listed, together
from experiments.passing.__main__ import SUBJECT as PASSING
from experiments.quitting.__main__ import SUBJECT as QUITTING

LIB = Path(experiments.lib.__path__[0])
SAY = ("say", "say_of_sweep")
COMPOSED = {"seats.last_actor", "seats.rotate"}  # by what the game's option says
TWO = (  # where a side cannot be, or is told in the same words
    {"some", "none"}, {"below", "none"}, {"below", "undecided"}, {"above", "undecided"}, {"dummy", "player"},
)  # fmt: skip
SIDES, SEVERAL = {"above", "below", "undecided"}, {"above", "below", "both", "none"}
Subjects = pytest.mark.parametrize("subject", [PASSING, QUITTING], ids=lambda subject: subject.name)


def asked(folder: Path) -> dict[str, list[ast.Call]]:
    """The calls of ``say`` in a folder, by the name of the sentence; names that are put together are left out."""
    found: dict[str, list[ast.Call]] = {}
    for path in [*folder.glob("*.py"), LIB / "study.py", LIB / "report.py"]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and called(node) in SAY and isinstance(node.args[0], ast.Constant):
                found.setdefault(str(node.args[0].value), []).append(node)
    return found


def called(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@Subjects
def test_every_sentence_is_asked_for_and_every_one_that_is_asked_for_is_there(subject) -> None:
    sentences = subject.findings.sentences
    calls = asked(LIB.parent / subject.name)
    assert set(calls) <= set(sentences)
    code = "".join(path.read_text(encoding="utf-8") for path in LIB.parent.joinpath(subject.name).glob("*.py"))
    of_parts = {f"{part}.{piece}" for part in subject.parts for piece in ("title", "question", "how")}
    assert of_parts <= set(sentences)
    for name in set(sentences) - set(calls) - of_parts - COMPOSED:
        assert name in code or f'"{name.partition(".")[2]}"' in code, name


@Subjects
def test_every_verdict_has_a_sentence_and_every_number_is_given(subject) -> None:
    sentences = subject.findings.sentences
    for name, texts in sentences.items():
        assert all(texts.values()), name
        if set(texts) not in ({""}, SIDES, SEVERAL, *TWO):
            assert set(texts) == {"above", "below", "both"}, name  # of a list without those of which nothing is sure
    for name, calls in asked(LIB.parent / subject.name).items():
        for node in calls:
            given = {keyword.arg for keyword in node.keywords}
            if None not in given and called(node) == "say":
                assert placeholders(" ".join(sentences[name].values())) <= given, name


def test_an_interval_picks_a_sentence_and_a_missing_number_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "text.md"
    path.write_text(
        "What it is.\n\n## care: Minding\n\n### how\nOne seat\ncares {care:g}.\n\n### worth\n- above: pays {x}\n"
        "- below: costs\n  {x}\n- undecided: {x}\n",
        encoding="utf-8",
    )
    findings = Findings(path)
    assert findings.say("care.title") == "Minding"
    assert findings.say("care.how", care=0.5) == "One seat cares 0.5."
    assert [findings.say("care.worth", side, x="1 ± 0") for side in (1, 0, -1)] == [
        "pays 1 ± 0",
        "1 ± 0",
        "costs 1 ± 0",
    ]
    with pytest.raises(KeyError):
        findings.say("care.worth", 1)


def test_lists_and_verdicts_on_several_numbers() -> None:
    assert [listed(items) for items in ([], ["a"], ["a", "b"], "abc")] == ["", "a", "a and b", "a, b and c"]
    assert by_players({2: "0.1", 4: "0.2"}, " %") == "0.1 % with 2 and 0.2 % with 4 players"
    assert [together(sides) for sides in ([1, 1], [1, 0], [-1], [1, -1], [])] == [1, 0, -1, 0, 0]
    assert [either(*pair) for pair in (([1], []), ([], [1]), ([1], [1]), ([], []))] == [
        "above",
        "below",
        "both",
        "none",
    ]
