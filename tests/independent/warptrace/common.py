"""What every reader yields, and small helpers."""

import functools
import re

M64 = (1 << 64) - 1
LANES = range(32)


class BadInput(Exception):
    """The input is invalid; the message begins with its place."""


class Kernel:
    def __init__(self, name, shared_base=None, local_base=None):
        self.name = name
        self.shared_base = shared_base  # None: not in the trace
        self.local_base = local_base


class Transfer:
    """What the tracer wrote about a TMA instruction."""

    def __init__(self, addresses, size):
        self.addresses = addresses
        self.size = size


class Record:
    """One instruction of the trace.

    addresses: lane -> effective address, None if they cannot be attributed to lanes.
    lanes: the executing lanes.  width: bytes of an access as the source states them, or None.
    has_values: the source's record brings register values, whatever they say.
    values: lane -> register words that the load returned, None if unknown.
    low_bytes_only: of a value, only as many bytes count as the load asked for.
    plg: mask of the lanes whose Plg is true, None if the source does not have it.
    index: place in the whole trace if the source states it, else None.
    """

    def __init__(self, kernel, pc, opcode, has_memory_operand, lanes=(), addresses=None, width=None):
        self.kernel = kernel
        self.pc = pc
        self.opcode = opcode
        self.has_memory_operand = has_memory_operand
        self.lanes = lanes
        self.addresses = addresses
        self.width = width
        self.transfer = None
        self.has_values = False
        self.values = None
        self.low_bytes_only = False
        self.plg = None
        self.index = None


class Skipped:
    """Instructions that the source only counts."""

    def __init__(self, kernel, kind, count):
        self.kernel = kernel
        self.kind = kind
        self.count = count


@functools.lru_cache(maxsize=1 << 18)
def splitmix64(k):
    z = (k + 0x9E3779B97F4A7C15) & M64
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & M64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & M64
    return z ^ (z >> 31)


def lanes_of_mask(mask):
    return [lane for lane in LANES if mask >> lane & 1]


def hexadecimal(text, what, bits=64):
    """Returns a number written with or without 0x."""
    if not re.fullmatch(r"(0[xX])?[0-9a-fA-F]+", text):
        raise BadInput(f"{what} is not a hexadecimal number: {text!r}")
    value = int(text, 16)
    if value >> bits:
        raise BadInput(f"{what} does not fit {bits} bits: {text!r}")
    return value


def decimal(text, what, low=None, high=None):
    if not re.fullmatch(r"-?[0-9]+", text):
        raise BadInput(f"{what} is not a decimal number: {text!r}")
    value = int(text)
    if (low is not None and value < low) or (high is not None and value > high):
        raise BadInput(f"{what} is out of range: {text!r}")
    return value


def triple(text, what):
    parts = text.strip().removeprefix("(").removesuffix(")").split(",")
    if len(parts) != 3:
        raise BadInput(f"{what} is not three numbers: {text!r}")
    return tuple(decimal(part.strip(), what, 0, 0xFFFFFFFF) for part in parts)


def utf8(data, place):
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{place}: byte {error.start}: not UTF-8") from None


def terminated_lines(name, text):
    """Yields (line number, line); refuses a last line without its newline."""
    lines = text.split("\n")
    last = lines.pop()
    for number, line in enumerate(lines, 1):
        yield number, line
    if last:
        raise BadInput(f"{name}:{len(lines) + 1}: the last line is cut off; expected a newline")
