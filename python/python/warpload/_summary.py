"""The result of a replay. The fields are those of the command's JSON, which docs/counters.md describes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._types import LaneFaultKind


@dataclass(frozen=True)
class Spaces:
    """Accesses by the memory of their first executing lane."""

    # `global` is a Python keyword.
    global_: int = 0
    local: int = 0
    shared: int = 0
    constant: int = 0
    unresolved: int = 0


@dataclass(frozen=True)
class Spread:
    """The costs of single accesses: their sum, the lowest and the highest."""

    sum: int = 0
    min: int | None = None
    max: int = 0


@dataclass(frozen=True)
class Global:
    """The cost of accesses in global memory."""

    accesses: int = 0
    sectors: Spread = field(default_factory=Spread)
    ideal_sectors: int = 0
    lines: int = 0


@dataclass(frozen=True)
class Shared:
    """The cost of accesses in shared memory."""

    accesses: int = 0
    wavefronts: Spread = field(default_factory=Spread)
    ideal_wavefronts: int = 0
    conflicts: int = 0
    bank_words: tuple[int, ...] = (0,) * 32
    unknown: int = 0


@dataclass(frozen=True)
class Local:
    """The cost of accesses in local memory."""

    accesses: int = 0
    sectors: int = 0
    ideal_sectors: int = 0


@dataclass(frozen=True)
class Constant:
    """The cost of loads of constant memory."""

    accesses: int = 0
    addresses: int = 0


@dataclass(frozen=True)
class Faults:
    """Faults of lanes."""

    outside_window: int = 0
    outside_allocation: int = 0
    misaligned_address: int = 0

    @property
    def total(self) -> int:
        """The number of faults of all kinds."""
        return self.outside_window + self.outside_allocation + self.misaligned_address


@dataclass(frozen=True)
class Uniform:
    """Loads of the ``.U.128`` form by their path."""

    broadcast: int = 0
    divergent: int = 0


@dataclass(frozen=True)
class Values:
    """Accesses with values in the source, and the comparison of loads with an image."""

    accesses: int = 0
    checked: int = 0
    mismatches: int = 0
    checked_words: int = 0
    mismatched_words: int = 0


@dataclass(frozen=True)
class FirstFault:
    """The first fault of some accesses."""

    instruction: int
    lane: int
    kind: LaneFaultKind
    address: int


@dataclass(frozen=True)
class Accesses:
    """The counts of the accesses of one kind. Memories that none of them can reach have zeros."""

    accesses: int
    lanes: int
    bytes: int
    by_space: Spaces = field(default_factory=Spaces)
    global_: Global = field(default_factory=Global)
    shared: Shared = field(default_factory=Shared)
    local: Local = field(default_factory=Local)
    constant: Constant = field(default_factory=Constant)
    lane_faults: Faults = field(default_factory=Faults)
    first_fault: FirstFault | None = None
    unattributable: int = 0
    width_disagreements: int = 0
    uniform: Uniform = field(default_factory=Uniform)
    values: Values = field(default_factory=Values)

    @property
    def sectors(self) -> int:
        """The sectors of global and local memory."""
        return self.global_.sectors.sum + self.local.sectors

    @property
    def ideal_sectors(self) -> int:
        """The fewest sectors that would do."""
        return self.global_.ideal_sectors + self.local.ideal_sectors


@dataclass(frozen=True)
class Footprint:
    """Distinct pages and lines of global memory."""

    pages: int
    lines: int


@dataclass(frozen=True)
class Transfers:
    """Instructions of the Tensor Memory Accelerator."""

    instructions: int = 0
    addresses: int = 0
    bytes: int = 0


@dataclass(frozen=True)
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
    transfers: Transfers = field(default_factory=Transfers, kw_only=True)
    unselected: int = field(default=0, kw_only=True)


@dataclass(frozen=True)
class Launch(Counts):
    """The counts of a launch of a kernel."""

    launch: int
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    demangled: str | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class Shard:
    """The shard that a replay covers."""

    replay: str
    """The version, the trace and the options of the whole replay."""
    index: int
    """Its number, from 0."""
    of: int
    """The number of shards of the whole replay."""


@dataclass(frozen=True)
class Fault:
    """A fault of a lane."""

    instruction: int
    kernel: str
    pc: int
    lane: int
    kind: LaneFaultKind
    address: int


@dataclass(frozen=True)
class Mismatch:
    """A value that differs from the expected one."""

    instruction: int
    kernel: str
    pc: int
    lane: int
    register: int
    expected: int
    got: int


@dataclass(frozen=True)
class Summary(Counts):
    """The result of a replay, without its rows."""

    first_mismatches: tuple[Mismatch, ...]
    first_faults: tuple[Fault, ...]
    digest: str | None
    """16 hexadecimal digits; ``None`` without data."""
    complete: bool | None
    notes: tuple[str, ...]
    launches: tuple[Launch, ...]
    shard: Shard | None = field(default=None, kw_only=True)
    """``None`` if the replay covers the whole trace."""
    selected: Mapping[str, str] | None = field(default=None, kw_only=True)


_NESTED: dict[str, type[Any]] = {
    "loads": Accesses,
    "stores": Accesses,
    "atomics": Accesses,
    "reductions": Accesses,
    "copies": Accesses,
    "transfers": Transfers,
    "by_space": Spaces,
    "global": Global,
    "shared": Shared,
    "local": Local,
    "constant": Constant,
    "sectors": Spread,
    "wavefronts": Spread,
    "lane_faults": Faults,
    "first_fault": FirstFault,
    "uniform": Uniform,
    "values": Values,
    "footprint": Footprint,
    "shard": Shard,
    "launches": Launch,
    "first_faults": Fault,
    "first_mismatches": Mismatch,
}
# Numbers that are hexadecimal texts in the JSON.
_NUMBERS = {
    FirstFault: ("address",),
    Fault: ("pc", "address"),
    Mismatch: ("pc", "expected", "got"),
}


def of_json(kind: type[Any], known: Mapping[str, Any]) -> Any:
    """Makes an object of that kind. Keys without a field are left out."""
    fields = {}
    for one in dataclasses.fields(kind):
        key = one.name.rstrip("_")
        if key not in known:
            continue
        value = known[key]
        nested = _NESTED.get(key)
        if nested is not None and isinstance(value, list):
            value = tuple(of_json(nested, each) for each in value)
        elif nested is not None and isinstance(value, dict):
            value = of_json(nested, value)
        elif key in _NUMBERS.get(kind, ()):
            value = int(value, 16)
        elif isinstance(value, list):
            value = tuple(value)
        fields[one.name] = value
    return kind(**fields)
