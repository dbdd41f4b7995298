"""Loads of PTX: which are legal, what they become on SM 5.x, and what they do.

A module is given as a path, or as its text: a ``str`` of more than one line, or with ``;``, ``{`` or ``}`` if no file
has that name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _native
from ._errors import Error
from ._native import Instruction

if TYPE_CHECKING:
    import numpy

__all__ = [
    "Check",
    "CheckedLoad",
    "Lowered",
    "LoweredLoad",
    "Ran",
    "RanLoad",
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
    """A load, and which rules it breaks."""

    text: str
    line: int
    column: int
    accept: bool
    """Whether it is legal."""
    violations: tuple[Violation, ...]


@dataclass(frozen=True)
class Check:
    """The loads of a module. Is true if all are legal."""

    file: str
    accept: bool
    loads: tuple[CheckedLoad, ...]
    drawing: str
    """What is wrong, as the command draws it."""

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
    """A load, and what it becomes on SM 5.x."""

    text: str
    line: int
    column: int
    sass: tuple[Instruction, ...]
    """Empty if it becomes a constant operand of another instruction."""
    error: str | None
    """Why an instruction is missing."""


@dataclass(frozen=True)
class Lowered:
    """The loads of a module, and what they become on SM 5.x."""

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
    """A load, and what executing it did."""

    text: str
    line: int
    column: int
    executing: int
    """The lanes that executed, bit n for lane n."""
    registers: Mapping[str, tuple[int | None, ...]]
    """What each register that was written holds in the 32 lanes, ``None`` in a lane without a value."""
    lane_faults: Mapping[str, int]
    """The lanes with a fault, by its kind."""
    undefined: Mapping[str, int]
    """The lanes whose outcome is undefined, by the qualifier that does not fit their memory."""
    tensor_fault: str | None
    error: str | None
    """Why it was not executed."""

    def array(self, register: str) -> numpy.ndarray[Any, Any]:
        """Returns a register's 32 values as an array of ``uint64``, 0 in a lane without one."""
        import numpy

        values = [value or 0 for value in self.registers[register]]
        return numpy.array(values, numpy.uint64)


@dataclass(frozen=True)
class Ran:
    """The loads of a function, and what executing them did."""

    file: str
    loads: tuple[RanLoad, ...]

    def __iter__(self) -> Iterator[RanLoad]:
        return iter(self.loads)

    def __len__(self) -> int:
        return len(self.loads)


def check(module: str | os.PathLike[str], *, compile_only: bool = False) -> Check:
    """Judges the loads of a module.

    ``compile_only`` takes it for a part of a program, which is linked later.
    """
    options = ["--every-rule", *(["--compile-only"] if compile_only else [])]
    answer, known = _call("check", module, options)
    loads = tuple(
        CheckedLoad(
            load["text"],
            load["line"],
            load["column"],
            load["accept"],
            tuple(
                Violation(one["rule"], one["error"], one["line"], one["column"], one["help"])
                for one in load["violations"]
            ),
        )
        for load in known["loads"]
    )
    return Check(known["file"], known["accept"], loads, answer.drawing)


def lower(module: str | os.PathLike[str], *, level: int = 3) -> Lowered:
    """Returns what the loads of a module become on SM 5.x, as optimized as ``-O`` of ptxas says."""
    _, known = _call("lower", module, [f"-O{level}"])
    loads = (
        LoweredLoad(
            load["text"],
            load["line"],
            load["column"],
            tuple(_instruction(one) for one in load["sass"]),
            load.get("error"),
        )
        for load in known["loads"]
    )
    return Lowered(known["file"], tuple(loads))


def run(
    module: str | os.PathLike[str],
    *,
    function: str | None = None,
    image: str | os.PathLike[str] | None = None,
    registers: Mapping[str, object] | None = None,
    parameters: Mapping[str, object] | None = None,
    places: Mapping[str, int] | None = None,
    active: int = 0xFFFF_FFFF,
    tensor_memory: str | os.PathLike[str] | None = None,
    warp: int | None = None,
    lane_mode: str | None = None,
) -> Ran:
    """Executes the loads of a function, in the order of the text.

    ``registers`` are values by name: a number for all lanes, 32 numbers, or an expression with ``lane``
    in it, such as ``"0x1000+16*lane"``. That of a predicate is ``True`` or ``False`` for all lanes, 32 of them, or a
    number, which is a mask, bit n for lane n. ``parameters`` are those of the function, ``places`` the addresses
    of variables, ``image`` the manifest of a memory image. The others are options of ``warpload ptx run``.
    """
    options = [f"--active={active:#x}"]
    for name, value in (
        ("--function", function),
        ("--image", image),
        ("--tensor-memory", tensor_memory),
        ("--warp", warp),
        ("--lane-mode", lane_mode),
    ):
        if value is not None:
            options.append(f"{name}={_text(value)}")
    for key, value in (registers or {}).items():
        options.append(f"--set={key}={_expression(_of_lanes(value))}")
    for name, values in (("--parameter", parameters), ("--place", places)):
        options += [f"{name}={key}={_expression(value)}" for key, value in (values or {}).items()]
    _, known = _call("run", module, options)
    loads = (
        RanLoad(
            load["text"],
            load["line"],
            load["column"],
            int(load.get("executing", "0"), 0),
            {
                name: tuple(None if value is None else int(value, 16) for value in lanes)
                for name, lanes in load["registers"].items()
            },
            {name: int(mask, 16) for name, mask in load["lane_faults"].items()},
            {name: int(mask, 16) for name, mask in load.get("undefined", {}).items()},
            (load.get("tensor_fault") or {}).get("message"),
            load.get("error"),
        )
        for load in known["loads"]
    )
    return Ran(known["file"], tuple(loads))


def _call(
    task: str, module: str | os.PathLike[str], options: Sequence[str]
) -> tuple[_native.Answer, dict[str, Any]]:
    """Runs the command on a module; raises what keeps it from being read."""
    is_text = isinstance(module, str) and _is_text(module)
    name = "-" if is_text else os.fspath(module)
    text = module.encode() if isinstance(module, str) and is_text else b""
    arguments = ["ptx", task, "--format", "json", *options, "--", name]
    answer = _native.call(arguments, text)
    lines = answer.output.splitlines()
    if len(lines) != 1:
        answer.check()
        if not lines:
            raise Error(f"{name}: no module of PTX", file=name)
        raise Error(f"{name}: {len(lines)} modules; expected one", file=name)
    return answer, json.loads(lines[0])


def _is_text(module: str) -> bool:
    """Returns whether a module is given as its text."""
    if "\n" in module or "\0" in module:
        return True
    return any(character in module for character in ";{}") and not os.path.exists(module)


def _of_lanes(value: object) -> object:
    """Returns a truth value as those of all lanes: as a number, it would be that of one."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return [value] * LANES if isinstance(value, bool) else value


def _instruction(sass: dict[str, str]) -> Instruction:
    instruction = _native.decode(int(sass["word"], 16))
    assert instruction is not None, "what a load becomes is a load"
    return instruction


def _text(value: object) -> str:
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _expression(value: object) -> str:
    """Returns a value as the command reads it."""
    if isinstance(value, str):
        return value
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Sequence):
        return ",".join(map(_expression, value))
    return str(int(value) if isinstance(value, bool) else value)
