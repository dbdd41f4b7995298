"""Declarations of variables and registers, with their types."""

import re
from dataclasses import dataclass, field, replace

from warp import Refused

from .initial import values_of

SPACES = (".global", ".shared", ".local", ".const", ".param")
TYPE = re.compile(r"\.([busf])(8|16|32|64|128)|\.(pred|f16x2)")


@dataclass
class Type:
    """A scalar type: its kind (`b`, `u`, `s`, `f`, `pred`, `f16x2`), and how many bits it has."""

    kind: str
    bits: int

    @property
    def bytes(self):
        return self.bits // 8


@dataclass
class Variable:
    name: str
    space: str
    type: Type
    elements: int  # of a vector, else 1
    lengths: list  # of an array; `None` if it is not stated
    align: int
    is_extern: bool = False
    role: str = "variable"  # or `parameter`, `return`, `body`
    is_unified: bool = False
    values: list = field(default_factory=list)

    @property
    def element_bytes(self):
        return self.type.bytes * self.elements

    @property
    def size(self):
        size = self.element_bytes
        for length in self.lengths:
            size *= len(self.values) if length is None else length
        return size


@dataclass
class Register:
    """Registers of one name: `count` of them if they are numbered."""

    name: str
    type: Type
    elements: int
    count: int | None


def variables(reader, is_extern, role="variable"):
    """Reads the variables of one declaration; of parameters, one."""
    model = declared(reader, is_extern, role)
    found = []
    while True:
        found.append(variable(reader, model))
        if role in ("parameter", "return") or not reader.take(","):
            return found


def declared(reader, is_extern, role):
    """Reads what all variables of a declaration share."""
    found = Variable("", reader.next().text, None, 1, [], None, is_extern, role)
    is_pointer = False
    while reader.kind == "directive":
        word = reader.next().text
        if word == ".align":
            align = reader.integer()
            # After `.ptr` it is the alignment of what the parameter points to.
            found.align = found.align if is_pointer else align
        elif word == ".attribute":
            found.is_unified = unified(reader)
        elif word in (".v2", ".v4"):
            found.elements = int(word[2:])
        elif word == ".ptr":
            is_pointer = True
        elif not is_pointer or word not in SPACES:
            found.type = type_of(word)
    if found.type is None or found.type.kind == "pred":
        raise Refused("a type that is not read")
    return found


def variable(reader, model):
    """Reads a variable's name, its lengths and its initial values."""
    found = replace(model, name=reader.next().text, lengths=[], values=[])
    found.align = model.align or model.element_bytes
    while reader.take("["):
        found.lengths.append(None if reader.peek == "]" else reader.integer())
        reader.expect("]")
    if reader.take("="):
        found.values = values_of(reader, model.type)
    if len(found.values) * model.type.bytes > found.size:
        raise Refused("more initial values than elements")
    return found


def unified(reader):
    """Reads the arguments of `.attribute`; returns whether `.unified` is one."""
    is_unified, depth = False, 0
    while not reader.is_done:
        word = reader.next().text
        is_unified |= word == ".unified"
        depth += (word == "(") - (word == ")")
        if not depth:
            break
    return is_unified


def registers(reader):
    reader.expect(".reg")
    elements = 1
    if reader.peek in (".v2", ".v4", ".v8"):
        elements = int(reader.next().text[2:])
    scalar, found = type_of(reader.next().text), []
    while True:
        name, count = reader.next().text, None
        if reader.take("<"):
            count = reader.integer()
            reader.expect(">")
            # Trailing digits would be part of the number, so no register of the run has a name.
            count = 0 if name[-1].isdigit() else count
        found.append(Register(name, scalar, elements, count))
        if not reader.take(","):
            return found


def type_of(word):
    match = TYPE.fullmatch(word)
    if not match:
        raise Refused(f"the type {word} is not read")
    if match.group(3):
        return Type(match.group(3), {"pred": 1, "f16x2": 32}[match.group(3)])
    return Type(match.group(1), int(match.group(2)))
