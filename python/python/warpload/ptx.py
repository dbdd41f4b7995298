"""PTX loads: checking, lowering to SM 5.x and executing them; and kernels, run without a GPU.

A module is given as a path or as its text, a ``str`` or bytes: a ``str`` is text if it has a line break, or if it begins
with ``.version`` or has ``;``, ``{`` or ``}`` and no file has that name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Union

from . import _native
from ._errors import Error
from ._kernel import Globals, Kernel, Launch, UnknownWarning
from ._native import (
    Instruction,
    KernelFault,
    KernelParameter,
    LaunchCounts,
    SkippedInstruction,
    UnknownBytes,
)
from ._types import LaneMode, Path

if TYPE_CHECKING:
    import numpy
    import numpy.typing
    from typing_extensions import Buffer

Module = Union[Path, "Buffer"]

__all__ = [
    "Check",
    "CheckedLoad",
    "Globals",
    "Kernel",
    "KernelFault",
    "KernelParameter",
    "Launch",
    "LaunchCounts",
    "Lowered",
    "LoweredLoad",
    "Ran",
    "RanLoad",
    "SkippedInstruction",
    "UnknownBytes",
    "UnknownWarning",
    "Violation",
    "check",
    "lower",
    "run",
]

LANES = 32


@dataclass(frozen=True)
class Violation:
    """A rule that a load breaks."""

    rule: str
    """The rule's name, as in docs/ptx.md."""
    error: str
    line: int
    column: int
    help: str | None

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.error}"


@dataclass(frozen=True)
class CheckedLoad:
    """A load, and the rules that it breaks."""

    text: str
    line: int
    column: int
    accept: bool
    """Whether it is legal."""
    violations: tuple[Violation, ...]


@dataclass(frozen=True)
class Check:
    """The loads of a module. True if all are legal."""

    file: str
    accept: bool
    loads: tuple[CheckedLoad, ...]
    drawing: str
    """The errors, as the command draws them."""

    def __bool__(self) -> bool:
        return self.accept

    def __iter__(self) -> Iterator[CheckedLoad]:
        return iter(self.loads)

    def __len__(self) -> int:
        return len(self.loads)

    def __str__(self) -> str:
        return self.drawing or f"{len(self.loads)} loads, all legal"

    def __repr__(self) -> str:
        legal = sum(load.accept for load in self.loads)
        return f"Check({self.file!r}, {legal} of {len(self.loads)} loads legal)"


@dataclass(frozen=True)
class LoweredLoad:
    """A load, lowered to SM 5.x."""

    text: str
    line: int
    column: int
    sass: tuple[Instruction, ...]
    """Empty if the load becomes a constant operand of another instruction."""
    error: str | None
    """The reason if an instruction is missing."""


@dataclass(frozen=True)
class Lowered:
    """The loads of a module, lowered to SM 5.x."""

    file: str
    loads: tuple[LoweredLoad, ...]

    def __iter__(self) -> Iterator[LoweredLoad]:
        return iter(self.loads)

    def __len__(self) -> int:
        return len(self.loads)

    def __str__(self) -> str:
        return "\n".join(
            "\n  ".join([load.text, *map(str, load.sass), *filter(None, [load.error])])
            for load in self.loads
        )


@dataclass(frozen=True)
class RanLoad:
    """A load, and the outcome of executing it."""

    text: str
    line: int
    column: int
    executing: int
    """The lanes that executed, bit n for lane n."""
    registers: Mapping[str, tuple[int | None, ...]]
    """The 32 values of each register that was written, ``None`` in a lane without a value."""
    lane_faults: Mapping[str, int]
    """The lanes with a fault, by its kind."""
    undefined: Mapping[str, int]
    """The lanes with an undefined outcome, by the qualifier that does not fit their memory."""
    tensor_fault: str | None
    error: str | None
    """The reason if it was not executed."""

    def array(self, register: str) -> numpy.typing.NDArray[numpy.uint64]:
        """A register's 32 values as an array of ``uint64``, 0 in a lane without one."""
        import numpy

        values = [value or 0 for value in self.registers[register]]
        return numpy.array(values, numpy.uint64)


