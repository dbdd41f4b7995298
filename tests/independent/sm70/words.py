"""Words of 128 bits decoded into fields, and encoded from them."""

from dataclasses import dataclass

from warp import Refused

from .layout import OPCODES, SCHEDULING, bits, layout


class IllegalWord(Refused):
    """A word with a load's opcode that the disassembler refuses."""


@dataclass
class Load:
    """A load: its SM, the word, and the values of its fields by name."""

    sm: object
    word: int
    opcode: int
    fields: dict

    @property
    def name(self):
        return OPCODES[self.opcode][0]

    @property
    def kind(self):
        return OPCODES[self.opcode][1]

    def get(self, field, default=0):
        return self.fields.get(field, default)

    @property
    def form(self):
        """How the address is formed: `immediate`, `u32`, `u64`, `uniform` or `descriptor`."""
        if self.kind in ("ld", "ldg", "ldg256"):
            if not self.get("uniform"):
                return "immediate"
            if self.get("descriptor"):
                return "descriptor"
            return "u64" if self.get("wide") else "u32"
        if self.get("uniform"):
            return "descriptor" if self.get("descriptor") else "uniform"
        return "immediate"

    @property
    def has_base(self):
        return self.get("ra", 255) != 255

    @property
    def offset(self):
        """The offset in bytes, signed where the address form makes it so."""
        value = self.get("offset")
        if self.kind == "ldg256":
            return value * 32
        width = offset_width(self)
        if width and offset_is_signed(self) and value >> width - 1:
            value -= 1 << width
        return value


def offset_width(load):
    """Returns the width of an offset that is signed in some forms only; 0 if it is always so."""
    if load.kind == "ld" and load.form == "immediate":
        return 32
    if load.kind in ("ld", "ldg", "ldl", "lds", "ldsm"):
        return 24
    if load.kind in ("ldc_cx", "uldc"):
        return 16
    if load.kind == "uldc_mem":
        return 32
    return 0


def offset_is_signed(load):
    if load.kind == "ldsm":
        return load.has_base or not load.sm.among("T")
    if load.kind == "uldc":
        return load.form == "immediate"
    if load.kind == "uldc_mem":
        return load.get("ur") != load.sm.urz
    if load.kind == "ldc_cx":
        return load.has_base
    return load.has_base or load.form != "immediate"


EVERYWHERE, UNIFORM, BLACKWELL = "VTAHB", "TAHB", "B"

GROUPS_OF = {
    "ld": EVERYWHERE, "ldl": EVERYWHERE, "lds": EVERYWHERE, "ldc": EVERYWHERE,
    "ldc_cx": UNIFORM, "ldsm": UNIFORM,
    "uldc": "TAH", "uldc_ur": "TAH", "uldc_mem": "TAH",
    "ldcu": BLACKWELL, "ldcu_cx": BLACKWELL, "ldcu_mem": BLACKWELL,
    "ldgsts_global": "AHB", "ldgsts_shared": "AHB",
}  # fmt: skip


def exists(sm, opcode):
    """Returns whether `sm` has this opcode."""
    kind = OPCODES[opcode][1]
    if opcode == 0x381:
        return True
    if opcode == 0x981:
        return sm.among(UNIFORM)
    if kind == "ldg256":
        return sm.number == 89 or sm.among("B")
    if kind.startswith("ldcu256"):
        return sm.has_ldcu_256
    if kind == "ldtm":
        return sm.among("B") and not sm.is_12
    if kind == "ldtm_stat":
        return sm.number in (101, 103, 107, 110)
    return sm.among(GROUPS_OF[kind])


# What bit 91 must be, where the SM has uniform registers.
BIT_91 = {0x381: 0, 0xB82: 0} | dict.fromkeys(
    (0x981, 0x97E, 0x582, 0xABB, 0x8B8, 0x7AC, 0xBAC, 0x9AC, 0xDAC, 0x5AC, 0x3AC)
    + (0xFAE, 0xDAE, 0x9EE, 0x5EE),
    1,
)


def needs_no_read_barrier(sm, opcode):
    """Returns whether the read barrier must be 7."""
    if opcode == 0xBAC:
        return not sm.has_ldcu_256
    return opcode in (0x7AC, 0x9AC, 0xDAC, 0x3AC, 0x9EE, 0x5EE)


