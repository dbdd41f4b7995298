"""Compares decoded texts with those that nvdisasm 12.8 prints."""

import collections
import lzma
import re

from warp import Refused

from .layout import OPCODES, SCHEDULING, bits
from .sms import sm_named
from .text import text
from .words import decode, encode, read_mask

# The scheduling that nvdisasm 12.8 appends.
TAIL = re.compile(r"( (&\w+=\S+|\?\S+))+$")
LOADS = {name for name, _ in OPCODES.values()}


def is_load_text(line):
    """Returns whether a text of nvdisasm is one of a load of the model."""
    mnemonic = re.sub(r"^@\S+ ", "", line).split(" ")[0]
    return mnemonic.split(".")[0] in LOADS


def answer(sm, word):
    """Returns what the model says: a text, `illegal: reason` or `-` for other instructions."""
    try:
        load = decode(sm, word)
    except Refused as refused:
        return f"illegal: {refused}"
    if load is None:
        return "-"
    line = text(load)
    return "no line" if line is None else line


def encodes_again(sm, word):
    """Returns whether the fields of a load, encoded, give all bits that mean something."""
    load = decode(sm, word)
    scheduling = sum(bits(word, *place) << place[1] for place in SCHEDULING.values())
    return encode(sm, load.opcode, scheduling, **load.fields) == word & read_mask(sm, word)


def compare(path):
    """Returns counts of what agrees, and the rows that do not, as text.

    A refused word whose opcode is not that of a load is not the model's: it answers `-`.
    """
    counts, differences = collections.Counter(), []
    with lzma.open(path, "rt") as rows:
        for row in rows:
            name, digits, expected = row.rstrip("\n").split("\t")
            word = int(digits, 16)
            got = answer(sm_named(name), word)
            expected = TAIL.sub("", expected)
            if expected == "illegal":
                kind, same = "refused", got.startswith("illegal: ")
                if got == "-" and bits(word, 11, 0) not in OPCODES:
                    kind, same = "refused, not a load's opcode", True
            elif is_load_text(expected):
                kind, same = "texts", got == expected and encodes_again(sm_named(name), word)
            else:
                kind, same = "not loads", got == "-"
            if same:
                counts[kind] += 1
            else:
                differences.append(f"{name} {digits}: expected {expected!r}, got {got!r}")
    return counts, differences
