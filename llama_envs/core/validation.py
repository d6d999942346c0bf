"""Checks of configuration fields, each with one sentence that names the field and the allowed values."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


def check_int(name: str, value: Any, low: int, high: int, why: str = "") -> int:
    """``value`` as an int in [low, high], else ValueError."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise ValueError(f"{name} must be an integer from {low} to {high}{why}, got {value!r}.")
    return int(value)


def check_choice(name: str, value: Any, allowed: Collection[Any]) -> None:
    """ValueError unless ``value`` is one of ``allowed``."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}.")


def check_bool(name: str, value: Any) -> bool:
    """``value`` as a bool, else ValueError."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def make_plain(config: Any) -> None:
    """Numpy's integers in the fields of a frozen dataclass become Python's own."""
    for field in fields(config):
        value = getattr(config, field.name)
        if isinstance(value, np.integer):
            object.__setattr__(config, field.name, value.item())


def build_config(kind: type[T], options: dict[str, Any]) -> T:
    """``kind(**options)`` with a ValueError that lists the known options when one is unknown."""
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    for name in options:
        if name not in known:
            raise ValueError(f"unknown option {name!r}; the options of this game are {', '.join(known)}.")
    return kind(**options)
