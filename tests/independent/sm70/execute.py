"""What a load does, lane by lane.

Points that the specification leaves open are decided here and nowhere else; each has a name and a
sentence in `DECISIONS`, and a vector that depends on one is marked with it.
"""

import dataclasses

from warp import Refused
from warp.machine import LANES

DECISIONS = {
    "base-beyond-limit": "Ra at or above register_limit counts as RZ in every address form; the offset"
    " is then unsigned in the immediate forms of LD, LDG, LDL and LDS, as with RZ, and signed in all"
    " others, those of LDSM among them, as the text prints it",
    "uniform-pair": "a uniform pair is checked as a register pair is, after Ra: odd is misaligned,"
    " one that would end in URZ is out of range; URZ is 0 and is never checked",
    "uniform-destination": "URd is checked as Rd is, against 63 or 255 uniform registers",
    "uniform-faults": "a lane fault of a uniform load marks every active lane",
    "u128-not-broadcast": "`.U.128` is executed as `.128`: never a broadcast",
    "wide-register-order": "of two destinations the one with the first words is checked first",
    "ldcu-256-order": "LDCU.256 puts the first four words in URd, the last four in the other",
    "ldsm-blackwell": "LDSM.16.M88 and .MT88 of 10.x and 12.x do what those of 7.5 to 9.0 do",
    "ldsm-faults": "a row's fault marks the lane that gave its address; the row reads as zeroes, and"
    " addresses of further lanes are not looked at",
    "descriptor-register": "the descriptor's uniform register is not read, so it is not checked",
}

ORDERS_VT = {(1, 3), (0, 3), (2, 0), (2, 2), (2, 3), (3, 3)}
ORDERS = {0, 4, 5, 7, 10, 12}
SIZES = {0: (1, False), 1: (1, True), 2: (2, False), 3: (2, True), 4: (4, False), 5: (8, False)}


def refuse_text_only(load):
    """Raises `Refused` for a load of which no public source says what it does."""

    def refuse(condition, reason):
        if condition:
            raise Refused(reason)

    kind, get = load.kind, load.get
    refuse(kind.startswith(("ldgsts", "ldtm")), f"{load.name} is not modelled")
    refuse(kind.endswith(("_cx", "_mem")), "the address form is text only")
    refuse(kind == "uldc" and get("uniform"), "cx[] is text only")
    refuse(get("zd") or get("private"), "ZD and PRIVATE are text only")
    refuse(kind == "ldg" and get("pd") != 7, "Pd is text only")
    refuse(get("pin") or get("pin_not"), "Pin is text only")
    refuse(get("evict", 1) >= 6, "an invalid eviction priority")
    refuse(load.sm.among("T") and get("prefetch") == 3, "an invalid prefetch size")
    refuse(get("policy") == 3, "an L2 policy that is text only")
    refuse(get("mask", 0xFF) != 0xFF, "a mask is text only")
    refuse(get("mode") or get("unpack"), "a mode that is text only")
    if kind in ("ld", "ldg", "ldg256"):
        if "scope" in load.fields:
            refuse((get("order"), get("scope")) not in ORDERS_VT, "an order that is text only")
        else:
            refuse(get("order") not in ORDERS, "an order that is text only")
        if load.form != "immediate" and kind != "ldg256":
            refuse(not get("e"), "a uniform register without .E")
            no_base = not load.has_base and load.form == "u64" and load.sm.among("HB")
            refuse(no_base, "an invalid base")
    if kind == "ldsm":
        refuse(get("size") or get("shape") > 1 or get("count") == 3, "a shape that is text only")
    elif "size" in load.fields:
        access_of(load)


def access_of(load):
    """Returns the bytes of one access and whether it is sign-extended."""
    if load.kind in ("ldg256", "ldcu256"):
        return 32, False
    if load.kind == "ldsm":
        return 16, False
    size = load.get("size")
    if size in SIZES:
        return SIZES[size]
    if size == 6 and load.kind in ("ld", "ldg", "ldl", "lds", "ldcu"):
        return 16, False
    if size == 7 and load.kind in ("ld", "ldg") and load.sm.among("VT"):
        return 16, False
    raise Refused("an invalid size")