def refusal(sm, opcode, word):
    """Returns why the disassembler refuses the word, or `None`."""
    kind = OPCODES[opcode][1]
    if not exists(sm, opcode):
        return f"SM {sm.number} has no opcode {opcode:#x}"
    if not sm.among("V") and BIT_91.get(opcode, bits(word, 91, 91)) != bits(word, 91, 91):
        return f"bit 91 must be {BIT_91[opcode]}"
    scheduling = {name: bits(word, *place) for name, place in SCHEDULING.items()}
    value = scheduling["yield"] << 4 | scheduling["stall"]
    batch = scheduling["batch"]
    if value == 16 or value >= 28:
        return f"scheduling value {value}"
    if batch >= 6:
        return f"batch hint {batch}"
    if value == 0 and batch:
        return "scheduling value 0 with a batch hint"
    if kind.startswith("uldc") and (batch == 3 or batch and value > 15):
        return f"batch hint {batch} with scheduling value {value}"
    if needs_no_read_barrier(sm, opcode) and scheduling["read_barrier"] != 7:
        return "a read barrier"
    size = bits(word, 75, 73)
    if kind == "lds" and sm.among("VT") and size == 7:
        return "size 7"
    if kind in ("ld", "ldg") and sm.among("AHB"):
        if bits(word, 91, 90) == 2 and bits(word, 76, 76):
            return "a descriptor with a 32-bit register"
    if kind == "ldg256" and bits(word, 76, 76):
        if not bits(word, 75, 75) or bits(word, 31, 24) == 255:
            return "a descriptor without a 64-bit register"
    if kind.startswith("ldgsts"):
        wide = bits(word, 83, 83) if sm.among("B") else bits(word, 70, 70)
        if not wide and (kind == "ldgsts_shared" or bits(word, 76, 76)):
            return "a 32-bit register where 64 bits are needed"
    return None


def decode(sm, word):
    """Returns the load of a word, or `None` if it is another instruction; raises `IllegalWord`."""
    opcode = bits(word, 11, 0)
    if opcode not in OPCODES:
        return None
    reason = refusal(sm, opcode, word)
    if reason:
        raise IllegalWord(reason)
    fields = {name: field.get(word) for name, field in layout(sm, opcode, word).items()}
    return Load(sm, word, opcode, fields)


# What bits not named are, 0 apart.
DEFAULT_SCHEDULING = 0x000FE2 << 104


def defaults(sm, opcode):
    """Returns the values of fields that are not 0 unless named."""
    kind = OPCODES[opcode][1]
    values = {"guard": 7, "ra": 255}
    if kind in ("ld", "ldg", "ldg256", "ldl") or kind.startswith("ldgsts"):
        values["evict"] = 1
    if kind in ("ld", "ldg") and sm.among("VT"):
        values |= {"order": 1, "scope": 3}
    if kind == "ldg":
        values["pd"] = 7
    if kind == "ldg256":
        values |= {"mask": 0xFF, "wide": 1, "policy": 1}
    if kind.startswith("ldcu256"):
        values["mask"] = 0xFF
    if kind.startswith("ldgsts"):
        values["pin"] = 7
    if kind.startswith(("ldcu", "ldtm", "uldc_", "ldgsts")):
        values["ur"] = sm.urz
    if kind.endswith("_cx"):
        values["rb"] = 255
    return values


def encode(sm, opcode, scheduling=DEFAULT_SCHEDULING, **values):
    """Returns the word with these values of fields, the others being their defaults."""
    word = opcode | scheduling
    if not sm.among("V") and opcode in BIT_91:
        values.setdefault("uniform", BIT_91[opcode])
    # The fields that choose the form come first, for the layout depends on them.
    for name, bit in (("uniform", 91), ("descriptor", 76)):
        word |= values.get(name, 0) << bit
    if values.get("wide") and OPCODES[opcode][1] in ("ld", "ldg"):
        word |= 1 << 90
    fields = layout(sm, opcode, word)
    if unknown := values.keys() - fields.keys():
        raise ValueError(f"{OPCODES[opcode][0]} has no {', '.join(sorted(unknown))}")
    for name, value in (defaults(sm, opcode) | values).items():
        if name in fields:
            if value < 0 and not fields[name].signed:  # an offset that its form makes signed
                value += 1 << fields[name].width
            word = fields[name].put(word, value)
    if reason := refusal(sm, opcode, word):
        raise Refused(reason)
    return word


def read_mask(sm, word):
    """Returns the bits of a load's word that mean something."""
    mask = 0xFFF
    for place in SCHEDULING.values():
        mask |= ((1 << place[0] - place[1] + 1) - 1) << place[1]
    for field in layout(sm, bits(word, 11, 0), word).values():
        mask |= field.mask
    return mask
