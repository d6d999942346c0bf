"""What tests of the experiments share."""

from __future__ import annotations

import pytest

from experiments.lib.findings import Findings


@pytest.fixture
def every_verdict(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Whatever is said is said for every verdict, so that each is known to have its numbers; the sentences said."""
    said: set[str] = set()
    usual = Findings.say

    def say(self: Findings, name: str, verdict: int | str = "", **numbers: object) -> str:
        said.add(name)
        for text in self.sentences[name].values():
            text.format(**numbers)
        return usual(self, name, verdict, **numbers)

    monkeypatch.setattr(Findings, "say", say)
    return said
