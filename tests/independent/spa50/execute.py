"""What a load does to a warp, lane by lane."""

from dataclasses import dataclass, field

from warp import Refused
from warp.machine import LANES

from .words import PT, RZ, offset_of


@dataclass
class Outcome:
    """What a load changed: registers by number and lane, faults, the path that was taken."""

    registers: dict = field(default_factory=dict)
    fault: str | None = None
    lane_faults: dict = field(default_factory=dict)
    broadcast: bool = False

    def mark(self, name, lane):
        self.lane_faults[name] = self.lane_faults.get(name, 0) | 1 << lane


@dataclass
class Access:
    """One lane's access: its address, rounded down, and what is there."""

    lane: int
    is_misaligned: bool
    address: int
    space: object  # of constant memory the bank's number; `None` outside the windows
    data: bytes | None  # `None` outside what is allocated


def refuse_text_only(load):
    """Raises `Refused` for a load of which no public source says what it does."""
    if load.bytes is None:
        raise Refused("an invalid size")
    if load.get("mode"):
        raise Refused("a mode of LDC")


def executing_lanes(load, machine):
    """Returns the lanes that are active and whose guard is true."""
    mask = machine.active & machine.guard_mask(load.get("guard"), load.get("guard_not"))
    return [lane for lane in LANES if mask >> lane & 1]


def registers_written(load):
    """Returns how many registers the destination has."""
    return max(1, load.bytes // 4)


def base_of(load, machine):
    """Returns the number of the base register; `None` if the address has no base."""
    return None if load.get("ra") == RZ or load.get("ra") >= machine.register_limit else load.get("ra")


def register_fault(load, machine):
    """Returns the first rule of registers that the load breaks, or `None`."""
    rd, count, limit = load.get("rd"), registers_written(load), machine.register_limit
    if rd != RZ:
        if rd % count:
            return "misaligned_register"
        if rd + count > limit:
            return "out_of_range_register"
    if load.get("e") and base_of(load, machine) is not None:
        if load.get("ra") % 2:
            return "misaligned_register"
        if load.get("ra") + 1 >= limit:
            return "out_of_range_register"
    return None


def base_value(load, machine, lane, base):
    """Returns what the base register holds, or with `.E` the pair."""
    value = machine.register(base, lane)
    if load.get("e"):
        value |= machine.register(base + 1, lane) << 32
    return value


def address_of(load, machine, lane):
    """Returns a lane's effective address."""
    base = base_of(load, machine)
    offset = offset_of(load, base is not None)
    if base is None:
        return offset % (1 << 32)
    return (base_value(load, machine, lane, base) + offset) % (1 << (64 if load.get("e") else 32))


def rounded(load, address):
    """Returns the address rounded down to a multiple of the access size."""
    return address - address % load.bytes


def plg_of(load, machine, lane):
    """Returns whether Plg is true."""
    return bool(machine.guard_mask(load.get("plg", PT), False) >> lane & 1)


def place_of(load, machine, lane, address):
    """Returns the space of an address and the offset there; a space of `None` outside the windows."""
    if load.name == "LDG":
        return "global", address
    if load.name == "LDL":
        return "local", address
    if load.name == "LDS":
        return "shared", address
    if load.name == "LDC":
        return load.get("bank"), address
    space, offset = machine.resolve_generic(address) or (None, address)
    return (space if plg_of(load, machine, lane) == (space != "shared") else None), offset


def access_of(load, machine, lane):
    """Returns a lane's access; it changes nothing."""
    effective = address_of(load, machine, lane)
    address = rounded(load, effective)
    space, offset = place_of(load, machine, lane, address)
    data = None if space is None else machine.read(space, offset, load.bytes, lane)
    return Access(lane, address != effective, address, space, data)


def faults_of(access, machine):
    """Returns the marks of a lane."""
    marks = ["misaligned_address"] if access.is_misaligned and machine.report_misaligned else []
    if access.space is None:
        marks.append("outside_window")
    elif access.data is None:
        marks.append("outside_allocation")
    return marks


def takes_broadcast(load, accesses):
    """Returns whether one fetch serves all executing lanes."""
    first = accesses[0]
    return (
        load.is_uniform
        and all((access.address, access.space) == (first.address, first.space) for access in accesses)
        and first.space in ("global", "shared")
        and all(access.data is not None for access in accesses)
    )


def words_of(load, data):
    """Returns the 32-bit words that the registers get."""
    if load.bytes < 4:
        return [int.from_bytes(data, "little", signed=load.is_signed) & 0xFFFFFFFF]
    return [int.from_bytes(data[at : at + 4], "little") for at in range(0, load.bytes, 4)]


def write(load, outcome, lane, words):
    """Writes a lane's registers; those of RZ are dropped."""
    if load.get("rd") != RZ:
        for register, word in enumerate(words, load.get("rd")):
            outcome.registers.setdefault(register, {})[lane] = word


def execute(load, machine):
    """Returns the `Outcome` of a load; raises `Refused` if the load must not be executed."""
    refuse_text_only(load)
    outcome = Outcome()
    lanes = executing_lanes(load, machine)
    if not lanes:
        return outcome
    outcome.fault = register_fault(load, machine)
    if outcome.fault:
        return outcome
    accesses = [access_of(load, machine, lane) for lane in lanes]
    outcome.broadcast = takes_broadcast(load, accesses)
    for access in accesses:
        for mark in faults_of(access, machine):
            outcome.mark(mark, access.lane)
        data = accesses[0].data if outcome.broadcast else access.data
        write(load, outcome, access.lane, words_of(load, data or bytes(load.bytes)))
    return outcome
