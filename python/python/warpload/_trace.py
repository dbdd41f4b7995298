"""Traces and their replays."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, TypeVar

from . import _native
from ._summary import Counts, Launch, Summary, of_json
from ._types import AccessOptions, Path, ReplayOptions

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self, Unpack

    # Tells type checkers the attributes that `Replay.__getattr__` adds.
    _Attributes = Summary
else:
    _Attributes = object

_Function = TypeVar("_Function", bound=Callable[..., Any])


def shows(options: type[Any]) -> Callable[[_Function], _Function]:
    """Gives a function with ``**options`` a signature that names them, for ``help()`` and completion."""

    def decorate(function: _Function) -> _Function:
        known = inspect.signature(function)
        own = [one for one in known.parameters.values() if one.kind is not one.VAR_KEYWORD]
        named = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
            for name, kind in options.__annotations__.items()
        ]
        signature = known.replace(parameters=[*own, *named])
        function.__signature__ = signature  # type: ignore[attr-defined]
        return function

    return decorate


class Trace:
    """A trace. A binary trace is read; a trace in a text format is imported first.

    It is a table with a row for each access, for everything that reads Arrow's PyCapsule interface:
    ``polars.DataFrame(trace)``, ``pyarrow.table(trace)``, ``duckdb.from_arrow(trace)``.

    Parameters
    ----------
    path
        The trace.
    values
        Whether the table has a column with the values of accesses.
    threads
        The number of threads that import a text trace; as many as can run at once if not given.
    mmap
        Map a binary trace instead of reading it, for traces that are larger than memory, or to replay only a part. The
        file must not change while it is open: if it becomes shorter, a signal ends the process.

    Raises
    ------
    Error
        If the file is not a trace or is damaged. A missing file is a :class:`FileNotFoundError`.
    """

    def __init__(
        self,
        path: Path,
        values: bool = False,
        *,
        threads: int | None = None,
        mmap: bool = False,
    ) -> None:
        self.path = os.fspath(path)
        self.values = values
        self._open: _native.Trace | None = _native.Trace(self.path, threads=threads, mmap=mmap)

    @classmethod
    def _of(cls, native: _native.Trace, path: str) -> Trace:
        """The trace that a launch has left in memory."""
        trace = cls.__new__(cls)
        trace.path, trace.values, trace._open = path, False, native
        return trace

    @property
    def _trace(self) -> _native.Trace:
        if self._open is None:
            raise ValueError("the trace is closed")
        return self._open

    def close(self) -> None:
        """Releases the file, or its bytes. Tables of accesses that still exist keep them."""
        self._open = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __len__(self) -> int:
        """The number of accesses, the rows of the table: loads, stores, atomics, reductions and sides of copies."""
        return len(self._trace)

    @functools.cached_property
    def contents(self) -> dict[str, Any]:
        """The JSON of ``warpload show --format json`` as a dictionary: source, kernels, opcodes and counts."""
        return self._trace.contents()

    def __repr__(self) -> str:
        if self._open is None:
            return f"Trace({self.path!r}: closed)"
        kernels = len(self.contents["kernels"])
        instructions = self.contents["instructions"]
        plural = "" if kernels == 1 else "s"
        return (
            f"Trace({self.path!r}: {len(self)} accesses of {instructions} instructions, {kernels} kernel{plural})"
        )

    @shows(AccessOptions)
    def accesses(
        self,
        *,
        values: bool | None = None,
        threads: int = 1,
        **options: Unpack[AccessOptions],
    ) -> _native.Table:
        """The accesses as a table: a row for each load, store, atomic, reduction and side of a copy.

        Parameters
        ----------
        values
            Whether to add a column with values: those of the trace, and what loads without them load from ``fill``; by
            default as the trace was opened.
        threads
            How many threads make batches ahead, at most as many as can run at once. They belong to this process: a
            stream that was made before a fork raises an error in the child, which has to make its own.
        **options
            The accesses to list (``kernel``, ``pc``, ``opcode``, ``space``), and the memory that loads read (``fill``,
            ``address_bits``, ``shared_window``, ``local_window``).
        """
        return self._trace.accesses(
            values=self.values if values is None else values, threads=threads, **options
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self.accesses().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        return self.accesses().__arrow_c_schema__()

    @shows(ReplayOptions)
    def replay(
        self,
        *,
        shard: tuple[int, int] | None = None,
        progress: Callable[[int, int], object] | None = None,
        **options: Unpack[ReplayOptions],
    ) -> Replay:
        """Executes every load, and returns the counts of every access.

        Parameters
        ----------
        shard
            The shard's number, from 0, and the number of shards.
        progress
            Called with the number of bytes replayed so far and the number of all bytes. An exception from it, and
            Ctrl-C, stop the replay.
        **options
            The options of ``warpload replay``: the memory that loads read (``image``, ``fill``, ``address_bits``,
            ``shared_window``, ``local_window``), the accesses to count (``kernel``, ``pc``, ``opcode``, ``space``), and
            ``threads``, ``merge_pairs``, ``cubin``, ``demangle``.

        Raises
        ------
        Error
            If the trace is damaged (``kind`` is ``"input"``), an option is wrong (``"argument"``), or nothing is
            selected (``"selection"``).
        """
        image = options.get("image")
        memory: _native.Memory | None = None
        if isinstance(image, _native.Machine):
            memory = image.memory
        elif isinstance(image, _native.Memory):
            memory = image
        if memory is not None:
            options["image"] = None
        return Replay(self._trace.replay(memory=memory, shard=shard, progress=progress, **options))


class Page(str):
    """A page for a browser: its text, which is written to a file by calling it with a path."""

    def __call__(self, path: Path) -> None:
        """Writes the page. The file appears under its name when it is complete.

        Raises
        ------
        Error
            If the file cannot be written.
        """
        _native.Replayed.write_page(self, path)


class Replay(_Attributes):
    """The result of a replay. The counts of its :attr:`summary` are attributes of it too.

    A notebook shows the headline and the rows with the most sectors beyond the ideal.
    """

    def __init__(self, found: _native.Replayed) -> None:
        self._found = found

    @classmethod
    def from_json(cls, summary: bytes | bytearray | memoryview | str) -> Replay:
        """Reads a summary that the command wrote with ``--format json``."""
        if isinstance(summary, str):
            data = summary.encode()
        elif isinstance(summary, (bytes, bytearray, memoryview)):
            data = bytes(summary)
        else:
            # `bytes` of a number would be that many zeros.
            raise TypeError(f"summary: expected bytes or a str, not {type(summary).__name__}")
        return cls(_native.Replayed.from_json(data))

    @property
    def messages(self) -> tuple[str, ...]:
        """Notes for the user."""
        return tuple(self._found.messages)

    @property
    def html(self) -> Page:
        """The page: a text, and ``replay.html("page.html")`` writes it to a file. It adds launches of a kernel up."""
        return self.page()

    def page(self, *, by_launch: bool = False) -> Page:
        """Returns the page, with each launch of a kernel for itself if ``by_launch``."""
        return Page(self._found.page(by_launch=by_launch))

    @functools.cached_property
    def summary(self) -> Summary:
        """The counts, as an object with fields. For a shard, with only the launches that it touched."""
        summary: Summary = of_json(Summary, self._found.to_dict())
        return summary

    @functools.cached_property
    def rows(self) -> _native.Table:
        """The counts of each instruction of each launch as a table: ``polars.DataFrame(replay.rows)``. A row is a load,
        store, atomic, reduction, or one side of a copy."""
        return self._found.rows

    def to_dict(self) -> dict[str, Any]:
        """The JSON of ``warpload replay --format json`` as a dictionary."""
        return self._found.to_dict()

    def to_json(self) -> bytes:
        """The JSON of ``warpload replay --format json``, byte for byte."""
        return self._found.to_json()

    def to_polars(self) -> Any:
        """Returns :attr:`rows` as a ``polars.DataFrame``."""
        return self.rows.to_polars()

    def to_pandas(self) -> Any:
        """Returns :attr:`rows` as a ``pandas.DataFrame``."""
        return self.rows.to_pandas()

    def to_arrow(self) -> Any:
        """Returns :attr:`rows` as a ``pyarrow.Table``."""
        return self.rows.to_arrow()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if not name.startswith("_") and name in Summary.__dataclass_fields__:
                return getattr(self.summary, name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *Summary.__dataclass_fields__})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Replay) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __reduce__(self) -> tuple[Any, ...]:
        return Replay.from_json, (self.to_json(),)

    def __repr__(self) -> str:
        known = self.summary
        kinds = [known.loads, known.stores, known.atomics, known.reductions, known.copies]
        accesses = sum(kind.accesses for kind in kinds)
        sectors = sum(kind.sectors for kind in kinds)
        ideal = sum(kind.ideal_sectors for kind in kinds)
        faults = sum(kind.lane_faults.total for kind in kinds)
        shown = [f"{accesses} accesses of {known.instructions} instructions"]
        shown += [f"{sectors} sectors", f"ideal {ideal}"]
        if faults:
            shown.append(f"{faults} lane faults")
        if known.loads.values.mismatches:
            shown.append(f"{known.loads.values.mismatches} mismatches")
        if known.digest:
            shown.append(f"digest {known.digest}")
        return f"Replay({', '.join(shown)})"

    def _repr_html_(self) -> str:
        return f"<p><code>{escape(repr(self))}</code></p>{self.rows._repr_html_()}"


@dataclass(frozen=True)
class Comparison:
    """The changes between two replays, the largest first."""

    change: float | None
    """The change of sectors, wavefronts and addresses together in percent; ``None`` if the first has none and the second
    some, or if it is not known."""
    details: dict[str, Any]
    """The JSON of ``warpload compare --format json`` as a dictionary."""

    def __repr__(self) -> str:
        uncertain = (kind[key] for kind in self.details["kinds"] for key in ("unknown", "faults"))
        if self.change is not None:
            change = f"{self.change:+.1f} %"
        else:
            change = "not known" if any(a != b for a, b in uncertain) else "new"
        changed = sum(row["change"] != 0 for row in self.details["rows"])
        return f"Comparison({change}, {changed} instructions)"


def import_(
    source: Path,
    output: Path,
    *,
    compression: str = "zstd",
    threads: int | None = None,
) -> Trace:
    """Imports a trace of another tool as a binary trace, and opens that.

    Parameters
    ----------
    source
        The trace, of one of the formats of ``warpload import``, or a list of traces.
    output
        The binary trace to write. It appears under its name when it is complete and on the disk. It keeps the mode of a
        file that it replaces, and must not replace the source or one of its files.
    compression
        ``"none"``, the fastest to replay, ``"zstd"``, or ``"zstd:LEVEL"``, from 1 to 19.
    threads
        The number of threads; as many as can run at once if not given.

    Raises
    ------
    Error
        If the source is not a trace, with the line at fault, or the output cannot be written.
    """
    _native.import_trace(source, output, compression=compression, threads=threads)
    return Trace(output)


def merge(replays: Iterable[Replay]) -> Replay:
    """Adds replays: the shards of a replay to the whole, and whole replays to one of all their launches.

    Parameters
    ----------
    replays
        The replays, each shard once, in any order.

    Raises
    ------
    Error
        If shards are missing, or the replays do not fit.
    """
    return Replay(_native.merge([replay._found for replay in replays]))


def compare(a: Replay, b: Replay) -> Comparison:
    """Compares two replays, instruction by instruction.

    Raises
    ------
    Error
        With the ``kind`` ``"selection"`` if they counted different accesses.
    """
    details, change = _native.compare(a._found, b._found)
    return Comparison(change, details)


__all__ = ["Comparison", "Counts", "Launch", "Replay", "Trace", "compare", "import_", "merge"]
