"""The types of the options of traces, which the stubs of the native module leave open."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from . import _native

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from ._types import AccessOptions, ReplayOptions

    class Trace(_native.Trace):  # type: ignore[misc]
        def __enter__(self) -> Self: ...

        def accesses(  # type: ignore[override]
            self, *, values: bool | None = None, threads: int = 1, **options: Unpack[AccessOptions]
        ) -> _native.Table: ...

        def replay(  # type: ignore[override]
            self,
            *,
            shard: tuple[int, int] | None = None,
            progress: Callable[[int, int], object] | None = None,
            **options: Unpack[ReplayOptions],
        ) -> _native.Replay: ...

else:
    from ._native import Trace

__all__ = ["Trace"]
