"""The state before an instruction, planned from a seeded generator of random numbers."""

from warp.machine import DEFAULT_ADDRESS_BITS, DEFAULT_WINDOWS, Machine

from .execute import DECISIONS, base_of, is_uniform, register_faults, uniform_pair
from .layout import OPCODES, SCHEDULING, bits
from .model import run
from .sms import sm_named
from .text import text
from .words import decode, encode, needs_no_read_barrier, offset_width, read_mask

EVERY_BIT = (1 << 128) - 1


def random_scheduling(rng, sm, opcode):
    """Returns scheduling bits that no disassembler refuses."""
    is_uldc = OPCODES[opcode][1].startswith("uldc")
    batch = rng.choice([0, 0, 0, 1, 2, 4, 5] if is_uldc else [0, 0, 0, 1, 2, 3, 4, 5])
    values = [value for value in range(28) if value != 16]
    if batch:
        values = [value for value in values if value and not (is_uldc and value > 15)]
    value = rng.choice(values)
    barrier = [0, 1, 2, 3, 4, 5, 7]
    fields = {
        "stall": value & 15,
        "yield": value >> 4,
        "write_barrier": rng.choice(barrier),
        "read_barrier": 7 if needs_no_read_barrier(sm, opcode) else rng.choice(barrier),
        "wait": rng.choice([0, 0, rng.getrandbits(6)]),
        "batch": batch,
        "pm": rng.choice([0, 0, 0, 1, 2, 3]),
    }
    return sum(fields[name] << low for name, (_, low) in SCHEDULING.items())


def random_mask(rng):
    """Returns a mask of some lanes, in one of the shapes that kernels make, or at random."""
    return rng.choice([
        (1 << rng.randrange(1, 32)) - 1,
        ~((1 << rng.randrange(1, 32)) - 1) & 0xFFFFFFFF,
        0x55555555,
        0xFFFF0000,
        1 << rng.randrange(32),
        rng.getrandbits(32),
        rng.getrandbits(32),
    ])  # fmt: skip


