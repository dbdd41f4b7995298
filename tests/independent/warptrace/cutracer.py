"""CUTracer: NDJSON of every age."""

import json
import re

from .common import BadInput, Kernel, M64, Record, hexadecimal, terminated_lines
from .opcodes import opcode_of

ADDRESSES, VALUES = ("mem_addr_trace", "mem_trace"), "mem_value_trace"
GUARDS = re.compile(r"\s*(@!?U?P[0-9T]+\s+)*")


def opcode_in(sass):
    """Returns the first word after the guards."""
    word = sass[GUARDS.match(sass).end() :].split(None, 1)
    text = word[0].rstrip(";") if word else ""
    if not re.match(r"[A-Z]", text):
        raise BadInput(f"no opcode in {sass!r}")
    return text


class Launches:
    """Kernels by context and launch, in the order of their first records."""

    def __init__(self):
        self.kernels = {}

    def kernel(self, context, launch, name):
        """Returns the kernel, and whether it is new."""
        is_new = (context, launch) not in self.kernels
        if is_new:
            self.kernels[context, launch] = Kernel(name or f"grid launch {launch}")
        return self.kernels[context, launch], is_new


def read(name, text):
    launches, table, kernel_name = Launches(), {}, None
    for number, line in terminated_lines(name, text):
        try:
            try:
                row = json.loads(line, object_pairs_hook=once)
            except json.JSONDecodeError as error:
                raise BadInput(str(error)) from None
            if not isinstance(row, dict):
                raise BadInput("not an object")
            kind = need(row, "type", str)
            if kind == "kernel_metadata":
                kernel_name = row.get("unmangled_name") or row.get("mangled_name")
                table = {
                    int(key): value["sass"] for key, value in row.get("instructions", {}).items()
                }
            elif kind in ADDRESSES or kind == VALUES:
                launch = need(row, "grid_launch_id", int)
                kernel, is_new = launches.kernel(context(row.get("ctx")), launch, kernel_name)
                record = memory_record(row, kind, kernel, table)
                if is_new:
                    yield "kernel", kernel
                yield "record", record
        except (BadInput, KeyError, TypeError, ValueError) as error:
            raise BadInput(f"{name}:{number}: {error}") from None


def once(pairs):
    """Returns an object, whose keys differ."""
    row = dict(pairs)
    if len(row) < len(pairs) and row.get("type") in (*ADDRESSES, VALUES, "kernel_metadata"):
        raise BadInput("a key for the second time")
    return row


def context(text):
    """Returns the number of a context, or None if it has another form."""
    match = re.fullmatch(r"0x([0-9a-fA-F]{1,16})", text) if isinstance(text, str) else None
    return int(match[1], 16) if match else None


def need(row, key, kind):
    value = row.get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise BadInput(f"`{key}` is missing or of another type")
    return value


def numbers(value, what, count, high):
    if not isinstance(value, list) or len(value) != count:
        raise BadInput(f"`{what}` is not a list of {count}")
    for item in value:
        if type(item) is not int or not 0 <= item <= high:
            raise BadInput(f"{item!r} in `{what}`")
    return value


def memory_record(row, kind, kernel, table):
    listed = numbers(row.get("addrs"), "addrs", 32, M64)
    numbers(row.get("cta"), "cta", 3, 0xFFFFFFFF)
    if need(row, "warp", int) < 0:
        raise BadInput("`warp` is negative")
    pc = hexadecimal(need(row, "pc", str), "pc")
    if "sass" in row:
        sass = need(row, "sass", str)
    else:
        sass = table.get(need(row, "opcode_id", int))
        if sass is None:
            raise BadInput(f"opcode_id {row['opcode_id']} is in no table of instructions")
    addresses = {lane: value for lane, value in enumerate(listed) if value != 0}
    record = Record(kernel, pc, opcode_in(sass), True, list(addresses), addresses)
    if kind == VALUES:
        record.width = need(row, "access_size", int)
        if not 1 <= record.width <= 16:
            raise BadInput(f"access size {record.width}")
        rows = row.get("values")
        if not isinstance(rows, list) or len(rows) != 32:
            raise BadInput("`values` is not a list of 32")
        for words in rows:
            numbers(words, "values", -(-record.width // 4), 0xFFFFFFFF)
        opcode = opcode_of(record.opcode)
        record.has_values = True
        # Words of another number than the opcode's registers say nothing about these. Of LDSM the
        # words are read at the rows' addresses, and other lanes receive them.
        if opcode.kind == "load" and not opcode.is_matrix_load and len(rows[0]) == opcode.words:
            record.values = {lane: rows[lane] for lane in addresses}
            # Read back from memory after the instruction, four bytes at a time.
            record.low_bytes_only = opcode.base == "LDS"
    return record
