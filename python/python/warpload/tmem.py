"""Tensor Memory and the loads from it, ``tcgen05.ld`` and ``LDTM``."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import _native

if TYPE_CHECKING:
    import numpy

__all__ = ["Cell", "Loaded", "Map", "map", "run"]


@dataclass(frozen=True)
class Cell:
    """Where a thread's register comes from."""

    thread: int
    register: int
    half: int
    """1 in the second half of a ``.16x32bx2``, else 0."""
    lane: int
    columns: tuple[int, ...]


@dataclass(frozen=True)
class Map:
    """Which thread and register each cell of a load goes to.

    ``str()`` is the drawing that the command prints; a notebook shows a picture.
    """

    cells: tuple[Cell, ...] = field(repr=False)
    title: str
    arguments: tuple[str, ...] = field(repr=False)
    """Those of the command that draws it."""

    @cached_property
    def drawing(self) -> str:
        """What the command prints."""
        return _output("map", "--format=text", *self.arguments).rstrip("\n")

    @cached_property
    def svg(self) -> str:
        """The picture."""
        return _output("map", "--svg=-", *self.arguments)

    def __iter__(self) -> Iterator[Cell]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    def __str__(self) -> str:
        return self.drawing

    def _repr_svg_(self) -> str:
        return self.svg


@dataclass(frozen=True, eq=False)
class Loaded:
    """The registers of the 32 threads after a load."""

    instruction: str
    registers: numpy.ndarray[Any, Any]
    """``(n, 32)`` of ``uint32``: register by register, thread 0 first; 0 in a thread that does not load."""
    loads: int
    """The threads that load, bit n for thread n."""
    reduced: numpy.ndarray[Any, Any] | None
    """The 32 results of a reduction."""
    drawing: str = field(repr=False)

    def __str__(self) -> str:
        return self.drawing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Loaded) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def _values(self) -> tuple[object, ...]:
        """Returns what makes two of them equal; arrays compare element by element."""
        reduced = None if self.reduced is None else self.reduced.tobytes()
        return self.instruction, self.loads, self.registers.tobytes(), reduced


def map(  # noqa: A001 - the command's name
    shape: str,
    repeat: str | int | None = None,
    *,
    pack: bool = False,
    sm: str | int | None = None,
) -> Map:
    """Draws which thread and register each cell of a load goes to.

    ``shape`` is ``16x256b`` or alike with its ``repeat`` or, with ``sm``, the word or text of an ``LDTM``.
    """
    options = ["--pack"] if pack else []
    if sm is not None:
        options.append(f"--sm={sm}")
    named = [shape] if repeat is None else [shape, str(repeat)]
    arguments = (*options, "--", *named)
    lines = _output("map", "--format=json", *arguments).splitlines()
    cells = tuple(
        Cell(one["thread"], one["register"], one["half"], one["lane"], tuple(one["columns"]))
        for one in (json.loads(line) for line in lines)
    )
    return Map(cells, " ".join([*named, *options]), arguments)


def run(
    instruction: str,
    *,
    warp: int = 0,
    taddr: int = 0,
    memory: str | os.PathLike[str] = "pattern:lane*65536+col",
    sm: str | int | None = None,
    lane_mode: str | None = None,
    hardware_alignment: bool = False,
) -> Loaded:
    """Executes a load as PTX writes it or, with ``sm``, an ``LDTM``.

    ``memory`` is a file of 262,144 bytes or one of the command's patterns, ``taddr`` what the address
    register holds: the lane times 65,536, plus the column.
    """
    import numpy

    arguments = [f"--warp={warp}", f"--taddr={taddr}", f"--memory={os.fspath(memory)}"]
    if sm is not None:
        arguments.append(f"--sm={sm}")
    if lane_mode is not None:
        arguments.append(f"--lane-mode={lane_mode}")
    if hardware_alignment:
        arguments.append("--hardware-alignment")
    arguments += ["--", instruction]
    known = json.loads(_output("run", "--format=json", *arguments))
    threads = known["regs"]
    nothing = [0] * known["n"]
    registers = numpy.array([thread or nothing for thread in threads], numpy.uint32).T
    reduced = known.get("redval")
    if reduced is not None:
        reduced = numpy.array([value or 0 for value in reduced], numpy.uint32)
    loads = sum(1 << number for number, thread in enumerate(threads) if thread is not None)
    drawing = _output("run", "--format=text", *arguments).rstrip("\n")
    return Loaded(known["instruction"], numpy.ascontiguousarray(registers), loads, reduced, drawing)


def _output(*arguments: str) -> str:
    answer = _native.call(["tmem", *arguments])
    answer.check()
    return answer.output.decode()
