# SPDX-License-Identifier: BSD-3-Clause
"""Regions of a Python program: the energy of its parts, measured by APAPI.

    import apapi

    with apapi.region("assemble"):
        ...

    @apapi.region("solve")
    def solve(): ...

    apapi.fom("updates", 1e9, "1")

Outside of a step that APAPI measures, and where its library cannot be found, all of this does
nothing. A region belongs to the thread that begins it, and regions of a thread nest: while a
coroutine waits or a generator is left, others run in its open regions.
"""

from __future__ import annotations

import contextlib
import ctypes
import inspect
import os
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Optional, TypeVar

__all__ = ["available", "begin", "end", "stop", "fom", "region"]


def _candidates() -> Iterator[str]:
    """The library of the tree that this module is installed in, then the system's."""
    folder = os.path.dirname(os.path.realpath(__file__))
    for depth in (3, 4, 5):
        prefix = os.path.normpath(os.path.join(folder, *[".."] * depth))
        for name in ("", "lib", "lib64"):
            yield os.path.join(prefix, name, "libapapi.so.0")
    yield "libapapi.so.0"


def _load() -> Optional[ctypes.PyDLL]:
    for path in _candidates():
        if os.path.isabs(path) and not os.path.exists(path):
            continue
        try:
            # no function of the library waits, so the caller's thread keeps Python's lock
            library = ctypes.PyDLL(path)
            library.apapi_region_fom.argtypes = [ctypes.c_char_p, ctypes.c_double, ctypes.c_char_p]
            library.apapi_region_handle.argtypes = [ctypes.c_char_p]
            library.apapi_region_handle.restype = ctypes.c_uint32
            return library
        except (OSError, AttributeError):
            continue
    return None


_library = _load()
_Function = TypeVar("_Function", bound=Callable[..., Any])


def _bytes(text: object) -> bytes:
    """A name for C: what follows a NUL would be lost there."""
    try:
        name = str(text).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate that stands for no byte
        name = str(text).encode("utf-8", "replace")
    return name.replace(b"\0", b"\\0")


def available() -> bool:
    """Whether APAPI's library has been found."""
    return _library is not None


def begin(name: object) -> None:
    """Begin a region in this thread. The same name again adds up."""
    if _library:
        _library.apapi_region_begin(_bytes(name))


def end(name: object) -> None:
    """End the region that this thread has begun with begin()."""
    if _library:
        _library.apapi_region_end(_bytes(name))


def stop() -> None:
    """End all regions of this thread."""
    if _library:
        _library.apapi_region_stop()


def fom(name: object, value: float, unit: str = "") -> None:
    """Tell a figure of merit of the run, for energy per unit of it."""
    if _library:
        _library.apapi_region_fom(_bytes(name), float(value), _bytes(unit))


class region(contextlib.ContextDecorator):
    """A region as a context manager or a decorator; one object can be used again, also nested."""

    def __init__(self, name: object) -> None:
        self.name = name
        self._name = _bytes(name)

    def __call__(self, func: _Function) -> _Function:
        if inspect.iscoroutinefunction(func) or inspect.isgeneratorfunction(func) or inspect.isasyncgenfunction(func):
            raise TypeError(f"region {self.name}: a call of {func.__name__}() only makes a coroutine or generator; use "
                            "'with' around the part of it that neither awaits nor yields")
        return super().__call__(func)

    def __enter__(self) -> region:
        if _library:
            _library.apapi_region_begin(self._name)
        return self

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if _library:
            _library.apapi_region_end(self._name)