@dataclass(frozen=True)
class Ran:
    """The loads of a function, and the outcome of executing them."""

    file: str
    loads: tuple[RanLoad, ...]

    def __iter__(self) -> Iterator[RanLoad]:
        return iter(self.loads)

    def __len__(self) -> int:
        return len(self.loads)


def check(module: Module, *, compile_only: bool = False) -> Check:
    """Checks the loads of a module.

    Parameters
    ----------
    module
        A path, or the text.
    compile_only
        Treat the module as a part of a program that is linked later.

    Raises
    ------
    Error
        If it is not a module: the ``kind`` is ``"syntax"``, with the place at fault.
    """
    file, accept, loads, drawing = _native.check_ptx(module, compile_only)
    checked = (
        CheckedLoad(text, line, column, legal, tuple(Violation(*one) for one in violations))
        for text, line, column, legal, violations in loads
    )
    return Check(file, accept, tuple(checked), drawing)


def lower(module: Module, *, level: Literal[0, 1, 2, 3] = 3) -> Lowered:
    """Lowers the loads of a module to SM 5.x. ``level`` is the optimization level, like ``-O`` of ptxas."""
    file, loads = _native.lower_ptx(module, level)
    lowered = (
        LoweredLoad(text, line, column, tuple(sass), error)
        for text, line, column, sass, error in loads
    )
    return Lowered(file, tuple(lowered))


def run(
    module: Module,
    *,
    function: str | None = None,
    image: Path | None = None,
    registers: Mapping[str, object] | None = None,
    parameters: Mapping[str, object] | None = None,
    places: Mapping[str, int | str] | None = None,
    active: int = 0xFFFF_FFFF,
    tensor_memory: Path | Buffer | None = None,
    warp: int = 0,
    lane_mode: LaneMode = "strict",
) -> Ran:
    """Executes the loads of a function, in the order of the text.

    Parameters
    ----------
    module
        A path, or the text.
    function
        The function's name; may be left out if there is only one.
    image
        The manifest of a memory image.
    registers
        Values by name: a number for all lanes, 32 numbers, or an expression of ``lane``, such as
        ``"0x1000+16*lane"``. A predicate is ``True`` or ``False`` for all lanes, 32 of these, or a number, which is a
        mask, bit n for lane n.
    parameters
        Values of the function's parameters by name, or their elements.
    places
        The addresses of variables, in bytes.
    active
        The active lanes, bit n for lane n.
    tensor_memory
        The contents of Tensor Memory: a file of 262,144 bytes, these bytes, or ``"pattern:NAME"``.
    warp
        The warp's number in its block, which decides the lanes of Tensor Memory that it may read.
    lane_mode
        The meaning of the lane in a Tensor Memory address.
    """
    if not 0 <= active <= 0xFFFF_FFFF:
        raise Error(f"active: expected a mask of 32 bits, not {active:#x}", kind="argument")
    file, loads = _native.run_ptx(
        module,
        function,
        image,
        [(name, _expression(_of_lanes(value))) for name, value in (registers or {}).items()],
        [(name, _expression(value)) for name, value in (parameters or {}).items()],
        [(name, _expression(value)) for name, value in (places or {}).items()],
        active,
        tensor_memory,
        warp,
        lane_mode,
    )
    ran = (
        RanLoad(
            text,
            line,
            column,
            executing,
            {name: tuple(lanes) for name, lanes in values},
            faults,
            undefined,
            tensor_fault,
            error,
        )
        for text, line, column, executing, values, faults, undefined, tensor_fault, error in loads
    )
    return Ran(file, tuple(ran))


def _of_lanes(value: object) -> object:
    """Repeats a truth value for all lanes: as a number, it would be a mask with lane 0 alone."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return [value] * LANES if isinstance(value, bool) else value


def _expression(value: object) -> str:
    """Writes a value as the command reads it."""
    if isinstance(value, str):
        return value
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Sequence):
        return ",".join(map(_expression, value))
    return str(int(value) if isinstance(value, bool) else value)
