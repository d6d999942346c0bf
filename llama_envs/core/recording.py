"""Games written down: a configuration as plain JSON values."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, get_args, get_type_hints

T = TypeVar("T")


def config_to_json(config: Any) -> Any:
    """A config dataclass as JSON values: dataclasses as objects, tuples as lists; what equality ignores is left out."""
    if is_dataclass(config) and not isinstance(config, type):
        return {field.name: config_to_json(getattr(config, field.name)) for field in fields(config) if field.compare}
    if isinstance(config, (tuple, list)):
        return [config_to_json(entry) for entry in config]
    return config


def config_from_json(kind: type[T], value: Any) -> T:
    """The config dataclass ``kind`` that ``config_to_json`` turned into ``value``.

    Raises:
        ValueError: ``value`` is no object, has unknown or missing fields, or ``kind`` refuses one.
    """
    hints = get_type_hints(kind)
    known = [field.name for field in fields(kind) if field.compare]  # type: ignore[arg-type]
    if not isinstance(value, dict) or set(value) != set(known):
        found = ", ".join(map(str, value)) if isinstance(value, dict) else repr(value)
        raise ValueError(f"a {kind.__name__} must have the fields {', '.join(known)}, got {found}.")
    return kind(**{name: _from_json(hints[name], value[name]) for name in known})


def _from_json(hint: Any, value: Any) -> Any:
    """``value`` with objects turned into the dataclass that ``hint`` names, and lists into tuples."""
    if isinstance(value, list):
        return tuple(_from_json(hint, entry) for entry in value)
    if isinstance(value, dict):
        kinds = [kind for kind in _named_in(hint) if isinstance(kind, type) and is_dataclass(kind)]
        if len(kinds) != 1:
            raise ValueError(f"there is no object where {hint} is wanted, got {value!r}.")
        return config_from_json(kinds[0], value)
    return value


def _named_in(hint: Any) -> list[Any]:
    """All types inside a type hint."""
    return [hint, *(inner for part in get_args(hint) for inner in _named_in(part))]
