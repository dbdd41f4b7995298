"""The result of a replay. The fields are those of the command's JSON, which docs/counters.md describes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._types import LaneFaultKind


@dataclass(frozen=True)
class Skipped:
    """Instructions that the replay skips."""

    store: int
    atomic: int
    other: int
    not_replayed: Mapping[str, int] | None = None


@dataclass(frozen=True)
class Ldgsts:
    """Copies from global to shared memory. A count is None if the trace has no records for it."""

    records: int
    lanes: int
    bytes: int | None
    sectors: int | None
    ideal_sectors: int | None
    wavefronts: int | None
    conflicts: int | None


@dataclass(frozen=True)
class Tma:
    """Instructions of the Tensor Memory Accelerator."""

    records: int
    addresses: int
    bytes: int


@dataclass(frozen=True)
class Spaces:
    """Loads by the memory of their first executing lane."""

    # `global` is a Python keyword.
    global_: int
    local: int
    shared: int
    constant: int
    unresolved: int


@dataclass(frozen=True)
class Faults:
    """Lane faults."""

    outside_window: int
    outside_allocation: int
    misaligned_address: int

    @property
    def total(self) -> int:
        """The number of lane faults of all kinds."""
        return self.outside_window + self.outside_allocation + self.misaligned_address


@dataclass(frozen=True)
class Uniform:
    """Loads of the ``.U.128`` form by their path."""

    broadcast: int
    divergent: int


@dataclass(frozen=True)
class Footprint:
    """Distinct pages and lines of global memory."""

    pages: int
    lines: int


@dataclass(frozen=True)
class Shared:
    """Loads of shared memory."""

    loads: int
    wavefronts: int
    ideal_wavefronts: int
    conflicts: int = 0


@dataclass(frozen=True)
class Local:
    """Loads of local memory."""

    loads: int
    sectors: int
    ideal_sectors: int


@dataclass(frozen=True)
class Constant:
    """Loads of constant memory."""

    loads: int
    addresses: int


@dataclass(frozen=True)
class Traffic:
    """Stores or atomics."""

    count: int
    lanes: int
    bytes: int
    sectors: int
    ideal_sectors: int


@dataclass(frozen=True)
class Counts:
    """Counts of loads, and of the memory that they touched."""

    records: int
    loads: int
    skipped: Skipped
    unattributable: int
    ldgsts: Ldgsts | None
    tma: Tma | None
    lanes: int
    bytes: int
    by_opcode: Mapping[str, int]
    by_space: Spaces
    sectors: int
    lines: int
    ideal_sectors: int
    lane_faults: Faults
    uniform: Uniform
    footprint: Footprint
    width_disagreements: int
    valued_loads: int
    checked: int
    mismatches: int
    checked_words: int
    mismatched_words: int
    shared: Shared
    local: Local
    constant: Constant
    stores: Traffic | None
    atomics: Traffic | None


@dataclass(frozen=True)
class Kernel(Counts):
    """The counts of one kernel."""

    name: str
    demangled: str | None = dataclasses.field(default=None, kw_only=True)


@dataclass(frozen=True)
class Fault:
    """A lane fault."""

    record: int
    kernel: str
    pc: int
    lane: int
    kind: LaneFaultKind
    address: int


@dataclass(frozen=True)
class Mismatch:
    """A value that differs from the expected one."""

    record: int
    kernel: str
    pc: int
    lane: int
    register: int
    expected: int
    got: int


@dataclass(frozen=True)
class Summary(Counts):
    """The counts of a whole replay."""

    first_mismatches: tuple[Mismatch, ...]
    first_faults: tuple[Fault, ...]
    digest: str | None
    """16 hexadecimal digits; ``None`` without data."""
    complete: bool | None
    notes: tuple[str, ...]
    kernels: tuple[Kernel, ...]
    selected: Mapping[str, str] | None = dataclasses.field(default=None, kw_only=True)


_NESTED: dict[str, type[Any]] = {
    "skipped": Skipped,
    "ldgsts": Ldgsts,
    "tma": Tma,
    "by_space": Spaces,
    "lane_faults": Faults,
    "uniform": Uniform,
    "footprint": Footprint,
    "shared": Shared,
    "local": Local,
    "constant": Constant,
    "stores": Traffic,
    "atomics": Traffic,
    "kernels": Kernel,
    "first_faults": Fault,
    "first_mismatches": Mismatch,
}
# Numbers that are hexadecimal texts in the JSON.
_NUMBERS = {Fault: ("pc", "address"), Mismatch: ("pc", "expected", "got")}


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
