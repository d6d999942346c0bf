"""The last public events of a game, which a configuration may ask for (``history=K``).

A game whose configuration keeps none has records without a place for them, and pays nothing: :func:`where_kept` makes
a kernel that is compiled to nothing there, so that the rules say what is an event once, where it happens.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from llama_envs.core.compile import JIT, kernel

F = TypeVar("F", bound=Callable[..., None])


def with_events(state: np.dtype[np.void], *events: tuple[Any, ...]) -> np.dtype[np.void]:
    """The record ``state`` with the fields ``events`` before its own.

    Not behind: numba takes a record that begins like another for a kind of that one.
    """
    return np.dtype([*events, *((name, state[name]) for name in state.names or ())], align=True)


def where_kept(field: str) -> Callable[[F], F]:
    """``@where_kept("events")``: a kernel that does nothing to records without that field (its first argument)."""

    def decorate(function: F) -> F:
        if not JIT:

            def plain(*arguments: Any) -> None:
                if field in arguments[0].dtype.names:
                    function(*arguments)

            return plain  # type: ignore[return-value]

        from numba.extending import overload

        compiled = kernel(function)

        def either(*arguments: Any) -> None:
            compiled(*arguments)  # never run: kernels call what follows

        @overload(either, jit_options={"_nrt": False})  # type: ignore[untyped-decorator]
        def typed(*arguments: Any) -> Callable[..., None]:
            if field in arguments[0].fields:

                def keep(*arguments: Any) -> None:
                    compiled(*arguments)

                return keep

            def leave(*arguments: Any) -> None:
                return

            return leave

        return either  # type: ignore[return-value]

    return decorate
