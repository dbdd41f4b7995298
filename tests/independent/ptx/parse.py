"""A module read: its version and target, its variables, and functions with their statements."""

import re
from dataclasses import dataclass, field

from warp import Refused

from .tokens import Reader, tokens_of
from .variables import SPACES, registers, variables

LINKING = (".visible", ".extern", ".weak", ".common")
PER_FUNCTION = (".maxntid", ".reqntid", ".minnctapersm", ".maxnreg", ".noreturn")


@dataclass
class Function:
    name: str
    is_kernel: bool
    variables: list = field(default_factory=list)
    registers: list = field(default_factory=list)
    statements: list = field(default_factory=list)

    def register(self, name):
        """Returns the register that a name refers to, or `None`."""
        for register in self.registers:
            if register.count is None and register.name == name:
                return register
        digits = re.search(r"[0-9]+$", name)
        for register in self.registers if digits else []:
            same = register.count is not None and register.name == name[: digits.start()]
            if same and int(digits.group()) < register.count:
                return register
        return None


@dataclass
class Module:
    version: tuple = (0, 0)
    target: str = ""
    address_size: int | None = None
    variables: list = field(default_factory=list)
    functions: list = field(default_factory=list)

    def function(self, name):
        """Returns the function of a name, or the only one."""
        found = [function for function in self.functions if name in (None, function.name)]
        if len(found) != 1:
            raise Refused("not one function of this name")
        return found[0]


def read(text):
    """Returns the `Module` of a text; raises `Refused` for what is not modelled."""
    module, reader = Module(), Reader(tokens_of(text))
    while not reader.is_done:
        if reader.take(".version"):
            major, minor = reader.next().text.split(".")
            module.version = int(major), int(minor)
        elif reader.take(".target"):
            module.target = reader.next().text
        elif reader.take(".address_size"):
            module.address_size = reader.integer()
        else:
            read_declaration(module, reader)
    if not module.target or module.version == (0, 0):
        raise Refused("not a module")
    return module


def read_declaration(module, reader):
    linking = []
    while reader.peek in LINKING:
        linking.append(reader.next().text)
    if reader.peek in (".entry", ".func"):
        read_function(module, reader)
    elif reader.peek in SPACES:
        module.variables += variables(reader, ".extern" in linking)
        reader.expect(";")
    else:
        raise Refused(f"{reader.peek} is not read")


def read_function(module, reader):
    is_kernel = reader.next().text == ".entry"
    function = Function("", is_kernel)
    if reader.peek == "(":
        function.variables += parameters(reader, "return")
    function.name = reader.next().text
    if reader.peek == "(":
        function.variables += parameters(reader, "parameter")
    if reader.take(";"):  # a prototype
        return
    while reader.take(*PER_FUNCTION):
        while reader.kind == "integer" or reader.peek == ",":
            reader.next()
    reader.expect("{")
    while not reader.take("}"):
        read_statement(function, reader)
    module.functions.append(function)


def read_statement(function, reader):
    """Reads a declaration, a label or an instruction of a function's body."""
    if reader.peek == ".reg":
        function.registers += registers(reader)
        reader.expect(";")
    elif reader.peek in SPACES or reader.peek == ".extern":
        is_extern = reader.take(".extern")
        function.variables += variables(reader, is_extern, "body")
        reader.expect(";")
    elif reader.peek.startswith((".", "{")) or not reader.peek:
        raise Refused(f"{reader.peek} in a body is not read")
    else:
        read_instruction(function, reader)


def read_instruction(function, reader):
    statement = [reader.next()]
    if reader.take(":"):  # a label
        return
    while not reader.take(";"):
        statement.append(reader.next())
    function.statements.append(statement)


def parameters(reader, role):
    found = []
    reader.expect("(")
    while not reader.take(")"):
        if reader.peek != ".param":
            raise Refused("a parameter in a register is not read")
        found += variables(reader, False, role)
        if reader.peek != ")":
            reader.expect(",")
    return found
