"""What a load does, lane by lane."""

from warp.machine import LANES
from warp.vectors import masks

from .rules import registers_of

# Spaces for which a generic load with a qualifier is; on others its outcome is undefined.
GLOBAL, GLOBAL_SHARED = ("global",), ("global", "shared")
VOLATILE_LOCAL = (9, 1)  # the version from which `.volatile` is for local memory too


class NoValue(Exception):
    """A load that needs a value that is unknown."""


def executing(guard, active):
    """Returns the lanes that execute; raises `NoValue` if a guard is unknown."""
    lanes = [lane for lane in LANES if active >> lane & 1]
    if any(guard[lane] is None for lane in lanes):
        raise NoValue
    return [lane for lane in lanes if guard[lane]]


def mask_of(lanes):
    return f"{sum(1 << lane for lane in lanes):#x}"


def address_of(load, state, memory, lane):
    """Returns a lane's effective address."""
    place, base = load.place, 0
    variable = state.variable(place.name) if place.name else None
    if variable:
        base = memory.addresses[variable.name]
        index = place.index if not isinstance(place.index, str) else known(state, place.index, lane)
        base += (index or 0) * variable.element_bytes
    elif place.name:
        base = known(state, place.name, lane)
    bits = 64 if load.get("space") in (None, ".global") else 32
    return (base + place.offset) % (1 << bits)


def known(state, name, lane):
    value = state.get(name, lane)
    if value is None:
        raise NoValue
    return value


def space_of(load, state, memory, address):
    """Returns the space of an address and the offset there; a space of `None` outside the windows."""
    space = load.get("space")
    variable = state.variable(load.place.name) if load.place.name else None
    if space is None and variable:
        space = variable.space
    if space:
        return space[1:], address
    # The predicate that LD takes is true exactly if the address is not shared, so it excludes nothing.
    return memory.machine.resolve_generic(address) or (None, address)


def restrictions(load, module):
    """Yields the qualifiers of a generic load that are for some memories only, with these."""
    if load.get("space"):
        return
    if load.bytes == 32:
        yield load.get("vector"), GLOBAL
    if load.get("mmio"):
        yield ".mmio", GLOBAL
    if load.get("hint"):
        yield ".L2::cache_hint", GLOBAL
    if load.is_unified:
        yield ".unified", GLOBAL
    order = load.get("order")
    if order in (".relaxed", ".acquire") or (order == ".volatile" and module.version < VOLATILE_LOCAL):
        yield order, GLOBAL_SHARED


def elements(load, data, state):
    """Returns the value of each element, extended to its register."""
    kind, bits = load.type
    size, values = bits // 8, []
    for at, register in enumerate(registers_of(load, state.function)):
        value = int.from_bytes(bytes(data[at * size : (at + 1) * size]), "little", signed=kind == "s")
        values.append(value % (1 << register.type.bits) if register else None)
    return values


def destinations(load, state):
    """Returns the names of the registers, `None` for a sink; a vector register's elements are apart."""
    found = []
    for name in load.destinations:
        found += state.elements(state.canonical(name)) if name else [None]
    return found


class Outcome:
    """Faults, lanes whose outcome is undefined, and the values of each lane."""

    def __init__(self):
        self.faults, self.undefined, self.values = {}, {}, {}

    def mark(self, name, lane):
        self.faults[name] = self.faults.get(name, 0) | 1 << lane


def access(load, state, memory, lane, outcome):
    """Executes a load for one lane."""
    effective = address_of(load, state, memory, lane)
    address = effective - effective % load.bytes
    if address != effective and memory.machine.report_misaligned:
        outcome.mark("misaligned_address", lane)
    space, offset = space_of(load, state, memory, address)
    for qualifier, spaces in restrictions(load, state.module):
        if space is not None and space not in spaces:
            outcome.undefined[qualifier] = outcome.undefined.get(qualifier, 0) | 1 << lane
    data = None if space is None else memory.read(space, offset, load.bytes, lane)
    if data is None:
        outcome.mark("outside_window" if space is None else "outside_allocation", lane)
        data = bytes(load.bytes)
    if None in list(data):
        raise NoValue
    outcome.values[lane] = elements(load, data, state)


def execute(load, state, memory, active):
    """Executes a load and returns its answer without the line; raises `NoValue` with nothing changed."""
    lanes = executing(state.guard(load.guard, load.is_negated), active)
    outcome, names = Outcome(), destinations(load, state)
    for lane in lanes:
        access(load, state, memory, lane, outcome)
    for lane in lanes:
        for name, value in zip(names, outcome.values[lane]):
            if name:
                state.put(name, lane, value)
    answer = {
        "executing": mask_of(lanes),
        "registers": shown(names, state) if lanes else {},
        "lane_faults": masks(outcome.faults),
    }
    return answer | ({"undefined": masks(outcome.undefined)} if outcome.undefined else {})


def shown(names, state):
    """Returns the values of registers, `None` for lanes without one."""
    return {name: [hexadecimal(state.get(name, lane)) for lane in LANES] for name in names if name}


def hexadecimal(value):
    return None if value is None else f"{value:#x}"