class Plan:
    """A vector in the making: an instruction's fields and the state before it."""

    def __init__(self, rng, sm):
        self.rng, self.sm = rng, sm
        self.values, self.registers, self.uniform = {}, {}, {}
        self.initial = {"sm": str(sm.number)}
        self.memory = {}
        self.about = []

    def chance(self, probability):
        return self.rng.random() < probability

    def note(self, about):
        if about not in self.about:
            self.about.append(about)

    @property
    def address_bits(self):
        return self.initial.get("address_bits", DEFAULT_ADDRESS_BITS)

    def window(self, name):
        """Returns the base and the size of a window."""
        custom = self.initial.get("windows", {}).get(name)
        return (int(custom["base"], 16), int(custom["size"], 16)) if custom else DEFAULT_WINDOWS[name]

    def plan_settings(self):
        """Chooses settings that most vectors leave at their defaults."""
        rng = self.rng
        if self.chance(0.5):
            self.initial["misaligned"] = rng.choice(["report", "report", "force"])
        if self.chance(0.2):
            self.initial["address_bits"] = rng.choice([32, 40, 47, 49, 52, 57, 64])
        if self.chance(0.2):
            size = rng.choice([0x400, 0x10000, 0x1000000])
            top = (1 << min(self.address_bits, rng.choice([32, 40, 64]))) // 16
            base = rng.choice([rng.randrange(top - 2 * size // 16) * 16, top * 16 - 2 * size])
            bases = [base, base + size]
            rng.shuffle(bases)
            self.initial["windows"] = {
                name: {"base": f"{start:#x}", "size": f"{size:#x}"}
                for name, start in zip(("shared", "local"), bases)
            }

    def plan_lanes(self, uniform=False, whole=False):
        """Chooses the active mask and the guard."""
        rng = self.rng
        if whole:
            return
        if self.chance(0.4):
            self.initial["active"] = f"{random_mask(rng):#x}"
            self.note("partial mask")
        if self.chance(0.4):
            guard, negated = rng.randrange(7), rng.randrange(2)
            if self.chance(0.04):
                guard, negated = 7, 1
            self.values |= {"guard": guard, "guard_not": negated}
            self.note("guard")
            if guard == 7:
                return
            if uniform:
                self.initial["uniform_predicates"] = {f"UP{guard}": self.chance(0.5) != bool(negated)}
            else:
                self.initial["predicates"] = {f"P{guard}": f"{random_mask(rng):#x}"}

    def plan_destination(self, count, bases):
        """Returns the number of a destination register, mostly legal; `bases` are read registers."""
        rng = self.rng
        if self.chance(0.04):
            self.note("RZ destination")
            return 255
        if bases and self.chance(0.2):
            self.note("destination overlaps base")
            register = rng.choice(bases)
            return register - register % count
        if count > 1 and self.chance(0.05):
            self.note("misaligned register")
            return rng.randrange(1, 250) | 1
        register = rng.randrange(0, 256 - count, count)
        return register

    def fill(self, first, count):
        """Gives destination registers that hold nothing yet a value, mostly."""
        if self.chance(0.6):
            for register in range(first, min(first + count, 255)):
                value = self.rng.getrandbits(32)
                self.registers.setdefault(register, [value] * 32)

    def plan_limit(self, used):
        """Chooses a register limit near the registers in `used`."""
        if self.chance(0.15):
            highest = max(used)
            limit = self.rng.choice([highest + 1, highest + 1, highest, min(used) + 1, min(used)])
            limit = min(max(limit + self.rng.choice([0, 0, 0, 1]), 1), 255)
            self.initial["register_limit"] = limit
            self.note("register limit")

    def set_uniform(self, first, value, words=2):
        """Names the uniform registers from `first` on that hold `value`."""
        for word in range(words):
            if first + word < self.sm.urz:
                self.uniform[first + word] = value >> 32 * word & 0xFFFFFFFF

    def uniform_pair(self, note, legal=0.96):
        """Returns the number of a uniform pair, mostly a legal one; else notes `note`."""
        if self.chance(legal):
            return self.rng.randrange(0, self.sm.urz - 2, 2)
        self.note(note)
        return self.rng.choice([self.rng.randrange(1, self.sm.urz - 2, 2), self.sm.urz - 1])

    def targets(self, areas, size, edges):
        """Returns 32 addresses for accesses of `size` bytes, mostly inside `areas`."""
        rng = self.rng

        def inside(area, index):
            start = -(-area[0] // size) * size
            slots = max((area[0] + area[1] - start) // size, 1)
            return start + index % slots * size

        pattern = rng.choice(["same", "lane by lane", "strided", "random", "mixed", "mixed"])
        area = rng.choice(areas)
        first, stride = rng.randrange(16), rng.choice([2, 3, 5, 31])
        addresses = []
        for lane in range(32):
            if pattern == "mixed":
                area = rng.choice(areas)
            index = {
                "same": first,
                "lane by lane": first + lane,
                "strided": first + lane * stride,
            }.get(pattern, rng.randrange(1 << 16))
            addresses.append(inside(area, index))
        self.note(pattern)
        if edges and self.chance(0.3):
            self.note("edges")
            for lane in range(32):
                if self.chance(0.4):
                    near = rng.choice([-17, -16, -8, -4, -2, -1, 0, 1, 2, 4, 8, 16])
                    addresses[lane] = rng.choice(edges) + near
        if size > 1 and self.chance(0.3):
            self.note("misaligned")
            share = rng.choice([0.1, 0.5, 1])
            addresses = [
                address + rng.randrange(size) if self.chance(share) else address for address in addresses
            ]
        return addresses

    def offset(self, width):
        """Returns a signed offset of `width` bits."""
        rng, half = self.rng, 1 << width - 1
        return rng.choice([
            0,
            rng.randrange(-64, 64),
            rng.randrange(-4096, 4096) * 4 % half * rng.choice([1, -1]),
            rng.randrange(-half, half),
            rng.choice([-half, half - 1]),
        ])  # fmt: skip

    def vector(self, opcode):
        """Returns the vector; raises `Invalid` if blocks and windows overlap."""
        rng, sm = self.rng, self.sm
        scheduling = random_scheduling(rng, sm, opcode)
        word = encode(sm, opcode, scheduling, **self.values)
        if self.chance(0.25):
            self.note("unread bits set")
            word |= rng.getrandbits(128) & ~read_mask(sm, word) & EVERY_BIT
        load = decode(sm, word)
        if any(load.fields[name] != value for name, value in self.stored(load).items()):
            raise AssertionError(f"{word:#034x} does not decode to {self.values}")
        initial = self.initial
        if self.memory:
            initial["memory"] = self.memory
        initial["registers"] = {
            f"R{register}": [f"{value:#x}" for value in values]
            for register, values in sorted(self.registers.items())
        }
        if self.uniform:
            initial["uniform_registers"] = {
                f"UR{register}": f"{value:#x}" for register, value in sorted(self.uniform.items())
            }
        vector = {
            "name": f"SM {sm.number}: {text(load)}: {', '.join(self.about or ['plain'])}",
            "instruction": f"{word:#034x}",
            "initial": initial,
        }
        vector["final"] = run(vector["instruction"], initial)
        if flags := decisions(vector):
            vector |= {"flags": sorted(flags), "decision": True}
        return vector

    def stored(self, load):
        """Returns the values of fields as the word stores them."""
        fields = dict(self.values)
        if width := offset_width(load):
            fields["offset"] = low_bits(fields.get("offset", 0), width)
        return fields


def decisions(vector):
    """Returns the names of the decisions on which a vector with its `final` depends."""
    load = decode(sm_named(vector["initial"]["sm"]), int(vector["instruction"], 16))
    machine = Machine(vector["initial"])
    urz, ur = load.sm.urz, load.get("ur")
    odd_pair = "ur" in load.fields and ur != urz and (ur % 2 or ur + 1 == urz)
    lane_faults = vector["final"]["lane_faults"]
    faults = set(register_faults(load, machine))
    names = {
        name
        for name, depends in {
            "base-beyond-limit": load.has_base and base_of(load, machine) is None,
            "uniform-pair": uniform_pair(load) is not None and odd_pair,
            "descriptor-register": load.form == "descriptor" and (odd_pair or ur == urz),
            "u128-not-broadcast": load.kind in ("ld", "ldg") and load.get("size") == 7,
            "wide-register-order": load.kind in ("ldg256", "ldcu256") and len(faults) == 2,
            "uniform-destination": is_uniform(load) and faults,
            "uniform-faults": is_uniform(load) and lane_faults,
            "ldcu-256-order": load.kind == "ldcu256",
            "ldsm-blackwell": load.kind == "ldsm" and load.sm.among("B"),
            "ldsm-faults": load.kind == "ldsm" and lane_faults,
        }.items()
        if depends
    }
    assert names <= DECISIONS.keys()
    return names


def low_bits(value, width):
    return bits(value, width - 1, 0)
