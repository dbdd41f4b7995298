"""The counts of a replay. The fields are those of the command's JSON, which docs/counters.md describes."""

from __future__ import annotations

import functools
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._types import LaneFaultKind


@dataclass(frozen=True, kw_only=True)
class Spaces:
    """Accesses by the memory of their first executing lane."""

    # `global` is a Python keyword.
    global_: int = 0
    local: int = 0
    shared: int = 0
    constant: int = 0
    unresolved: int = 0


@dataclass(frozen=True, kw_only=True)
class Spread:
    """The costs of single accesses: their sum, the lowest and the highest."""

    sum: int = 0
    min: int | None = None
    max: int = 0


@dataclass(frozen=True, kw_only=True)
class Global:
    """The cost of accesses in global memory."""

    accesses: int = 0
    sectors: Spread = Spread()
    ideal_sectors: int = 0
    lines: int = 0


@dataclass(frozen=True, kw_only=True)
class Shared:
    """The cost of accesses in shared memory."""

    accesses: int = 0
    wavefronts: Spread = Spread()
    ideal_wavefronts: int = 0
    conflicts: int = 0
    bank_words: tuple[int, ...] = (0,) * 32
    unknown: int = 0


@dataclass(frozen=True, kw_only=True)
class Local:
    """The cost of accesses in local memory."""

    accesses: int = 0
    sectors: int = 0
    ideal_sectors: int = 0


@dataclass(frozen=True, kw_only=True)
class Constant:
    """The cost of loads of constant memory."""

    accesses: int = 0
    addresses: int = 0


@dataclass(frozen=True, kw_only=True)
class Faults:
    """Faults of lanes."""

    outside_window: int = 0
    outside_allocation: int = 0
    misaligned_address: int = 0

    @property
    def total(self) -> int:
        """The number of faults of all kinds."""
        return self.outside_window + self.outside_allocation + self.misaligned_address


@dataclass(frozen=True, kw_only=True)
class Uniform:
    """Loads of the ``.U.128`` form by their path."""

    broadcast: int = 0
    divergent: int = 0


@dataclass(frozen=True, kw_only=True)
class Values:
    """Accesses with values in the source, and the comparison of loads with an image."""

    accesses: int = 0
    checked: int = 0
    mismatches: int = 0
    checked_words: int = 0
    mismatched_words: int = 0


@dataclass(frozen=True, kw_only=True)
class FirstFault:
    """The first fault of some accesses."""

    instruction: int
    lane: int
    kind: LaneFaultKind
    address: int


@dataclass(frozen=True, kw_only=True)
class Accesses:
    """The counts of the accesses of one kind. Memories that none of them can reach have zeros."""

    accesses: int
    lanes: int
    bytes: int
    by_space: Spaces = Spaces()
    global_: Global = Global()
    shared: Shared = Shared()
    local: Local = Local()
    constant: Constant = Constant()
    lane_faults: Faults = Faults()
    first_fault: FirstFault | None = None
    unattributable: int = 0
    width_disagreements: int = 0
    uniform: Uniform = Uniform()
    values: Values = Values()

    @property
    def sectors(self) -> int:
        """The sectors of global and local memory."""
        return self.global_.sectors.sum + self.local.sectors

    @property
    def ideal_sectors(self) -> int:
        """The fewest sectors that would do."""
        return self.global_.ideal_sectors + self.local.ideal_sectors


@dataclass(frozen=True, kw_only=True)
class Footprint:
    """Distinct pages and lines of global memory."""

    pages: int
    lines: int


@dataclass(frozen=True, kw_only=True)
class Transfers:
    """Instructions of the Tensor Memory Accelerator."""

    instructions: int = 0
    addresses: int = 0
    bytes: int = 0


@dataclass(frozen=True, kw_only=True)
class Counts:
    """The counts of a trace or of a launch."""

    instructions: int
    loads: Accesses
    stores: Accesses
    atomics: Accesses
    reductions: Accesses
    copies: Accesses
    by_opcode: Mapping[str, int]
    footprint: Footprint | None
    others: int
    not_replayed: Mapping[str, int]
    transfers: Transfers = Transfers()
    unselected: int = 0


@dataclass(frozen=True, kw_only=True)
class LaunchSummary(Counts):
    """The counts of a launch of a kernel."""

    launch: int
    kernel: str
    demangled: str | None = None
    grid: tuple[int, int, int]
    block: tuple[int, int, int]


@dataclass(frozen=True, kw_only=True)
class Shard:
    """The shard that a replay covers."""

    replay: str
    """The version, the trace and the options of the whole replay."""
    index: int
    """Its number, from 0."""
    of: int
    """The number of shards of the whole replay."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A fault of a lane."""

    instruction: int
    kernel: str
    pc: int
    lane: int
    kind: LaneFaultKind
    address: int


@dataclass(frozen=True, kw_only=True)
class Mismatch:
    """A value that differs from the expected one."""

    instruction: int
    kernel: str
    pc: int
    lane: int
    register: int
    expected: int
    got: int


@dataclass(frozen=True, kw_only=True)
class Summary(Counts):
    """The result of a replay, without its rows."""

    first_mismatches: tuple[Mismatch, ...]
    first_faults: tuple[Fault, ...]
    digest: str | None
    """16 hexadecimal digits; ``None`` without data."""
    complete: bool | None
    notes: tuple[str, ...]
    launches: tuple[LaunchSummary, ...]
    shard: Shard | None = None
    """``None`` if the replay covers the whole trace."""
    selected: Mapping[str, str] | None = None


def summary(known: Mapping[str, Any]) -> Summary:
    """Makes the summary of the command's JSON. Keys without a field are left out."""
    made: Summary = _read(Summary, known)
    return made


@functools.cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _read(kind: Any, value: Any) -> Any:
    """Makes an object of that type, which may be ``X | None`` or ``tuple[X, ...]``."""
    one: Any = (typing.get_args(kind) or (kind,))[0]
    if isinstance(value, list):
        return tuple(_read(one, each) for each in value)
    if isinstance(value, dict) and hasattr(one, "__dataclass_fields__"):
        fields = [(name, name.rstrip("_"), hint) for name, hint in _hints(one).items()]
        return one(**{name: _read(hint, value[key]) for name, key, hint in fields if key in value})
    # JSON has addresses as hexadecimal texts.
    return int(value, 16) if one is int and isinstance(value, str) else value
