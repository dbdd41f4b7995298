"""Where the fields of each load are.

A field is a list of (high, low) bit ranges, the least significant range first, and whether it is
signed. The layout of a word depends on the SM, the opcode and the bits that choose its address
form, so `layout` takes the word.
"""

# Opcode: (name, what the opcode is)
OPCODES = {
    0x980: ("LD", "ld"),
    0x381: ("LDG", "ldg"),
    0x981: ("LDG", "ldg"),
    0x97E: ("LDG", "ldg256"),
    0x983: ("LDL", "ldl"),
    0x984: ("LDS", "lds"),
    0xB82: ("LDC", "ldc"),
    0x582: ("LDC", "ldc_cx"),
    0xAB9: ("ULDC", "uldc"),
    0xABB: ("ULDC", "uldc_ur"),
    0x8B8: ("ULDC", "uldc_mem"),
    0x7AC: ("LDCU", "ldcu"),
    0xBAC: ("LDCU", "ldcu_cx"),
    0x9AC: ("LDCU", "ldcu_mem"),
    0xDAC: ("LDCU", "ldcu256"),
    0x5AC: ("LDCU", "ldcu256_cx"),
    0x3AC: ("LDCU", "ldcu256_mem"),
    0x83B: ("LDSM", "ldsm"),
    0xFAE: ("LDGSTS", "ldgsts_global"),
    0xDAE: ("LDGSTS", "ldgsts_shared"),
    0x9EE: ("LDTM", "ldtm"),
    0x5EE: ("LDTM", "ldtm_stat"),
}

SCHEDULING = {
    "stall": (108, 105),
    "yield": (109, 109),
    "write_barrier": (112, 110),
    "read_barrier": (115, 113),
    "wait": (121, 116),
    "batch": (124, 122),
    "pm": (103, 102),
}


def bits(word, high, low):
    """Returns bits high..=low of `word`."""
    return word >> low & ((1 << high - low + 1) - 1)


class Field:
    """A field of a word, of one range of bits or several."""

    def __init__(self, *ranges, signed=False):
        self.ranges = ranges
        self.signed = signed

    @property
    def width(self):
        return sum(high - low + 1 for high, low in self.ranges)

    def get(self, word):
        value = shift = 0
        for high, low in self.ranges:
            value |= bits(word, high, low) << shift
            shift += high - low + 1
        if self.signed and value >> shift - 1:
            value -= 1 << shift
        return value

    def put(self, word, value):
        """Returns `word` with this field set to `value`; raises ValueError if it does not fit."""
        width = self.width
        low_limit = -(1 << width - 1) if self.signed else 0
        if not low_limit <= value < 1 << (width - self.signed):
            raise ValueError(f"{value:#x} does not fit in {width} bits")
        value &= (1 << width) - 1
        for high, low in self.ranges:
            size = high - low + 1
            mask = (1 << size) - 1
            word = word & ~(mask << low) | (value & mask) << low
            value >>= size
        return word

    @property
    def mask(self):
        return self.put(0, (1 << self.width) - 1) if not self.signed else self.put(0, -1)


def one(high, low=None):
    return Field((high, high if low is None else low))


def signed(high, low):
    return Field((high, low), signed=True)


def uniform_register(sm, low):
    return one(low + sm.ur_bits - 1, low)


def layout(sm, opcode, word):
    """Returns the fields that `word` has beside its opcode and scheduling, by name."""
    kind = OPCODES[opcode][1]
    fields = {"guard": one(14, 12), "guard_not": one(15), "rd": one(23, 16)}
    LAYOUTS[kind](sm, word, fields)
    return fields


def _global(kind):
    def add(sm, word, fields):
        fields |= {"ra": one(31, 24), "e": one(72), "size": one(75, 73), "evict": one(86, 84)}
        if sm.among("VT"):
            fields |= {"order": one(80, 79), "scope": one(78, 77), "private": one(76)}
            fields |= {"pd": one(83, 81), "zd": one(87)}
        else:
            fields["order"] = one(80, 77)
            if kind == "ldg":
                fields["pd"] = one(83, 81)
        if not sm.among("V"):
            fields |= {"prefetch": one(69, 68), "pin": one(66, 64), "pin_not": one(67)}
        immediate = sm.among("V") or not bits(word, 91, 91)
        fields["offset"] = one(63, 32) if kind == "ld" and immediate else one(63, 40)
        if not sm.among("V"):
            fields["uniform"] = one(91)
        if not immediate:
            fields |= {"wide": one(90), "ur": uniform_register(sm, 32)}
            if sm.among("AHB"):
                fields["descriptor"] = one(76)
            if sm.among("A") and bits(word, 90, 90) and bits(word, 76, 76):
                fields["shown"] = one(101)

    return add


def _ldg256(sm, word, fields):
    fields |= {"ra": one(31, 24), "r1st": one(71, 64), "wide": one(75), "descriptor": one(76)}
    fields |= {"uniform": one(91), "prefetch": one(74, 73), "policy": one(82, 81)}
    fields |= {"order": one(80, 77), "evict": one(86, 84), "pin": one(89, 87), "pin_not": one(90)}
    fields["ur"] = uniform_register(sm, 32)
    if sm.among("B"):
        fields["offset"] = signed(56, 40)
        fields["mask"] = Field((63, 57), (72, 72))
    else:
        fields["offset"] = signed(58, 40)
        fields["mask"] = Field((39, 38), (63, 59), (72, 72))
        if bits(word, 76, 76):
            fields["shown"] = one(101)