def destinations(load):
    """Returns the first register of each destination, the lowest words first, and their count."""
    if load.kind in ("ldg256", "ldcu256"):
        return [load.get("rd"), load.get("r1st")], 4
    if load.kind == "ldsm":
        return [load.get("rd")], 1 << load.get("count")
    return [load.get("rd")], max(1, access_of(load)[0] // 4)


def is_uniform(load):
    """Returns whether the load's destination is a uniform register."""
    return load.name in ("ULDC", "LDCU")


def wide_base(load):
    """Returns whether Ra is the low half of a pair."""
    if load.kind not in ("ld", "ldg", "ldg256"):
        return False
    if load.form == "immediate":
        return bool(load.get("e"))
    return load.form in ("u64", "descriptor")


def register_faults(load, machine):
    """Yields the faults of the registers that are misaligned or out of range, in their order."""
    zero, limit = 255, machine.register_limit
    if is_uniform(load):
        zero = limit = load.sm.urz
    firsts, count = destinations(load)
    checked = [(first, count, limit) for first in firsts if first != zero]
    if wide_base(load) and base_of(load, machine) is not None:
        checked.append((load.get("ra"), 2, machine.register_limit))
    if uniform_pair(load) not in (None, load.sm.urz):
        checked.append((load.get("ur"), 2, load.sm.urz))
    for first, count, limit in checked:
        if first % count:
            yield "misaligned_register"
        if first + count > limit:
            yield "out_of_range_register"


def uniform_pair(load):
    """Returns the number of the uniform pair that is a part of the address, or `None`."""
    if load.kind in ("ld", "ldg", "ldg256") and load.form in ("u32", "u64"):
        return load.get("ur")
    return None


def base_of(load, machine):
    """Returns the number of Ra; `None` if there is no base."""
    ra = load.get("ra", 255)
    return None if ra >= machine.register_limit else ra


def uniform_value(load, machine, number):
    return 0 if number == load.sm.urz else machine.uniform_registers.get(number, 0)


def address_of(load, machine, lane):
    """Returns the effective address of a lane."""
    ra = base_of(load, machine)
    if ra is None and load.has_base and load.kind != "ldsm":
        load = dataclasses.replace(load, fields=load.fields | {"ra": 255})
    address = load.offset
    if ra is not None:
        base = machine.register(ra, lane)
        if wide_base(load):
            base |= machine.register(ra + 1, lane) << 32
        scale = load.get("scale")
        address += base << (scale + 1 if scale else 0)
    if "ur" in load.fields and load.form != "descriptor":
        address += uniform_value(load, machine, load.get("ur"))
    if uniform_pair(load) not in (None, load.sm.urz):
        address += uniform_value(load, machine, load.get("ur") + 1) << 32
    is_wide = load.kind in ("ld", "ldg", "ldg256") and (load.form != "immediate" or load.get("e"))
    return address % (1 << (64 if is_wide else 32))


class Outcome:
    """What a load changed: registers by number and lane, faults."""

    def __init__(self):
        self.registers = {}
        self.uniform_registers = {}
        self.fault = None
        self.lane_faults = {}

    def mark(self, name, lanes):
        self.lane_faults[name] = self.lane_faults.get(name, 0) | lanes


def fetch(load, machine, outcome, lane, marks):
    """Returns the bytes of one lane's access, zeroes if it is outside; marks faults in `marks`."""
    size = access_of(load)[0]
    address = address_of(load, machine, lane)
    rounded = address - address % size
    if rounded != address and machine.report_misaligned:
        outcome.mark("misaligned_address", marks)
    place = place_of(load, machine, rounded)
    if place is None:
        outcome.mark("outside_window", marks)
        return bytes(size)
    data = machine.read(*place, size, lane)
    if data is None:
        outcome.mark("outside_allocation", marks)
        return bytes(size)
    return data


def place_of(load, machine, address):
    """Returns the space of an address and the offset there; `None` outside the windows."""
    if load.kind == "ld":
        return machine.resolve_generic(address)
    if load.kind in ("ldg", "ldg256"):
        return "global", address
    if load.kind == "ldl":
        return "local", address
    if load.kind in ("lds", "ldsm"):
        return "shared", address
    return load.get("bank"), address


def words_of(load, data):
    """Returns the 32-bit words that an access brings."""
    size, sign_extended = access_of(load)
    if size < 4:
        return [int.from_bytes(data, "little", signed=sign_extended) & 0xFFFFFFFF]
    return [int.from_bytes(data[at : at + 4], "little") for at in range(0, size, 4)]


def execute(load, machine):
    """Returns the `Outcome` of a load; raises `Refused` if the load is text only."""
    refuse_text_only(load)
    outcome = Outcome()
    if is_uniform(load):
        guard = machine.uniform_guard(load.get("guard"), load.get("guard_not"))
        executing = machine.active if guard else 0
    else:
        executing = machine.active & machine.guard_mask(load.get("guard"), load.get("guard_not"))
    if not executing:
        return outcome
    if load.kind == "ldsm" and executing != 0xFFFFFFFF:
        raise Refused("LDSM of a part of the warp is undefined")
    outcome.fault = next(register_faults(load, machine), None)
    if outcome.fault:
        return outcome
    if load.kind == "ldsm":
        _matrices(load, machine, outcome)
    elif is_uniform(load):
        values = words_of(load, fetch(load, machine, outcome, 0, executing))
        for register, value in zip(_targets(load), values):
            if register is not None:
                outcome.uniform_registers[register] = value
    else:
        for lane in LANES:
            if executing >> lane & 1:
                values = words_of(load, fetch(load, machine, outcome, lane, 1 << lane))
                for register, value in zip(_targets(load), values):
                    if register is not None:
                        outcome.registers.setdefault(register, {})[lane] = value
    return outcome


def _targets(load):
    """Returns the register that each word goes to; `None` where it is dropped."""
    zero = load.sm.urz if is_uniform(load) else 255
    first_registers, count = destinations(load)
    return [None if first == zero else first + i for first in first_registers for i in range(count)]


def _matrices(load, machine, outcome):
    rows = [fetch(load, machine, outcome, lane, 1 << lane) for lane in range(8 << load.get("count"))]
    for index, register in enumerate(_targets(load)):
        if register is None:
            continue
        matrix = rows[8 * index : 8 * index + 8]
        for lane in LANES:
            if load.get("shape"):  # transposed
                pair = [(2 * (lane % 4) + i, lane // 4) for i in range(2)]
            else:
                pair = [(lane // 4, 2 * (lane % 4) + i) for i in range(2)]
            data = b"".join(matrix[row][2 * column : 2 * column + 2] for row, column in pair)
            outcome.registers.setdefault(register, {})[lane] = int.from_bytes(data, "little")
