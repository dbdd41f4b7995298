"""Traces, and what their replay finds."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from . import _native
from ._summary import Counts, Kernel, Summary, of_json

if TYPE_CHECKING:
    # What type checkers have to know of `Replay.__getattr__`.
    _Attributes = Summary
else:
    _Attributes = object

Window = tuple[int, int]
"""The first address and the size."""


class Trace:
    """A trace: a binary one, which is read, or one of the text formats, which is imported on the way.

    It is a table with a row for each load, for everything that reads Arrow's PyCapsule interface:
    ``polars.DataFrame(trace)``, ``pyarrow.table(trace)``, ``duckdb.from_arrow(trace)``. ``values`` adds a
    column with what the loads read.

    ``mmap`` maps a binary trace instead of reading it, for traces that are larger than memory, or of which a part is
    replayed. The file must not change while it is open then: if it becomes shorter, a signal ends the process.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        values: bool = False,
        *,
        threads: int | None = None,
        mmap: bool = False,
    ) -> None:
        self.path = os.fspath(path)
        self.values = values
        # To the command, `-` is standard input.
        path = "./-" if self.path == "-" else self.path
        self._trace = _native.Trace(path, threads=threads, mmap=mmap)

    def __len__(self) -> int:
        """Returns how many loads there are."""
        return len(self._trace)

    @functools.cached_property
    def contents(self) -> dict[str, Any]:
        """What ``warpload info --format json`` prints: source, kernels, opcodes and counts."""
        known: dict[str, Any] = json.loads(self._trace.contents_json())
        return known

    def __repr__(self) -> str:
        kernels = len(self.contents["kernels"])
        records = self.contents["records"]
        plural = "" if kernels == 1 else "s"
        return (
            f"Trace({self.path!r}: {len(self)} loads of {records} records, {kernels} kernel{plural})"
        )

    def loads(
        self,
        *,
        values: bool | None = None,
        fill: str | None = None,
        address_bits: int | None = None,
        shared_window: Window | None = None,
        local_window: Window | None = None,
        threads: int = 1,
    ) -> _native.Table:
        """Returns the loads as a table, one row a load; ``fill`` says what memory holds.

        ``threads`` make batches ahead, as many as can run at once. They are those of this process: a stream that was
        made before a fork raises an error in the child, which makes its own.
        """
        return self._trace.loads(
            values=self.values if values is None else values,
            fill=fill,
            address_bits=address_bits,
            shared_window=shared_window,
            local_window=local_window,
            threads=threads,
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self.loads().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        return self.loads().__arrow_c_schema__()

    def replay(
        self,
        *,
        fill: str | None = None,
        image: str | os.PathLike[str] | _native.Memory | _native.Machine | None = None,
        threads: int | None = None,
        shard: tuple[int, int] | None = None,
        address_bits: int | None = None,
        shared_window: Window | None = None,
        local_window: Window | None = None,
        reuse: bool = False,
        merge_pairs: bool = False,
        cubin: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
        kernel: str | None = None,
        pc: int | tuple[int, int] | None = None,
        opcode: str | None = None,
        space: str | None = None,
        demangle: bool = True,
        html: bool = False,
        progress: Callable[[int, int], object] | None = None,
    ) -> Replay:
        """Executes every load, and returns what it found. Options are those of ``warpload replay``.

        ``image`` is a manifest, a memory or a machine; ``pc`` one program counter, or the first and the
        last; ``shard`` the number of a part, from 0, and of how many. ``html`` also makes the page.
        ``progress`` is called with the bytes that were replayed and those that there are; what it raises,
        and Ctrl-C, stop the replay.
        """
        manifest, memory = None, None
        if isinstance(image, _native.Machine):
            memory = image.memory
        elif isinstance(image, _native.Memory):
            memory = image
        else:
            manifest = image
        if memory is not None and (fill, address_bits, shared_window, local_window) != (None,) * 4:
            raise TypeError("an image says what memory holds, its windows and its address bits")
        options = replay_arguments(
            fill=fill,
            image=manifest,
            threads=threads,
            address_bits=address_bits,
            shared_window=shared_window,
            local_window=local_window,
            reuse=reuse,
            merge_pairs=merge_pairs,
            cubin=cubin,
            kernel=kernel,
            pc=pc,
            opcode=opcode,
            space=space,
            demangle=demangle,
        )
        if shard is not None:
            options.append(f"--shard={shard[0]}/{shard[1]}")
        options.append("--format=json")
        found = self._trace.replay(
            [*options, "--", self.path],
            image=memory,
            page=html,
            progress=progress,
        )
        return Replay(found.summary, per_pc=found.per_pc, notes=found.messages, html=found.page)


def replay_arguments(
    *,
    fill: str | None = None,
    image: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    address_bits: int | None = None,
    shared_window: Window | None = None,
    local_window: Window | None = None,
    reuse: bool = False,
    merge_pairs: bool = False,
    cubin: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    kernel: str | None = None,
    pc: int | tuple[int, int] | None = None,
    opcode: str | None = None,
    space: str | None = None,
    demangle: bool = True,
) -> list[str]:
    """Returns the command's arguments for what decides what a replay computes."""
    for name, word in (("fill", fill), ("kernel", kernel), ("opcode", opcode), ("space", space)):
        if not isinstance(word, str | None):
            raise TypeError(f"{name}: expected a str or None, not {type(word).__name__}")
    if isinstance(cubin, (str, os.PathLike)):
        cubin = (cubin,)
    if isinstance(pc, tuple):
        pcs: str | None = f"{pc[0]:x}..{pc[1]:x}"
    else:
        pcs = None if pc is None else f"{pc:x}"
    arguments = [
        f"--{name}={value}"
        for name, value in (
            ("fill", fill),
            ("image", None if image is None else os.fspath(image)),
            ("threads", threads),
            ("address-bits", address_bits),
            ("shared-window", shared_window and f"{shared_window[0]:#x},{shared_window[1]:#x}"),
            ("local-window", local_window and f"{local_window[0]:#x},{local_window[1]:#x}"),
            ("kernel", kernel),
            ("pc", pcs),
            ("opcode", opcode),
            ("space", space),
        )
        if value is not None
    ]
    arguments += [f"--cubin={os.fspath(path)}" for path in cubin]
    arguments += ["--reuse"] if reuse else []
    arguments += ["--merge-pairs"] if merge_pairs else []
    arguments += [] if demangle else ["--no-demangle"]
    return arguments


class Replay(_Attributes):
    """What a replay found. The counts of its :attr:`summary` are attributes of it too."""

    def __init__(
        self,
        summary: bytes,
        *,
        per_pc: _native.Table | None = None,
        notes: Iterable[str] = (),
        html: str | None = None,
    ) -> None:
        self._json = summary
        self._per_pc = per_pc
        self.messages = tuple(notes)
        """Notes of the command."""
        self.html = html
        """The page, if one was asked for."""

    @classmethod
    def from_json(cls, summary: bytes | str) -> Replay:
        """Returns what a summary of the command says: of ``replay --format json`` or of ``merge``."""
        data = summary.encode() if isinstance(summary, str) else summary
        # Checked here, as what reads it later expects.
        return cls(data, per_pc=_native.per_pc(data))

    @functools.cached_property
    def summary(self) -> Summary:
        """The counts, as an object with fields; of a shard with the kernels that it touched."""
        known = self.to_dict()
        if "partial" in known:
            known = json.loads(_native.shard_summary(self._json))
        summary: Summary = of_json(Summary, known)
        return summary

    @property
    def per_pc(self) -> _native.Table:
        """The counts of each program counter as a table: ``polars.DataFrame(replay.per_pc)``."""
        if self._per_pc is None:
            self._per_pc = _native.per_pc(self._json)
        return self._per_pc

    @property
    def per_pc_copies(self) -> _native.Table:
        """The counts of each program counter of LDGSTS, which copies from global to shared memory."""
        return _native.per_pc_copies(self._json)

    def to_dict(self) -> dict[str, Any]:
        """Returns what ``warpload replay --format json`` prints."""
        known: dict[str, Any] = json.loads(self._json)
        return known

    def to_json(self) -> bytes:
        """Returns what ``warpload replay --format json`` prints, byte for byte."""
        return self._json

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if not name.startswith("_") and name in Summary.__dataclass_fields__:
                return getattr(self.summary, name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *Summary.__dataclass_fields__})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Replay) and self._json == other._json

    def __hash__(self) -> int:
        return hash(self._json)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._json, self.messages, self.html)

    def __repr__(self) -> str:
        known = self.summary
        shown = [f"{known.loads} loads of {known.records} records", f"{known.sectors} sectors"]
        shown.append(f"ideal {known.ideal_sectors}")
        if known.lane_faults.total:
            shown.append(f"{known.lane_faults.total} lane faults")
        if known.mismatches:
            shown.append(f"{known.mismatches} mismatches")
        if known.digest:
            shown.append(f"digest {known.digest}")
        return f"Replay({', '.join(shown)})"


def _restore(summary: bytes, notes: tuple[str, ...], html: str | None) -> Replay:
    return Replay(summary, notes=notes, html=html)


__all__ = ["Counts", "Kernel", "Replay", "Trace"]
