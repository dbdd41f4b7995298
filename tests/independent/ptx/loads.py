"""The statements of a function: loads with their qualifiers and operands, and what others write."""

from dataclasses import dataclass, field

from .tokens import Reader, constant

L1_PRIORITIES = ("evict_normal", "evict_unchanged", "evict_first", "evict_last", "no_allocate")
KINDS = {
    "order": (".weak", ".volatile", ".relaxed", ".acquire"),
    "scope": (".cta", ".cluster", ".gpu", ".sys"),
    "mmio": (".mmio",),
    "space": (".global", ".shared", ".local", ".const", ".param"),
    "nc": (".nc",),
    "cop": (".ca", ".cg", ".cs", ".lu", ".cv"),
    "l1": tuple(f".L1::{word}" for word in L1_PRIORITIES),
    "l2": (".L2::evict_normal", ".L2::evict_first", ".L2::evict_last"),
    "hint": (".L2::cache_hint",),
    "prefetch": (".L2::64B", ".L2::128B", ".L2::256B"),
    "vector": (".v2", ".v4", ".v8"),
    "type": (".b8 .b16 .b32 .b64 .b128 .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64 .f32 .f64").split(),
}
SUB_QUALIFIERS = {".shared": ("", "cta", "cluster"), ".param": ("", "entry", "func")}


class Illegal(Exception):
    """A load that breaks a rule; its text is the rule's name."""


@dataclass
class Place:
    """What is between the brackets: a base with an index or an offset, or a number alone."""

    name: str | None
    offset: int = 0
    index: object = None  # a number or a register's name


@dataclass
class Load:
    line: int
    guard: str | None
    is_negated: bool
    qualifiers: dict = field(default_factory=dict)
    window: str = ""
    destinations: list = field(default_factory=list)  # `None` for a sink
    is_list: bool = False
    place: Place | None = None
    is_unified: bool = False
    policy: object = None  # a token

    def get(self, kind):
        return self.qualifiers.get(kind)

    @property
    def count(self):
        """Returns how many elements are loaded."""
        return int(self.get("vector")[2:]) if self.get("vector") else 1

    @property
    def type(self):
        """Returns the type's kind and its bits."""
        return self.get("type")[1], int(self.get("type")[2:])

    @property
    def bytes(self):
        return self.type[1] // 8 * self.count


def guard_of(reader):
    """Reads a guard; returns its name, or `None`, and whether it is negated."""
    if not reader.take("@"):
        return None, False
    is_negated = reader.take("!")
    return reader.next().text, is_negated


def is_load(statement):
    """Returns whether a statement is an `ld` or a `tcgen05.ld`."""
    reader = Reader(statement)
    guard_of(reader)
    return reader.take("ld") or (reader.take("tcgen05") and reader.peek == ".ld")


def is_tensor(statement):
    return is_load(statement) and any(token.text == "tcgen05" for token in statement)


def load_of(statement):
    """Returns the `Load` of a statement; raises `Illegal` if it is malformed."""
    reader = Reader(statement)
    load = Load(statement[0].line, *guard_of(reader))
    reader.expect("ld")
    while reader.kind == "directive":
        add_qualifier(load, reader.next().text)
    read_operands(load, reader)
    return load


def add_qualifier(load, word):
    name, _, window = word.partition("::")
    kind = kind_of(word if word[:3] in (".L1", ".L2") else name)
    if kind is None or (kind == "space" and window not in SUB_QUALIFIERS.get(name, ("",))):
        raise Illegal("unknown-qualifier")
    if kind not in ("space", "l1", "l2", "hint", "prefetch") and window:
        raise Illegal("unknown-qualifier")
    if kind in load.qualifiers:
        raise Illegal("one-type" if kind == "type" else "duplicate-qualifier")
    load.qualifiers[kind] = name if kind == "space" else word
    load.window = window if kind == "space" else load.window


def kind_of(word):
    return next((kind for kind, words in KINDS.items() if word in words), None)


def read_operands(load, reader):
    load.destinations, load.is_list = destinations(reader)
    read_comma(reader)
    load.place = place(reader)
    load.is_unified = reader.take(".unified")
    if reader.take(","):
        load.policy = reader.next()
    if not reader.is_done:
        raise Illegal("operands")


def read_comma(reader):
    if not reader.take(","):
        raise Illegal("operands")


def destinations(reader):
    """Returns the names of the registers, and whether they are in braces."""
    if not reader.take("{"):
        return [operand(reader)], False
    found = [operand(reader)]
    while reader.take(","):
        found.append(operand(reader))
    if not reader.take("}"):
        raise Illegal("syntax")
    return found, True


def operand(reader):
    """Returns a register's name with its element, or `None` for `_`."""
    if reader.kind != "name":
        raise Illegal("destination-register" if reader.kind == "integer" else "syntax")
    name = reader.next().text
    if reader.kind == "directive":
        name += reader.next().text
    return None if name == "_" else name


def place(reader):
    """Reads `[…]`, or `var[…]` without the outer brackets."""
    if reader.kind == "name":
        name = reader.next().text
        if not reader.take("["):
            raise Illegal("syntax")
        return Place(name, index=index(reader))
    if not reader.take("["):
        raise Illegal("operands")
    found = inner_place(reader)
    if not reader.take("]"):
        raise Illegal("syntax")
    return found


def inner_place(reader):
    if reader.kind != "name":
        return Place(None, offset(reader))
    found = Place(reader.next().text)
    if reader.take("+"):
        found.offset = offset(reader)
    return found


def offset(reader):
    if any(token.kind == "real" for token in reader.tokens):
        raise Illegal("offset-integer")
    if reader.kind == "name" or reader.peek == "]":
        raise Illegal("syntax")
    return constant(reader)


def index(reader):
    if reader.kind == "name":
        found = reader.next().text
    else:
        found = offset(reader)
    if not reader.take("]"):
        raise Illegal("syntax")
    return found


def written_by_other(statement, function):
    """Returns the guard of an instruction that is not a load, and the registers it may write.

    Those are all of the first operand, outside brackets.
    """
    reader = Reader(statement)
    guard = guard_of(reader)
    reader.next()
    while reader.kind == "directive":
        reader.next()
    names, depth, brackets = [], 0, 0
    while not reader.is_done and not (reader.peek == "," and not depth):
        token = reader.next()
        depth += (token.text in "({[") - (token.text in ")}]")
        brackets += (token.text == "[") - (token.text == "]")
        if token.kind == "name" and not brackets and function.register(token.text):
            names.append(token.text)
    return guard, names
