"""What the tests of all renderers share: a game in words, in pixels and as SVG, and what a document says."""

from __future__ import annotations

from collections import Counter
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt

from llama_envs.core.batch import Batch

NAMESPACE = "{http://www.w3.org/2000/svg}"


def text(batch: Batch, seat: int | None) -> str:
    return batch.game.renderer.text(batch.game, batch.state[0], seat)


def picture(batch: Batch, seat: int | None) -> npt.NDArray[np.uint8]:
    return batch.game.renderer.picture(batch.game, batch.state[0], seat)


def svg(batch: Batch, seat: int | None) -> str:
    return batch.game.renderer.svg(batch.game, batch.state[0], seat)


def elements(document: str, name: str) -> list[ElementTree.Element]:
    """The elements of this name in a document, which must be well-formed."""
    return list(ElementTree.fromstring(document).iter(NAMESPACE + name))


def choices(document: str, kind: str) -> Counter[int]:
    """How often each action can be chosen on a "card" or a "button"."""
    groups = [each for each in elements(document, "g") if each.get("class") == kind]
    return Counter(int(each.attrib["data-action"]) for each in groups)


def choice_names(document: str) -> dict[int, str]:
    """The name of each action that can be chosen."""
    groups = [each for each in elements(document, "g") if "data-action" in each.attrib]
    return {int(each.attrib["data-action"]): each.findtext(f"{NAMESPACE}title") or "" for each in groups}
