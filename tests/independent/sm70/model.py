"""What the model answers: a word's text, and what a vector ends in."""

from warp import Refused
from warp.machine import Machine
from warp.vectors import changed_registers, masks

from .execute import execute
from .sms import sm_named
from .text import text
from .words import IllegalWord, decode


def load_of(sm, word):
    """Returns the load of a word; raises `Refused` if there is none."""
    load = decode(sm_named(sm), int(word, 16))
    if load is None:
        raise Refused(f"{word} is no load")
    return load


def listed(sm, word):
    """Returns how the disassembler lists a word: its text, or as illegal."""
    try:
        line = text(load_of(sm, word))
    except IllegalWord:
        return {"illegal": True}
    if line is None:
        raise Refused(f"{word} has no text")
    return {"text": line}


def assembled(sm, source):
    raise Refused("this model reads no text of SM 7.0 and later")


def run(instruction, initial):
    """Returns the `final` of one vector; raises `Refused` if its load must not be executed."""
    if not instruction.lower().startswith("0x"):
        assembled(initial["sm"], instruction)
    load = load_of(initial["sm"], instruction)
    machine = Machine(initial)
    outcome = execute(load, machine)
    final = {"registers": changed_registers(outcome.registers, machine)}
    uniform = {
        f"UR{register}": f"{value:#x}"
        for register, value in sorted(outcome.uniform_registers.items())
        if value != machine.uniform_registers.get(register, 0)
    }
    if uniform:
        final["uniform_registers"] = uniform
    final["fault"] = outcome.fault
    final["lane_faults"] = masks(outcome.lane_faults)
    final["broadcast"] = False
    return final
