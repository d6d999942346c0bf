"""One decorator for every compiled function in the suite: ``@kernel``.

A kernel is numba ``njit`` code with an on-disk cache, or the same function in plain Python when numba is missing or
``NUMBA_DISABLE_JIT=1`` is set. numba's own cache looks only at the file of the function itself; a kernel also inlines
what it calls, so the cache here is keyed by the source of *everything* a kernel reaches (functions, closures and
constants). Changing a rule in place therefore never runs stale machine code, and a loop built around functions that
are passed in (a closure) is cached across processes, which numba alone does not do. Of several processes that need
the same kernel at once one compiles it, and the others wait for its machine code.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import types
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, overload

import numpy as np

from llama_envs.core.locks import locks_in

try:
    import numba
    from numba.core.caching import FunctionCache, IndexDataCacheFile
    from numba.core.compiler_lock import global_compiler_lock

    JIT = not numba.config.DISABLE_JIT
except ImportError:  # numba is a dependency of the wheel; without it everything works, slowly
    JIT = False

F = TypeVar("F", bound=Callable[..., Any])

OPTIONS = {"nogil": True, "error_model": "numpy"}


@overload
def kernel(function: F) -> F: ...


@overload
def kernel(*, allocates: bool = False, inline: bool = False) -> Callable[[F], F]: ...


def kernel(function: Any = None, *, allocates: bool = False, inline: bool = False) -> Any:
    """Compile ``function`` with numba (cached, GIL released), or return it unchanged when compilation is off.

    Args:
        function: the function, if the decorator stands alone.
        allocates: it makes arrays, or gets one back from another kernel, so numba must count references to them. All
            other kernels only use arrays that their caller keeps alive, and need no counting, which took a third of a
            step's time.
        inline: copy it into every kernel that calls it. For the few kernels that every decision runs through, which
            makes playouts an eighth faster; for all of them it would double the time of compilation.
    """
    if function is None:
        return functools.partial(kernel, allocates=allocates, inline=inline)
    if not JIT:
        return function
    dispatcher = numba.njit(**OPTIONS, _nrt=allocates, forceinline=inline)(function)
    with contextlib.suppress(RuntimeError):  # no writable place for a cache (read-only install, no home)
        dispatcher._cache = _SourceKeyedCache(function)
        dispatcher.compile = _letting_go(dispatcher)
    return dispatcher


def machine_code(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """The machine code of a kernel for arguments of these very types, which it no longer checks.

    numba's own look-up by the types of all arguments takes longer than a step of one game. Only for a caller that made
    the arguments itself, always of the same types; the kernel must have been called with such arguments before.
    """
    if not JIT:
        return function
    types_of = tuple(function.typeof_pyval(argument) for argument in arguments)  # type: ignore[attr-defined]
    return function.overloads[types_of].entry_point  # type: ignore[attr-defined]


def python_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """The plain Python function behind a kernel."""
    return getattr(function, "py_func", function)


if JIT:

    class _FilesNamedByKey(IndexDataCacheFile):
        """Each data file is named after its key, not numbered.

        With numbers, two processes that compile different code for one function (two games, say) at the same moment can
        take the same number, and one of them would later run the other's code.
        """

        def name_of(self, key: Any) -> str:
            number = int(hashlib.sha256(repr(key).encode()).hexdigest()[:15], 16)
            return str(self._data_name_pattern.format(number=number))

        def save(self, key: Any, data: Any) -> None:
            name = self.name_of(key)
            overloads = self._load_index()
            if overloads.get(key) != name:
                self._save_index({**overloads, key: name})
            self._save_data(name, data)

    class _SourceKeyedCache(FunctionCache):
        """numba's function cache with the fingerprint of all reachable source as its key.

        What is not in it is compiled under a lock, together with all that it calls. A process waits only for what its
        kernels call, and no kernel calls itself by way of others: so no two can wait for each other.
        """

        def __init__(self, function: Callable[..., Any]) -> None:
            super().__init__(function)
            self.held: list[str] = []
            self._cache_file = _FilesNamedByKey(
                self.cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
            )

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            found = super().load_overload(sig, target_context)
            if found is None:
                name = self._cache_file.name_of(self._index_key(sig, target_context.codegen()))
                if locks_in(self.cache_path).take(name):
                    self.held.append(name)
                    found = super().load_overload(sig, target_context)  # another process may have saved it meanwhile
            return found

        def let_go(self, first: int) -> None:
            """Of all locks but those that were held ``first``."""
            while len(self.held) > first:
                locks_in(self.cache_path).let_go(self.held.pop())

        def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
            return sig, codegen.magic_tuple(), _file_hash(__file__), source_fingerprint(self._py_func)

    def _letting_go(dispatcher: Any) -> Callable[[Any], Any]:
        """numba's ``compile`` of a kernel, after which its locks are free, whatever happened."""
        compile_or_load, cache = dispatcher.compile, dispatcher._cache

        def compile(sig: Any) -> Any:
            with global_compiler_lock:  # of all threads
                held = len(cache.held)
                try:
                    return compile_or_load(sig)
                finally:
                    cache.let_go(held)

        return compile


@functools.cache
def source_fingerprint(function: types.FunctionType) -> str:
    """SHA-256 over the code, constants and source files that ``function`` reaches, stable across processes."""
    digest = hashlib.sha256()
    for part in sorted(set(_reachable(function, set()))):
        digest.update(part.encode())
    return digest.hexdigest()


def _reachable(function: types.FunctionType, seen: set[int]) -> Iterator[str]:
    if id(function) in seen:
        return
    seen.add(id(function))
    name = f"{function.__module__}.{function.__qualname__}"  # machine code names the modules that it came from
    yield f"{name} in {_file_hash(function.__code__.co_filename)} {function.__code__.co_code.hex()}"
    names = {name for code in _code_objects(function.__code__) for name in code.co_names}
    values = [(name, function.__globals__[name]) for name in sorted(names) if name in function.__globals__]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        values.append((name, cell.cell_contents))
    for name, value in values:
        value = getattr(value, "py_func", value)
        if isinstance(value, types.FunctionType):
            yield from _reachable(value, seen)
        elif isinstance(value, (bool, int, float, str, tuple, np.generic)):
            yield f"{name}={value!r}"
        elif isinstance(value, np.ndarray):
            yield f"{name}={hashlib.sha256(value.tobytes()).hexdigest()}"


def _code_objects(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _code_objects(constant)


@functools.cache
def _file_hash(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:  # a notebook cell, or a module inside an archive: its bytecode is hashed anyway
        return ""
