"""warpload's own export: JSON lines."""

import json

from .common import BadInput, Kernel, LANES, Record, Skipped, hexadecimal, lanes_of_mask, terminated_lines
from .opcodes import opcode_of


def read(name, text):
    """Yields kernels and records; what has no line of its own is counted as `skipped` says."""
    kernel, windows = None, {}
    numbers = {}  # lines of each kind since the last kernel line
    stated = {}
    for number, line in terminated_lines(name, text):
        try:
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                raise BadInput(str(error)) from None
            if "trace" in row:
                if number != 1 or row["trace"].get("version") != 1:
                    raise BadInput("expected version 1 in the first line")
                windows = row["trace"].get("windows") or {}
            elif "record" in row:
                if kernel is None:
                    raise BadInput("a record before its kernel")
                record = record_of(row, kernel)
                numbers[row["kind"]] = numbers.get(row["kind"], 0) + 1
                yield "record", record
            elif "kernel" in row:
                yield from rest(kernel, stated, numbers)
                stated, numbers = row.get("skipped") or {}, {}
                own = row.get("windows") or windows
                kernel = Kernel(row["name"], base(own, "shared"), base(own, "local"))
                yield "kernel", kernel
            else:
                raise BadInput("neither a kernel nor a record")
        except (BadInput, KeyError, TypeError, AttributeError) as error:
            raise BadInput(f"{name}:{number}: {error!r}") from None
    yield from rest(kernel, stated, numbers)


def base(windows, space):
    window = windows.get(space)
    if not window:
        return None
    value = window["base"] if isinstance(window, dict) else window
    return hexadecimal(value, space) if isinstance(value, str) else value


def rest(kernel, stated, numbers):
    for kind in ("store", "atomic", "other"):
        count = stated.get(kind, 0) - numbers.get(kind, 0)
        if count < 0:
            raise BadInput(f"{-count} more records of the kind {kind} than stated")
        if count:
            yield "skipped", Skipped(kernel, kind, count)


def record_of(row, kernel):
    if opcode_of(row["opcode"]).kind != row["kind"]:
        raise BadInput(f"{row['opcode']} is not of the kind {row['kind']}")
    lanes = lanes_of_mask(hexadecimal(row["active"], "active", 32))
    addresses = per_lane(row["addresses"], "addresses")
    if addresses is not None:
        if sorted(addresses) != lanes:
            raise BadInput("`addresses` are not those of the active lanes")
        addresses = {lane: hexadecimal(value, "address") for lane, value in addresses.items()}
    record = Record(kernel, hexadecimal(row["pc"], "pc"), row["opcode"], True, lanes, addresses)
    record.index = row["record"]
    values = per_lane(row.get("values"), "values")
    if values is not None:
        record.has_values = True
        if row["kind"] == "load":
            record.values = {
                lane: [hexadecimal(word, "value", 32) for word in words] for lane, words in values.items()
            }
    return record


def per_lane(listed, what):
    """Returns lane -> item, without the lanes that are null; None if there is no list."""
    if listed is None:
        return None
    if len(listed) != 32:
        raise BadInput(f"`{what}` has {len(listed)} lanes")
    return {lane: listed[lane] for lane in LANES if listed[lane] is not None}
