"""Tensor Memory and the loads from it, ``tcgen05.ld`` and ``LDTM``."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
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
    drawing: str = field(repr=False)
    svg: str = field(repr=False)
    """The picture."""

    def __iter__(self) -> Iterator[Cell]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    def __str__(self) -> str:
        return self.drawing

    def _repr_svg_(self) -> str:
        return self.svg


@dataclass(frozen=True)
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
    arguments = ["tmem", "map", shape]
    if repeat is not None:
        arguments.append(str(repeat))
    if pack:
        arguments.append("--pack")
    if sm is not None:
        arguments.append(f"--sm={sm}")
    cells = tuple(
        Cell(one["thread"], one["register"], one["half"], one["lane"], tuple(one["columns"]))
        for one in (json.loads(line) for line in _output(arguments, "--format=json").splitlines())
    )
    title = " ".join(arguments[2:])
    drawing = _output(arguments, "--format=text").rstrip("\n")
    return Map(cells, title, drawing, _output(arguments, "--svg=-"))


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

    arguments = ["tmem", "run", instruction, f"--warp={warp}", f"--taddr={taddr}"]
    arguments.append(f"--memory={os.fspath(memory)}")
    if sm is not None:
        arguments.append(f"--sm={sm}")
    if lane_mode is not None:
        arguments.append(f"--lane-mode={lane_mode}")
    if hardware_alignment:
        arguments.append("--hardware-alignment")
    known = json.loads(_output(arguments, "--format=json"))
    threads = known["regs"]
    nothing = [0] * known["n"]
    registers = numpy.array([thread or nothing for thread in threads], numpy.uint32).T
    reduced = known.get("redval")
    if reduced is not None:
        reduced = numpy.array([value or 0 for value in reduced], numpy.uint32)
    loads = sum(1 << number for number, thread in enumerate(threads) if thread is not None)
    drawing = _output(arguments, "--format=text").rstrip("\n")
    return Loaded(known["instruction"], numpy.ascontiguousarray(registers), loads, reduced, drawing)


def _output(arguments: list[str], form: str) -> str:
    answer = _native.call([*arguments[:2], form, *arguments[2:]])
    answer.check()
    return answer.output.decode()
