"""Files of vectors: reading them, and comparing a model's answers with their `final`."""

import argparse
import json
import lzma
import pathlib
import sys

from .machine import LANES, number


def read(path):
    """Returns the text of a file, which may be compressed with xz."""
    data = pathlib.Path(path).read_bytes()
    return (lzma.decompress(data) if str(path).endswith(".xz") else data).decode()


def vectors_in(path):
    """Yields the vectors of a file, one JSON object a line."""
    for line in read(path).splitlines():
        yield json.loads(line)


def changed_registers(written, machine):
    """Returns `final.registers`: of the registers written, by number and lane, those that changed."""
    final = {}
    for register, lanes in sorted(written.items()):
        before = [machine.register(register, lane) for lane in LANES]
        after = [lanes.get(lane, before[lane]) for lane in LANES]
        if after != before:
            final[f"R{register}"] = [f"{value:#x}" for value in after]
    return final


def masks(lane_faults):
    """Returns `final.lane_faults`."""
    return {name: f"{mask:#x}" for name, mask in sorted(lane_faults.items()) if mask}


def normalized(final, initial):
    """Returns what `final` says, the same for each way to write it."""
    before = initial.get("registers", {})
    registers = {
        name: [number(value) for value in values] for name, values in final.get("registers", {}).items()
    }
    uniform_before = initial.get("uniform_registers", {})
    uniform = {name: number(value) for name, value in final.get("uniform_registers", {}).items()}
    faults = {name: number(mask) for name, mask in final.get("lane_faults", {}).items()}
    return {
        "registers": {
            name: values
            for name, values in registers.items()
            if values != [number(value) for value in before.get(name, [0] * 32)]
        },
        "uniform_registers": {
            name: value
            for name, value in uniform.items()
            if value != number(uniform_before.get(name, 0))
        },
        "fault": final.get("fault"),
        "lane_faults": {name: mask for name, mask in faults.items() if mask},
        "broadcast": final.get("broadcast", False),
    }


def main(description, run):
    """The command of a model: executes vectors by `run(instruction, initial)`, and compares."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", metavar="FILE", nargs="+", help=".jsonl or .jsonl.xz")
    parser.add_argument("--print", action="store_true", help="print each `final`, do not compare")
    options = parser.parse_args()
    count = failures = 0
    for path in options.files:
        for vector in vectors_in(path):
            initial = vector.get("initial", {})
            final = run(vector["instruction"], initial)
            count += 1
            if options.print:
                print(json.dumps({"name": vector.get("name", ""), "final": final}))
            elif normalized(final, initial) != normalized(vector["final"], initial):
                failures += 1
                print(f"{vector.get('name', count)}: expected {vector['final']}, got {final}")
    if not options.print:
        print(f"{count} vectors, {failures} failures")
    sys.exit(failures > 0)