def _ldl(sm, word, fields):
    fields |= {"ra": one(31, 24), "size": one(75, 73), "evict": one(86, 84), "offset": one(63, 40)}
    if not sm.among("V"):
        fields["uniform"] = one(91)
        if bits(word, 91, 91):
            fields["ur"] = uniform_register(sm, 32)
            if sm.among("AHB"):
                fields["descriptor"] = one(76)
            if sm.among("A") and bits(word, 76, 76):
                fields["shown"] = one(101)


def _shared_address(sm, word, fields):
    fields |= {"ra": one(31, 24), "offset": one(63, 40)}
    if not sm.among("V"):
        fields["uniform"] = one(91)
        if bits(word, 91, 91):
            fields["ur"] = uniform_register(sm, 32)


def _lds(sm, word, fields):
    _shared_address(sm, word, fields)
    fields["size"] = one(75, 73)
    if sm.among("VT"):
        fields |= {"u": one(76), "pd": one(83, 81), "zd": one(87)}
    if not sm.among("V"):
        fields["scale"] = one(79, 78)


def _ldsm(sm, word, fields):
    _shared_address(sm, word, fields)
    fields |= {"size": one(77, 75), "count": one(73, 72)}
    fields["shape"] = one(80, 78) if sm.among("B") else one(79, 78)


def _ldc(sm, word, fields):
    fields |= {"ra": one(31, 24), "bank": one(58, 54), "offset": signed(53, 38)}
    fields |= {"size": one(75, 73), "mode": one(79, 78)}
    if not sm.among("V"):
        fields["uniform"] = one(91)


def _ldc_cx(sm, word, fields):
    fields |= {"ur": uniform_register(sm, 24), "ra": one(71, 64), "offset": one(53, 38)}
    fields |= {"size": one(75, 73), "uniform": one(91)}
    if not sm.among("T"):
        fields["mode"] = one(79, 78)


def _uldc(sm, word, fields):
    fields |= {"rd": one(21, 16), "size": one(75, 73), "uniform": one(91), "offset": one(53, 38)}
    if bits(word, 91, 91):
        fields["ur"] = uniform_register(sm, 24)
    else:
        fields["bank"] = one(58, 54)


def _uldc_ur(sm, word, fields):
    fields |= {"rd": one(21, 16), "size": one(75, 73), "uniform": one(91)}
    fields |= {"offset": signed(53, 38), "bank": one(58, 54), "ur": uniform_register(sm, 24)}


def _uldc_mem(sm, word, fields):
    fields |= {"rd": one(21, 16), "size": one(75, 73), "uniform": one(91), "offset": one(69, 38)}
    fields["ur"] = uniform_register(sm, 24)
    if fields["ur"].get(word) != sm.urz:
        fields |= {"upin": one(89, 87), "upin_not": one(90)}


def _ldcu(address, wide):
    def add(sm, word, fields):
        fields |= {"uniform": one(91), "ur": one(31, 24)}
        if wide:
            fields |= {"r1st": one(79, 72), "mask": Field((35, 32), (83, 80))}
        else:
            fields["size"] = one(75, 73)
            fields["unpack"] = one(81, 80) if sm.has_ldcu_256 else one(80)
        if address == "mem":
            fields |= {"offset": signed(69, 38), "upin": one(89, 87), "upin_not": one(90)}
        else:
            fields["offset"] = signed(53, 37)
            fields |= {"bank": one(58, 54)} if address == "bank" else {"rb": one(71, 64)}

    return add


def _ldgsts(opcode_kind):
    def add(sm, word, fields):
        fields |= {"ra": one(31, 24), "offset": signed(63, 44), "global_offset": signed(43, 32)}
        fields |= {"no_bypass": one(81), "zfill": one(82), "evict": one(86, 84), "order": one(80, 77)}
        fields |= {"pin": one(89, 87), "pin_not": one(90), "uniform": one(91)}
        fields |= {"ur": uniform_register(sm, 64), "descriptor": one(76)}
        if sm.among("B"):
            fields |= {"wide": one(83), "prefetch": one(73, 72), "size": one(75, 74)}
        else:
            fields |= {"wide": one(70), "prefetch": one(72, 71), "size": one(75, 73)}
        if sm.among("A") and bits(word, 76, 76):
            fields["shown"] = one(101)

    return add


def _ldtm(stat):
    def add(sm, word, fields):
        fields |= {"uniform": one(91), "ur": one(39, 32)}
        fields["offset"] = Field((63, 40), (79, 72), signed=True)
        fields |= {"shape": Field((82, 81), (87, 87)), "count": one(85, 83)}
        if stat:
            fields |= {"ra": one(31, 24), "op": one(67, 66), "type": one(65, 64), "nan": one(68)}
        else:
            fields["pack"] = one(80)

    return add


LAYOUTS = {
    "ld": _global("ld"),
    "ldg": _global("ldg"),
    "ldg256": _ldg256,
    "ldl": _ldl,
    "lds": _lds,
    "ldc": _ldc,
    "ldc_cx": _ldc_cx,
    "uldc": _uldc,
    "uldc_ur": _uldc_ur,
    "uldc_mem": _uldc_mem,
    "ldcu": _ldcu("bank", False),
    "ldcu_cx": _ldcu("cx", False),
    "ldcu_mem": _ldcu("mem", False),
    "ldcu256": _ldcu("bank", True),
    "ldcu256_cx": _ldcu("cx", True),
    "ldcu256_mem": _ldcu("mem", True),
    "ldsm": _ldsm,
    "ldgsts_global": _ldgsts("global"),
    "ldgsts_shared": _ldgsts("shared"),
    "ldtm": _ldtm(False),
    "ldtm_stat": _ldtm(True),
}
