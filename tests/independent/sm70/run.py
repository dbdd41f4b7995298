#!/usr/bin/env python3
"""Executes test vectors of SM 7.0 and later, and compares the result with their `final`.

    run.py [--print] FILE...    (.jsonl or .jsonl.xz)

`--print` prints the state after each vector instead of comparing.
"""

import argparse
import json
import lzma
import pathlib
import sys

sys.dont_write_bytecode = True

from execute import execute  # noqa: E402
from machine import LANES, Machine  # noqa: E402
from sms import sm_named  # noqa: E402
from words import decode  # noqa: E402


def run(instruction, initial):
    """Returns the `final` of one vector; raises `Refused` if its load must not be executed."""
    load = decode(sm_named(initial["sm"]), int(instruction, 16))
    machine = Machine(initial)
    outcome = execute(load, machine)
    final = {"registers": {}}
    for register, lanes in sorted(outcome.registers.items()):
        before = [machine.register(register, lane) for lane in LANES]
        after = [lanes.get(lane, before[lane]) for lane in LANES]
        if after != before:
            final["registers"][f"R{register}"] = [f"{value:#x}" for value in after]
    uniform = {
        f"UR{register}": f"{value:#x}"
        for register, value in sorted(outcome.uniform_registers.items())
        if value != machine.uniform_registers.get(register, 0)
    }
    if uniform:
        final["uniform_registers"] = uniform
    final["fault"] = outcome.fault
    final["lane_faults"] = {name: f"{mask:#x}" for name, mask in sorted(outcome.lane_faults.items())}
    final["broadcast"] = False
    return final


def read(path):
    """Returns the text of a file, which may be compressed with xz."""
    data = pathlib.Path(path).read_bytes()
    return (lzma.decompress(data) if str(path).endswith(".xz") else data).decode()


def vectors_in(path):
    """Yields the vectors of a file, one JSON object a line."""
    for line in read(path).splitlines():
        yield json.loads(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", metavar="FILE", nargs="+")
    parser.add_argument("--print", action="store_true")
    options = parser.parse_args()
    count = failures = 0
    for path in options.files:
        for vector in vectors_in(path):
            final = run(vector["instruction"], vector["initial"])
            count += 1
            if options.print:
                print(json.dumps({"name": vector["name"], "final": final}))
            elif final != vector["final"]:
                failures += 1
                print(f"{vector['name']}: expected {vector['final']}, got {final}")
    if not options.print:
        print(f"{count} vectors, {failures} failures")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
