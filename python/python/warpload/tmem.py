"""Tensor Memory and the loads from it, ``tcgen05.ld`` and ``LDTM``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, SupportsIndex

from . import _native
from ._errors import Error
from ._types import LaneMode, Path

if TYPE_CHECKING:
    import numpy
    import numpy.typing
    from typing_extensions import Buffer

    from ._native import Instruction

__all__ = ["Cell", "Loaded", "Map", "map", "run"]


@dataclass(frozen=True)
class Cell:
    """The source of a thread's register."""

    thread: int
    register: int
    half: int
    """1 in the second half of a ``.16x32bx2``, else 0."""
    lane: int
    columns: tuple[int, ...]


@dataclass(frozen=True)
class Map:
    """The thread and register that each cell of a load goes to.

    ``str()`` is the drawing that the command prints; a notebook shows a picture.
    """

    cells: tuple[Cell, ...] = field(repr=False)
    title: str
    _map: _native.TensorMap = field(repr=False, compare=False)

    @cached_property
    def drawing(self) -> str:
        """The text that the command prints."""
        return self._map.drawing

    @cached_property
    def svg(self) -> str:
        """The picture."""
        return self._map.svg

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
    registers: numpy.typing.NDArray[numpy.uint32]
    """``(n, 32)`` of ``uint32``: register by register, thread 0 first; 0 in a thread that does not load."""
    loads: int
    """The threads that load, bit n for thread n."""
    reduced: numpy.typing.NDArray[numpy.uint32] | None
    """The 32 results of a reduction."""
    drawing: str = field(repr=False)

    def __str__(self) -> str:
        return self.drawing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Loaded) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def _values(self) -> tuple[object, ...]:
        """The values that `__eq__` compares. Arrays as bytes, because `==` of arrays compares element by element."""
        reduced = None if self.reduced is None else self.reduced.tobytes()
        return self.instruction, self.loads, self.registers.tobytes(), reduced


def map(  # noqa: A001 - the command's name
    shape: str | SupportsIndex | Instruction,
    repeat: str | int | None = None,
    *,
    pack: bool = False,
    sm: str | int | None = None,
) -> Map:
    """Draws the thread and register that each cell of a load goes to.

    Parameters
    ----------
    shape
        ``16x64b``, ``16x128b``, ``16x256b``, ``32x32b`` or ``16x32bx2``; with ``sm``, the word or text of an ``LDTM``.
    repeat
        The number of repetitions: 1, 2, 4 and so on up to 128, or ``"x4"``.
    pack
        Pack two neighbouring 16-bit columns into one register.
    sm
        The SM of the word or text.
    """
    named = [str(shape)] if repeat is None else [str(shape), str(repeat)]
    if isinstance(repeat, str):
        digits = repeat.removeprefix(".").removeprefix("x")
        if not digits.isdecimal():
            raise Error(f"repeat: expected a number, such as 4 or \"x4\", not {repeat!r}", kind="argument")
        repeat = int(digits)
    drawn = _native.TensorMap(shape, repeat, pack=pack, sm=sm)
    cells = tuple(
        Cell(thread, register, half, lane, tuple(columns))
        for thread, register, half, lane, columns in drawn.cells
    )
    options = ["pack"] if pack else []
    if sm is not None:
        options.append(f"SM {sm}")
    return Map(cells, " ".join([*named, *options]), drawn)


def run(
    instruction: str | SupportsIndex | Instruction,
    *,
    warp: int = 0,
    taddr: int = 0,
    memory: Path | Buffer = "pattern:lane*65536+col",
    sm: str | int | None = None,
    lane_mode: LaneMode = "strict",
    hardware_alignment: bool = False,
) -> Loaded:
    """Executes a load.

    Parameters
    ----------
    instruction
        The load in PTX syntax or, with ``sm``, the word or text of an ``LDTM``.
    warp
        The warp's number in its thread block; its value modulo 4 decides the lanes that it may read.
    taddr
        The value of the address register: the lane times 65,536, plus the column.
    memory
        The contents of Tensor Memory: a file of 262,144 bytes, these bytes, or one of the command's patterns,
        ``"pattern:NAME"``.
    sm
        The SM of the word or text.
    lane_mode
        The meaning of the lane in an address: a lane that the warp may read, or a number modulo 32 among them.
    hardware_alignment
        Also refuse odd columns if the hardware is known, or assumed, to require even ones.

    Raises
    ------
    Error
        If the load breaks a rule, of the assembler or of addresses. ``rule`` is its name.
    """
    found = _native.run_tensor_load(
        instruction,
        memory,
        warp=warp,
        taddr=taddr,
        sm=sm,
        lane_mode=lane_mode,
        hardware_alignment=hardware_alignment,
    )
    return Loaded(found.instruction, found.registers, found.loads, found.reduced, found.drawing)
