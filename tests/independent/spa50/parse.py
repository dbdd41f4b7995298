"""The text of a load, read into its fields."""

import re

from warp import Refused

from .words import COMMON, LAYOUTS, PT, RZ, Load

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
SCHEDULING = re.compile(r"&(req\s*=\s*\{[\d,\s]*\}|(rd|wr)\s*=?\s*(0x)?\d+)|\?\w+", re.IGNORECASE)
TOKEN = re.compile(r"\s*(0x[0-9a-f]+|\d+|[a-z]\w*|[@!.,;+\-\[\]])", re.IGNORECASE)
SIZES = {"U8": 0, "S8": 1, "U16": 2, "S16": 3, "32": 4, "64": 5, "128": 6}
GLOBAL_COPS = {"CA": 0, "CS": 0, "CG": 1, "LU": 1, "CI": 2, "CV": 3}
COPS = {"LD": GLOBAL_COPS, "LDG": GLOBAL_COPS, "LDL": {"CA": 0, "CS": 0, "LU": 1, "CI": 2, "CV": 3}}
MODES = {"IL": 1, "IS": 2, "ISL": 3}


class Tokens:
    """The tokens of a text, taken from the front."""

    def __init__(self, source):
        source = SCHEDULING.sub(" ", COMMENT.sub(" ", source)).strip().upper()
        self.left = []
        position = 0
        while position < len(source):
            match = TOKEN.match(source, position)
            if not match:
                raise Refused(f"unexpected {source[position]!r}")
            self.left.append(match.group(1))
            position = match.end()

    def take(self, *expected):
        """Takes the next token if it is one of `expected`; returns it, or `None`."""
        if self.left and self.left[0] in expected:
            return self.left.pop(0)
        return None

    def need(self, token):
        if not self.take(token):
            raise Refused(f"expected {token!r} at {' '.join(self.left) or 'the end'!r}")

    def next(self, pattern, what):
        """Takes the next token, which must match."""
        if not self.left or not re.fullmatch(pattern, self.left[0]):
            raise Refused(f"expected {what} at {' '.join(self.left) or 'the end'!r}")
        return self.left.pop(0)


def _number(tokens):
    return int(tokens.next(r"0X[0-9A-F]+|\d+", "a number"), 0)


def _register(tokens):
    name = tokens.next(r"RZ|R(0|[1-9]\d*)", "a register")
    if name == "RZ":
        return RZ
    if int(name[1:]) >= RZ:
        raise Refused(f"{name} is not a register")
    return int(name[1:])


def _predicate(tokens):
    name = tokens.next(r"PT|P[0-6]", "a predicate")
    return PT if name == "PT" else int(name[1:])


def _modifiers(tokens, name):
    """Takes the modifiers, in their order, each at most once."""
    written = []
    while tokens.take("."):
        written.append(tokens.next(r"\w+", "a modifier"))
    fields = {"size": 4}

    def take(field, values):
        if written and written[0] in values:
            fields[field] = values[written.pop(0)]

    if "e" in LAYOUTS[name]:
        take("e", {"E": 1})
    if "u" in LAYOUTS[name]:
        take("u", {"U": 1})
    if name in COPS:
        take("cop", COPS[name])
    if name in ("LD", "LDG") and written[:2] == ["U", "128"]:
        written[:2] = ["U.128"]
    take("size", SIZES | ({"U.128": 7} if name in ("LD", "LDG") else {}))
    if name == "LDC":
        take("mode", MODES)
        if fields["size"] == 6:
            raise Refused("LDC has no size 128")
    if written:
        raise Refused(f".{written[0]} is unknown, repeated or misplaced")
    return fields


def _address(tokens, name):
    """Takes the address in brackets; returns Ra and the immediate."""
    tokens.need("[")
    ra, offset, sign = RZ, 0, "+"
    if tokens.left and tokens.left[0].startswith("R"):
        ra = _register(tokens)
        sign = tokens.take("+", "-")
    if sign:
        is_negative = sign == "-" or tokens.take("-")
        offset = -_number(tokens) if is_negative else _number(tokens)
    tokens.need("]")
    width = LAYOUTS[name]["offset"][0] - LAYOUTS[name]["offset"][1] + 1
    lowest, highest = -(1 << width - 1), (1 << width - 1) - 1
    if ra == RZ and name != "LDC":
        lowest, highest = 0, (1 << min(width, 32)) - 1
    if not lowest <= offset <= highest:
        raise Refused(f"offset {offset:#x} is outside {lowest:#x}..={highest:#x}")
    return {"ra": ra, "offset": offset & (1 << width) - 1}


def parse(source):
    """Returns the load of a text; raises `Refused` if there is none."""
    tokens = Tokens(source)
    fields = {"guard": PT}
    if tokens.take("@"):
        fields["guard_not"] = int(bool(tokens.take("!")))
        fields["guard"] = _predicate(tokens)
    name = tokens.next("LD[GLSC]?", "a load")
    fields |= _modifiers(tokens, name)
    fields["rd"] = _register(tokens)
    tokens.need(",")
    if name == "LDC":
        tokens.need("C")
        tokens.need("[")
        fields["bank"] = _number(tokens)
        tokens.need("]")
        if fields["bank"] > 0x1F:
            raise Refused("banks end at 0x1f")
    fields |= _address(tokens, name)
    if name == "LD":
        fields["plg"] = _predicate(tokens) if tokens.take(",") else PT
    tokens.take(";")
    if tokens.left:
        raise Refused(f"unexpected {tokens.left[0]!r}")
    return Load(name, dict.fromkeys(COMMON | LAYOUTS[name], 0) | fields)
