"""Types of arguments and of words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Buffer

    from ._native import Machine, Memory, Module, Replay

Fill = Literal["address", "zero"]
Space = Literal["global", "local", "shared", "constant", "unresolved"]
LaneSpace = Literal["global", "local", "shared", "constant"]
InstructionSpace = Literal["generic", "global", "local", "shared", "constant", "tensor"]
LaneMode = Literal["strict", "wrap"]
LaneFaultKind = Literal["outside_window", "outside_allocation", "misaligned_address"]
WarpFaultKind = Literal["misaligned_register", "out_of_range_register"]
KernelFaultKind = Literal[
    "out_of_bounds",
    "misaligned",
    "uninitialized",
    "read_only",
    "mbarrier",
    "race",
    "scoreboard",
    "trap",
    "barrier",
    "part_of_warp",
    "membermask",
    "undefined_shuffle",
    "hang",
    "stack_overflow",
    "branch_index",
    "no_function",
    "tensor_memory",
    "assertion",
    "printf",
    "use_after_free",
    "double_free",
    "invalid_free",
    "unknown_value",
]
UniformPath = Literal["broadcast", "divergent"]
Misaligned = Literal["force", "report", "fault"]
Executor = Literal["fast", "reference", "both"]
Family = Literal[
    "execute",
    "decode",
    "encode",
    "ptx-legality",
    "ptx-execute",
    "tensor-memory",
    "coalescing",
    "traces",
]
FailureKind = Literal[
    "difference", "timeout", "crash", "wrong-line", "error", "not-a-case", "not-utf-8"
]
ErrorKind = Literal["argument", "syntax", "illegal", "input", "selection", "fault", "system"]
Window = tuple[int, int]
"""The first address and the size in bytes."""
Path = Union[str, "PathLike[str]"]
Suite = Union[Path, Iterable[Path]]
Examinee = Union[Callable[[dict[str, Any]], Union[dict[str, Any], None]], str, Sequence[str]]
Dictionary = dict[str, Any]
NamedValues = Mapping[str, Any]
PtxModule = Union[Path, "Buffer"]
KernelSource = Union["Module", Path, "Buffer"]
TensorContents = Union[Path, "Buffer"]
Replays = Iterable["Replay"]
Contents = Mapping[int, "Buffer"]
ByteSource = Union["Buffer"]
SummaryJson = Union[str, "Buffer"]
Numbers = Union["npt.ArrayLike"]
WordArray = Union["npt.NDArray[Any]", "Buffer"]


class Selection(TypedDict, total=False):
    """The accesses to count. An access has to satisfy all of the options."""

    kernel: str | None
    """A regular expression with a match in the kernel's name, mangled or demangled."""
    pc: int | tuple[int, int] | str | None
    """One program counter, or the first and the last, or a text: ``"0x1a0..0x2f0"``, ``"416"``."""
    opcode: str | None
    """A glob that the whole opcode matches: ``LDG.*``, ``*.{64,128}``."""
    space: Space | None
    """The memory of the first executing lane."""


class AccessOptions(Selection, total=False):
    """The accesses to list, and the memory that loads read."""

    fill: Fill | None
    """The contents of memory without an image: ``address`` is a function of the address."""
    address_bits: int | None
    """The width of a generic address, 32 to 64; 49 if not given."""
    shared_window: Window | str | None
    """The shared address window, instead of the trace's."""
    local_window: Window | str | None
    """The local address window, instead of the trace's."""


class CountingOptions(AccessOptions, total=False):
    """The options of a replay other than the image."""

    threads: int | None
    """The number of threads; as many as can run at once if not given."""
    merge_pairs: bool
    """Serve two groups of 8 lanes at once if they load 16 bytes in equal pairs from shared memory, as SM 7.0 to 7.5
    do."""
    cubin: Path | Iterable[Path]
    """Cubins with kernels of the trace, or files that hold such cubins."""
    demangle: bool
    """Whether to demangle names of kernels."""


class ReplayOptions(CountingOptions, total=False):
    """The options of a replay, each like its option of :option:`warpload replay`."""

    image: Path | Memory | Machine | None
    """The memory that loads read: the manifest of a memory image, a memory or a machine."""
