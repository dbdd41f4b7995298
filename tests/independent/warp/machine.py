"""The state of one warp and its memories, read from a vector's `initial`."""

import re

LANES = range(32)
DEFAULT_WINDOWS = {"shared": (0xFE000000, 0x1000000), "local": (0xFF000000, 0x1000000)}
DEFAULT_ADDRESS_BITS = 49  # from SM 7.0 on
BANK_LIMIT = 0x10000


class Invalid(Exception):
    """A machine configuration that is invalid."""


def number(value):
    return value if isinstance(value, int) else int(value, 0)


class Machine:
    """Registers, predicates, memories and settings before an instruction."""

    def __init__(self, initial, address_bits=DEFAULT_ADDRESS_BITS):
        self.register_limit = initial.get("register_limit", 255)
        self.address_bits = initial.get("address_bits", address_bits)
        self.report_misaligned = initial.get("misaligned", "force") == "report"
        self.windows = dict(DEFAULT_WINDOWS)
        for name, window in initial.get("windows", {}).items():
            self.windows[name] = (number(window["base"]), number(window["size"]))
        self.active = number(initial.get("active", "0xffffffff"))
        self.registers = {
            int(name[1:]): [number(value) for value in values]
            for name, values in initial.get("registers", {}).items()
        }
        self.predicates = _by_number(initial.get("predicates", {}), "P")
        self.uniform_registers = _by_number(initial.get("uniform_registers", {}), "UR")
        flags = initial.get("uniform_predicates", {})
        self.uniform_predicates = {int(name[2:]): value for name, value in flags.items()}
        memory = initial.get("memory", {})
        self.globals = [
            (number(block["base"]), bytes.fromhex(block["hex"])) for block in memory.get("global", [])
        ]
        self.shared = bytes.fromhex(memory.get("shared", {}).get("hex", ""))
        local = memory.get("local", {})
        self.local = _per_lane(local)
        self.local_high = _per_lane(local.get("high", {}))
        self.constant = {bank["bank"]: bytes.fromhex(bank["hex"]) for bank in memory.get("constant", [])}
        self.check()

    def check(self):
        """Raises `Invalid` if the configuration breaks a rule."""
        limit = 1 << self.address_bits
        windows = list(self.windows.values())
        for base, size in windows:
            if base % 16 or size % 16 or not size or base + size > limit:
                raise Invalid("window")
        blocks = windows + [(base, len(data)) for base, data in self.globals]
        blocks = sorted(block for block in blocks if block[1])
        for (base, size), (following, _) in zip(blocks, blocks[1:]):
            if base + size > following:
                raise Invalid("overlap")
        if any(base + len(data) > limit for base, data in self.globals):
            raise Invalid("beyond the address bits")
        if len(self.shared) > self.windows["shared"][1]:
            raise Invalid("shared memory")
        if len(self.local[0]) + len(self.local_high[0]) > self.windows["local"][1]:
            raise Invalid("local memory")
        if any(len(data) > BANK_LIMIT for data in self.constant.values()):
            raise Invalid("constant bank")
        if not 1 <= self.register_limit <= 255 or not 32 <= self.address_bits <= 64:
            raise Invalid("limits")

    def register(self, number, lane):
        """Returns a register's value; RZ is 0."""
        return self.registers[number][lane] if number != 255 and number in self.registers else 0

    def guard_mask(self, guard, negated):
        """Returns the lanes whose guard is true."""
        mask = 0xFFFFFFFF if guard == 7 else self.predicates.get(guard, 0)
        return ~mask & 0xFFFFFFFF if negated else mask

    def uniform_guard(self, guard, negated):
        value = guard == 7 or self.uniform_predicates.get(guard, False)
        return value != bool(negated)

    def read(self, space, offset, size, lane):
        """Returns the bytes of an access, or `None` if they are not all allocated."""
        if space == "global":
            if offset >= 1 << self.address_bits:
                return None
            blocks = self.globals
        elif space == "shared":
            blocks = [(0, self.shared)]
        elif space == "local":
            blocks = self.local_blocks(lane)
        else:  # a bank of constant memory
            blocks = [(0, self.constant.get(space, b""))]
        for base, data in blocks:
            if base <= offset and offset + size <= base + len(data):
                return data[offset - base : offset - base + size]
        return None

    def local_blocks(self, lane):
        """Returns the low and the high part of a lane's memory; they are one if they touch."""
        low, high = self.local[lane], self.local_high[lane]
        start = self.windows["local"][1] - len(high)
        return [(0, low + high)] if len(low) == start else [(0, low), (start, high)]

    def resolve_generic(self, address):
        """Returns the space and the offset of a generic address; `None` outside all windows."""
        for name, (base, size) in self.windows.items():
            if base <= address < base + size:
                return name, address - base
        return None if address >= 1 << self.address_bits else ("global", address)


def _by_number(values, prefix):
    pattern = re.compile(prefix + r"(\d+)")
    return {int(pattern.fullmatch(name).group(1)): number(value) for name, value in values.items()}


def _per_lane(local):
    size = local.get("bytes_per_lane", 0)
    data = bytes.fromhex(local.get("hex", ""))
    if len(data) != 32 * size:
        raise Invalid("local memory of a wrong size")
    return [data[lane * size : (lane + 1) * size] for lane in LANES]
