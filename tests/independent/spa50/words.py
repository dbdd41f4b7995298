"""Words of 64 bits decoded into fields, and encoded from them."""

from dataclasses import dataclass

from warp import Refused

# Name: (bits 63 to 51 of the word, and where its fields are: high and low bit).
# The opcode of LD has 3 bits, the rest of the 13 are its fields.
COMMON = {"guard_not": (19, 19), "guard": (18, 16), "ra": (15, 8), "rd": (7, 0)}
SIZE_AND_OFFSET = {"size": (50, 48), "offset": (43, 20)}
OPCODES = {
    "LD": 0b100 << 61,
    "LDG": 0xEED0 << 48,
    "LDL": 0xEF40 << 48,
    "LDS": 0xEF48 << 48,
    "LDC": 0xEF90 << 48,
}
LAYOUTS = {
    "LD": {"plg": (60, 58), "cop": (57, 56), "size": (55, 53), "e": (52, 52), "offset": (51, 20)},
    "LDG": SIZE_AND_OFFSET | {"cop": (47, 46), "e": (45, 45)},
    "LDL": SIZE_AND_OFFSET | {"cop": (45, 44)},
    "LDS": SIZE_AND_OFFSET | {"u": (44, 44)},
    "LDC": {"size": (50, 48), "mode": (45, 44), "bank": (40, 36), "offset": (35, 20)},
}
RZ, PT = 255, 7


@dataclass
class Load:
    """A load: its name, and the values of its fields."""

    name: str
    fields: dict

    def get(self, field, default=0):
        return self.fields.get(field, default)

    @property
    def has_base(self):
        """Whether the word names a base register; to execute it, the register limit counts too."""
        return self.get("ra") != RZ

    @property
    def offset_width(self):
        high, low = LAYOUTS[self.name]["offset"]
        return high - low + 1

    @property
    def bytes(self):
        """The bytes of one lane's access; `None` if the number encodes no size."""
        if self.get("size") == 7 and not self.is_uniform:
            return None
        if self.get("size") == 6 and self.name == "LDC":
            return None
        return (1, 1, 2, 2, 4, 8, 16, 16)[self.get("size")]

    @property
    def is_signed(self):
        return self.get("size") in (1, 3)

    @property
    def is_uniform(self):
        """Whether the load is of `.U.128`, which may take the broadcast path."""
        return self.get("size") == 7 and self.name in ("LD", "LDG")


def signed(value, width):
    """Returns the number that `width` bits of two's complement are."""
    return value - (1 << width) if value >> (width - 1) else value


def offset_of(load, has_base):
    """Returns the immediate: signed with a base, unsigned without one; that of LDC always signed."""
    value = load.get("offset")
    return signed(value, load.offset_width) if has_base or load.name == "LDC" else value


def name_of(word):
    """Returns the name of the load that a word is, or `None`."""
    if word >> 61 == 0b100:
        return "LD"
    for name, opcode in OPCODES.items():
        if name != "LD" and word >> 51 == opcode >> 51:
            return name
    return None


def decode(word):
    """Returns the load of a word; raises `Refused` if it is another instruction."""
    name = name_of(word)
    if name is None or word >> 64:
        raise Refused(f"{word:#x} is no load of SPA 5.0")
    places = COMMON | LAYOUTS[name]
    fields = {field: word >> low & ((2 << (high - low)) - 1) for field, (high, low) in places.items()}
    return Load(name, fields)


def encode(load):
    """Returns the word of a load; bits that belong to no field are 0."""
    word = OPCODES[load.name]
    for field, (high, low) in (COMMON | LAYOUTS[load.name]).items():
        value = load.get(field)
        if value < 0:
            value += 2 << (high - low)
        if not 0 <= value < 2 << (high - low):
            raise Refused(f"{value:#x} does not fit in {field}")
        word |= value << low
    return word
