"""One instruction of Accel-Sim's tracer, versions 1.2 to 6.

PC mask ndst Rd* OPCODE nsrc Rs* [gmma] width [mode ...] | [TMA ...] [imm [imm2]] [NoVal | Val V*]
"""

import re

from .common import BadInput, M64, Record, Transfer, decimal, hexadecimal, lanes_of_mask
from .opcodes import opcode_of

REGISTER = {False: re.compile(r"R[0-9]+"), True: re.compile(r"(R|UR|P|UP)[0-9]+")}
ADDRESS = re.compile(r"0x[0-9a-fA-F]{1,16}|[0-9a-fA-F]{16}")


class Tokens:
    def __init__(self, items):
        self.items = items
        self.at = 0

    def next(self, what):
        if self.at == len(self.items):
            raise BadInput(f"the line ends; expected {what}")
        self.at += 1
        return self.items[self.at - 1]

    def peek(self):
        return self.items[self.at] if self.at < len(self.items) else None

    def rest(self):
        found = self.items[self.at :]
        self.at = len(self.items)
        return found

    def count(self, what, high=None):
        return decimal(self.next(what), what, 0, high)

    def address(self, what="address"):
        return address(self.next(what), what)


def address(token, what="address"):
    if not ADDRESS.fullmatch(token):
        raise BadInput(f"{token!r}; expected {what} with 0x or 16 digits")
    return int(token, 16)


def delta(token):
    return decimal(token, "delta", -(1 << 63), (1 << 63) - 1)


def fields_before_pc(items, at_least):
    """Returns how many fields are before the PC: the mask is the first of 8 digits after one of 4."""
    for i in range(at_least + 1, len(items)):
        if re.fullmatch(r"[0-9a-fA-F]{8}", items[i]) and re.fullmatch(r"[0-9a-fA-F]{4,8}", items[i - 1]):
            return i - 1
    raise BadInput("no PC of 4 digits with a mask of 8 digits after it")


def parse(items, kernel, version, threads):
    """Reads the fields from the PC on.  threads: those of the warp."""
    t = Tokens(items)
    pc = hexadecimal(t.next("PC"), "PC", 32)
    lanes = lanes_of_mask(hexadecimal(t.next("mask"), "mask", 32))
    registers = 0
    for what in ("destination", "source"):
        count = t.count(f"{what} count")
        for _ in range(count):
            register = t.next(f"{what} register")
            if not REGISTER[version >= 6].fullmatch(register):
                raise BadInput(f"{register!r} is not a register")
        registers += count
        if what == "destination":
            text = t.next("opcode")
            if not re.match(r"[A-Z]", text):
                raise BadInput(f"{text!r} is not an opcode")
    opcode = opcode_of(text)
    if version >= 6 and "GMMA" in text:
        t.count("gmma", 1)
    width = t.count("memory width")
    record = Record(kernel, pc, text, width != 0, lanes, {}, width)
    if version >= 6 and opcode.is_transfer:
        record.transfer = transfer(t)
        record.has_memory_operand = True
        record.addresses = None
    elif width != 0:
        record.addresses = (exact if version >= 4 else old)(t, lanes, version, threads)
    tail(t, version, record, registers)
    if t.peek() is not None:
        raise BadInput(f"{t.peek()!r} after the instruction")
    return record


def tail(t, version, record, registers):
    """Reads immediates and values: what follows the memory operand."""
    if version == 4:
        if t.peek() is not None:
            decimal(t.next("immediate"), "immediate")
    elif version == 5:
        decimal(t.next("immediate"), "immediate")
    elif version >= 6:
        decimal(t.next("immediate"), "immediate")
        if t.peek() not in ("Val", "NoVal", None):
            decimal(t.next("second immediate, Val or NoVal"), "second immediate")
        word = "NoVal" if t.peek() is None else t.next("Val or NoVal")
        if word not in ("Val", "NoVal"):
            raise BadInput(f"{word!r}; expected Val or NoVal")
        if word == "Val":
            for _ in range(registers):
                count = t.count("value count")
                if count not in (1, 32):
                    raise BadInput(f"{count} values of a register; expected 1 or 32")
                for _ in range(count):
                    hexadecimal(t.next("value"), "value")
            record.has_values = registers > 0


def transfer(t):
    """Reads the operand of a TMA instruction."""
    hexadecimal(t.next("mbarrier"), "mbarrier", 32)
    if t.count("multicast", 1):
        hexadecimal(t.next("CTA mask"), "CTA mask", 16)
    size = t.count("bytes", M64)
    t.count("bytes out of bounds", M64)
    mode = t.count("address mode")
    if mode == 3:
        count = t.count("number of addresses")
        for _ in range(count):
            t.address()
    elif mode == 4:
        t.address("base address")
        count = t.count("number of addresses")
        for _ in range(count - 1):
            delta(t.next("delta"))
    else:
        raise BadInput(f"address mode {mode}; a TMA instruction has 3 or 4")
    return Transfer(count, size)


def stride_of(t):
    return decimal(t.next("stride"), "stride", -(1 << 31), (1 << 31) - 1)


def is_run(lanes):
    return all(b == a + 1 for a, b in zip(lanes, lanes[1:]))


def exact(t, lanes, version, threads):
    """Addresses from version 4 on: over the lanes of the mask."""
    mode = t.count("address mode")
    if mode == 0:
        return {lane: t.address() for lane in lanes}
    if mode == 1:
        base, stride = t.address("base address"), stride_of(t)
        if not is_run(lanes):
            raise BadInput("a base and a stride over a mask with gaps")
        return {lane: (base + i * stride) & M64 for i, lane in enumerate(lanes)}
    if mode == 2:
        found, at = {}, t.address("base address")
        for i, lane in enumerate(lanes):
            at += delta(t.next("delta")) if i else 0
            found[lane] = at & M64
        return found
    raise BadInput(f"address mode {mode}; expected 0, 1 or 2")


def old(t, lanes, version, threads):
    """Addresses up to version 3: perhaps over more lanes than the mask has.

    Returns None if it is unknown whose they are."""
    mode = t.count("address mode")
    if mode == 1:
        base, stride = t.address("base address"), stride_of(t)
        if stride == 0:
            return {lane: base for lane in lanes}
        if 0 in lanes or not lanes:
            return {lane: (base + lane * stride) & M64 for lane in lanes}
        if version == 3 and is_run(lanes) and len(lanes) > 1:
            return {lane: (base + i * stride) & M64 for i, lane in enumerate(lanes)}
        return None
    if mode == 0:
        listed = [address(token) for token in t.rest()]
    elif mode == 2 and version == 3:
        listed = [t.address("base address")]
        for token in t.rest():
            listed.append((listed[-1] + delta(token)) & M64)
    else:
        raise BadInput(f"address mode {mode} in version {'3' if version == 3 else '1.2'}")
    if not lanes:
        return {}
    if len(listed) == len(lanes):
        return dict(zip(lanes, listed))
    if len(listed) < len(lanes) or len(listed) > threads:
        raise BadInput(f"{len(listed)} addresses for {len(lanes)} lanes of {threads} threads")
    if len(listed) == threads and lanes[-1] < threads:
        return {lane: listed[lane] for lane in lanes}
    return None
