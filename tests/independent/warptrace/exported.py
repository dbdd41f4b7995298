"""warpload's own export, JSON lines of version 1 (docs/trace-jsonl.md)."""

import json

from .common import (
    BadInput,
    Kernel,
    LANES,
    Record,
    Skipped,
    Transfer,
    hexadecimal,
    lanes_of_mask,
    terminated_lines,
)
from .opcodes import opcode_of


class Launch:
    """A kernel, what its line states and how many instructions have had a line."""

    def __init__(self, row):
        windows = row.get("windows") or {}
        bases = [
            hexadecimal(windows[space], space) if windows.get(space) else None
            for space in ("shared", "local")
        ]
        self.kernel = Kernel(row["name"], *bases)
        self.stated = row["skipped"]
        self.lines = {"load": 0, "store": 0, "atomic": 0, "other": 0}

    def without_lines(self, loads_only):
        """Yields the instructions that are only counted: those without a memory operand."""
        for kind in ("store", "atomic", "other"):
            count = self.stated[kind] - self.lines[kind]
            if count < 0 or (count > 0 and kind != "other" and not loads_only):
                raise BadInput(f"{self.lines[kind]} of {self.stated[kind]} instructions `{kind}`")
            if count:
                yield "skipped", Skipped(self.kernel, kind, count)


def read(name, text):
    launches, launch, trace, last = [], None, {}, -1
    number = 0
    for number, line in terminated_lines(name, text):
        try:
            row = json.loads(line)
            if number == 1:
                trace = row["trace"]
                if trace["version"] != 1:
                    raise BadInput(f"version {trace['version']} of the export")
            elif "kernel" in row and row.get("continued"):
                launch = launches[row["kernel"]]
            elif "kernel" in row:
                if row["kernel"] != len(launches):
                    raise BadInput(f"kernel {row['kernel']} after {len(launches)} kernels")
                launch = Launch(row)
                launches.append(launch)
                yield "kernel", launch.kernel
            elif "record" in row:  # other lines continue lists, which count nothing
                if launch is None or row["record"] <= last:
                    raise BadInput("a record before its kernel, or out of order")
                last = row["record"]
                launch.lines[row["kind"]] += 1
                yield "record", record_of(row, launch.kernel)
        except BadInput as error:
            raise BadInput(f"{name}:{number}: {error}") from None
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise BadInput(f"{name}:{number}: {error!r}") from None
    try:
        records = sum(launch.lines["load"] + sum(launch.stated[k] for k in ("store", "atomic", "other"))
                      for launch in launches)
        if records != trace["records"]:
            raise BadInput(f"{records} of {trace['records']} records: the file is cut off")
        for launch in launches:
            yield from launch.without_lines(trace.get("loads_only"))
    except (BadInput, KeyError, TypeError) as error:
        raise BadInput(f"{name}:{number}: {error}") from None


def record_of(row, kernel):
    opcode = opcode_of(row["opcode"])
    if opcode.kind != row["kind"]:
        raise BadInput(f"{row['opcode']} is not of the kind {row['kind']}")
    active = hexadecimal(row["active"], "active", 32)
    guard = hexadecimal(row["guard"], "guard", 32) if row.get("guard") else 0xFFFFFFFF
    lanes = lanes_of_mask(active & guard)
    addresses = per_lane(row["addresses"], "addresses")
    if addresses is not None:
        if sorted(addresses) != lanes_of_mask(active):
            raise BadInput("`addresses` are not those of the active lanes")
        addresses = {lane: hexadecimal(addresses[lane], "address") for lane in lanes}
    record = Record(kernel, hexadecimal(row["pc"], "pc"), row["opcode"], True, lanes, addresses)
    record.index = row["record"]
    record.plg = hexadecimal(row["plg"], "plg", 32) if row.get("plg") else None
    record.width = 0 if row.get("width_disagrees") else None
    record.has_values = bool(row.get("valued"))
    if opcode.is_transfer and row.get("transfers") is not None:
        record.transfer = Transfer(row["transfers"], row["bytes"])
    values = per_lane(row["values"], "values")
    if values is not None:
        record.has_values = True
        if opcode.kind == "load":
            record.values = {
                lane: [hexadecimal(word, "value", 32) for word in values[lane]] for lane in lanes
            }
    return record


def per_lane(listed, what):
    """Returns lane -> item, without the lanes that are null; `None` if there is no list."""
    if listed is None:
        return None
    if len(listed) != 32:
        raise BadInput(f"`{what}` has {len(listed)} lanes")
    return {lane: listed[lane] for lane in LANES if listed[lane] is not None}
