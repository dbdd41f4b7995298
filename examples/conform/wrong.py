#!/usr/bin/env python3
"""The adapter with a mistake in its model of SPA 5.0. A suite must find it, and name it by a flag.

    wrong.py MISTAKE     answers as adapter.py does; MISTAKE is a name or a number
    wrong.py --list      prints each mistake: number, name, flag, what it does
    warpload conform --command 'python3 examples/conform/wrong.py unaligned' vectors/v1

Only loads of SPA 5.0 are executed; other questions are skipped. A mistake replaces one function of the
model.
"""

import json
import sys
from dataclasses import replace

sys.dont_write_bytecode = True

import adapter  # noqa: E402; its path leads to the models
from spa50 import execute, words  # noqa: E402
from warp.machine import Machine  # noqa: E402

MISTAKES = {}


def mistake(name, flag, description):
    """Registers a function that makes the model wrong, and the flag whose cases show it."""

    def register(patch):
        MISTAKES[name] = flag, description, patch

    return register


def wrap(owner, name):
    """Replaces a function by one that receives the original as its first argument."""
    former = getattr(owner, name)

    def install(function):
        setattr(owner, name, lambda *arguments: function(former, *arguments))

    return install


def with_fields(load, **fields):
    return replace(load, fields=load.fields | fields)


@mistake("unaligned", "misaligned", "the address is not rounded down to a multiple of the access size")
def _():
    execute.rounded = lambda load, address: address


@mistake("joined", "adjacent-allocations", "an access goes on from one global allocation into the next")
def _():
    @wrap(Machine, "read")
    def _(former, machine, space, offset, size, lane):
        whole = [former(machine, space, offset + at, 1, lane) for at in range(size)]
        if space != "global" or None in whole:
            return former(machine, space, offset, size, lane)
        return b"".join(whole)


@mistake("masked", "above-address-bits", "address bits that the machine does not have are ignored")
def _():
    @wrap(execute, "place_of")
    def _(former, load, machine, lane, address):
        return former(load, machine, lane, address % (1 << machine.address_bits))


@mistake("no-wrap", "address-wraps", "a 32-bit sum carries into the high half of the address")
def _():
    @wrap(execute, "address_of")
    def _(former, load, machine, lane):
        base = execute.base_of(load, machine)
        if base is None or load.get("e"):
            return former(load, machine, lane)
        return (machine.register(base, lane) + words.offset_of(load, True)) % (1 << 64)


@mistake("magnitude", "negative-offset", "the sign of an offset is dropped")
def _():
    @wrap(execute, "offset_of")
    def _(former, load, has_base):
        return abs(former(load, has_base))


@mistake("signed-absolute", "offset-unsigned", "an offset without a base is sign-extended to 64 bits")
def _():
    @wrap(execute, "address_of")
    def _(former, load, machine, lane):
        if execute.base_of(load, machine) is None and load.name != "LDC":
            return words.offset_of(load, True) % (1 << 64)
        return former(load, machine, lane)


@mistake("no-shared-window", "shared-window", "addresses in the shared window are taken as global")
def _():
    @wrap(Machine, "resolve_generic")
    def _(former, machine, address):
        space, offset = former(machine, address) or (None, None)
        return ("global", address) if space == "shared" else space and (space, offset)


@mistake("one-local-memory", "local-window", "local memory is lane 0's, whichever lane loads from its window")
def _():
    @wrap(execute, "access_of")
    def _(former, load, machine, lane):
        access = former(load, machine, lane)
        if load.name == "LD" and access.space == "local":
            offset = access.address - machine.windows["local"][0]
            access.data = machine.read("local", offset, load.bytes, 0)
        return access


@mistake("low-part", "local-high", "the high part of local memory is not allocated")
def _():
    Machine.local_blocks = lambda machine, lane: [(0, machine.local[lane])]


@mistake("silent-broadcast", "uniform", "a broadcast is not reported")
def _():
    execute.takes_broadcast = lambda load, accesses: False


@mistake("blind-broadcast", "divergent-uniform", "every .U.128 takes the first lane's value")
def _():
    execute.takes_broadcast = lambda load, accesses: load.is_uniform


@mistake("unsigned", "sign-extension", "S8 and S16 are zero-extended")
def _():
    words.Load.is_signed = False


@mistake("unlimited", "register-limit", "registers beyond the limit are no fault")
def _():
    @wrap(execute, "register_fault")
    def _(former, load, machine):
        fault = former(load, machine)
        return None if fault == "out_of_range_register" else fault


@mistake("any-register", "misaligned-register", "pairs and quads may begin at any register")
def _():
    @wrap(execute, "register_fault")
    def _(former, load, machine):
        fault = former(load, machine)
        return None if fault == "misaligned_register" else fault


@mistake("rz-checked", "discarded", "RZ as a destination is checked as a register")
def _():
    @wrap(execute, "register_fault")
    def _(former, load, machine):
        if load.get("rd") == words.RZ:
            is_odd = words.RZ % execute.registers_written(load)
            return "misaligned_register" if is_odd else "out_of_range_register"
        return former(load, machine)


@mistake("cleared-first", "overlap", "the destination is cleared before the address is read")
def _():
    @wrap(execute, "base_value")
    def _(former, load, machine, lane, base):
        first = load.get("rd")
        cleared = range(first, first + execute.registers_written(load))
        held = {number: values for number, values in machine.registers.items() if number not in cleared}
        machine.registers, whole = held, machine.registers
        value = former(load, machine, lane, base)
        machine.registers = whole
        return value


@mistake("negation-ignored", "negated-guard", "@!P is taken as @P")
def _():
    @wrap(execute, "executing_lanes")
    def _(former, load, machine):
        return former(with_fields(load, guard_not=0), machine)


@mistake("all-active", "inactive-lanes", "inactive lanes load as well")
def _():
    @wrap(execute, "executing_lanes")
    def _(former, load, machine):
        machine.active = 0xFFFFFFFF
        return former(load, machine)


@mistake("plg-inverted", "predicate-argument", "a Plg other than PT is true for shared memory")
def _():
    @wrap(execute, "plg_of")
    def _(former, load, machine, lane):
        return former(load, machine, lane) == (load.get("plg") == words.PT)


@mistake("bank-of-zeroes", "missing-bank", "a constant bank that does not exist holds zeroes")
def _():
    @wrap(Machine, "read")
    def _(former, machine, space, offset, size, lane):
        is_missing = isinstance(space, int) and space not in machine.constant
        return bytes(size) if is_missing else former(machine, space, offset, size, lane)


def answer(question):
    """Returns the adapter's answer if SPA 5.0 executes the question."""
    sm = question.get("initial", {}).get("sm", "50")
    if question.get("family", "execute") != "execute" or int(sm.rstrip("af")) >= 70:
        return {"skip": "only loads of SPA 5.0 are executed"}
    return adapter.answer(question)


def main():
    chosen = sys.argv[1] if len(sys.argv) == 2 else "--list"
    if chosen == "--list":
        for number, (name, (flag, description, _)) in enumerate(MISTAKES.items(), 1):
            print(f"{number}\t{name}\t{flag}\t{description}")
        return
    by_number = {str(number): name for number, name in enumerate(MISTAKES, 1)}
    name = by_number.get(chosen, chosen)
    if name not in MISTAKES:
        sys.exit(f"no mistake {chosen!r}; --list prints them")
    _, _, make_wrong = MISTAKES[name]
    make_wrong()
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
