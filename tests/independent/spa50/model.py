"""What the model answers: a word's text, a text's word, and what a vector ends in."""

from warp import Refused
from warp.machine import Machine
from warp.vectors import changed_registers, masks

from .execute import execute
from .parse import parse
from .text import text
from .words import decode, encode

DEFAULT_ADDRESS_BITS = 40


def load_of(instruction):
    """Returns the load that a word or a text is; raises `Refused` if it is none."""
    is_word = instruction.strip().lower().startswith("0x")
    return decode(int(instruction, 16)) if is_word else parse(instruction)


def listed(sm, word):
    """Returns how the disassembler lists a word; every word with a load's opcode is one."""
    return {"text": text(decode(int(word, 16)))}


def assembled(sm, source):
    """Returns the word of a text, or that it is illegal."""
    try:
        return {"word": f"{encode(parse(source)):#018x}"}
    except Refused:
        return {"illegal": True}


def run(instruction, initial):
    """Returns the `final` of one vector; raises `Refused` if its load must not be executed."""
    machine = Machine(initial, DEFAULT_ADDRESS_BITS)
    outcome = execute(load_of(instruction), machine)
    return {
        "registers": changed_registers(outcome.registers, machine),
        "fault": outcome.fault,
        "lane_faults": masks(outcome.lane_faults),
        "broadcast": outcome.broadcast,
    }
