"""Addresses of variables, and the memory of a machine with their initial values."""

from warp import Refused
from warp.machine import LANES, Invalid, Machine, number

from .initial import Address

GLOBAL_START = 0x80000000
CONSTANT_BANK = 3
PARAMETER_BANK, PARAMETER_START = 0, 0x140
LIMIT = 1 << 26  # bytes of a space's variables
SPACES = ("global", "shared", "local", "const", "param")


class Memory:
    """A machine's memories with the variables of a module and a function."""

    def __init__(self, module, function, question):
        self.variables = function.variables + module.variables
        self.addresses = {}
        self.question = question
        initial = question.get("initial", {})
        try:
            self.machine = Machine(initial, 40 if int(initial.get("sm", "50").rstrip("af")) < 70 else 49)
        except Invalid as reason:
            raise Refused(str(reason)) from None
        for space in SPACES:
            declared = [v for v in module.variables + function.variables if v.space == "." + space]
            self.lay_out(declared, GLOBAL_START if space == "global" else 0)
        self.move(question.get("places", {}))
        self.add_variables()
        self.parameters = self.parameter_bytes(question.get("parameters", {}))

    def lay_out(self, declared, address):
        """Places the variables of one space in their order, dynamic shared memory last."""
        last = [v for v in declared if v.space == ".shared" and is_open(v)]
        for variable in declared:
            if variable not in last:
                address += -address % variable.align
                self.addresses[variable.name] = address
                address += variable.size if not is_open(variable) else 0
        if last:
            address += -address % max(variable.align for variable in last)
            self.addresses |= {variable.name: address for variable in last}

    def move(self, places):
        for name, place in places.items():
            variable = self.variable(name)
            if number(place) % variable.align:
                raise Refused("a place that is not a multiple of the alignment")
            self.addresses[name] = number(place)
        sized = [variable for variable in self.variables if not is_open(variable)]
        for space in SPACES if places else ():
            self.check_overlap([variable for variable in sized if variable.space == "." + space])

    def check_overlap(self, variables):
        ends = sorted((self.addresses[v.name], self.addresses[v.name] + v.size) for v in variables)
        if any(end > start for (_, end), (start, _) in zip(ends, ends[1:])):
            raise Refused("variables overlap")

    def variable(self, name):
        found = [variable for variable in self.variables if variable.name == name]
        if not found:
            raise Refused(f"no variable {name}")
        return found[0]

    def bytes_of(self, variable):
        """Returns the initial bytes of a variable; what is not stated is zero."""
        size = variable.type.bytes
        data = b"".join(self.value(value, size) for value in variable.values)
        return data[: variable.size].ljust(variable.size, b"\0")

    def value(self, value, size):
        if isinstance(value, Address):
            value = self.address_value(value)
        return (value % (1 << 8 * size)).to_bytes(size, "little")

    def address_value(self, value):
        variable = self.variable(value.name)
        address = self.addresses[variable.name] + value.offset
        if not value.is_generic or variable.space == ".global":
            return address
        if variable.space == ".shared":
            return address + self.machine.windows["shared"][0]
        raise Refused("the generic address of constant memory")

    def add_variables(self):
        """Adds the variables' bytes where the image has none."""
        kept = [v for v in self.variables if not is_open(v)]
        self.add_global([v for v in kept if v.space == ".global" and not v.is_extern])
        machine = self.machine
        machine.shared = self.extended(machine.shared, [v for v in kept if v.space == ".shared"])
        local = [v for v in kept if v.space == ".local"]
        machine.local = [self.extended(machine.local[lane], local) for lane in LANES]
        constants = [v for v in kept if v.space == ".const" and not v.is_extern]
        bank = machine.constant.get(CONSTANT_BANK, b"")
        machine.constant[CONSTANT_BANK] = self.extended(bank, constants)
        try:
            machine.check()
        except Invalid as reason:
            raise Refused(str(reason)) from None

    def extended(self, image, variables):
        """Returns a flat memory: the image, and after it the variables' bytes."""
        data = bytearray(self.end(variables))
        for variable in variables:
            start = self.addresses[variable.name]
            data[start : start + variable.size] = self.bytes_of(variable)
        return image + bytes(data[len(image) :])

    def end(self, variables):
        end = max([self.addresses[v.name] + v.size for v in variables], default=0)
        if end > LIMIT:
            raise Refused("too many bytes of variables")
        return end

    def add_global(self, variables):
        """Adds allocations: variables at most an alignment apart are one, without the image's bytes."""
        blocks = []
        for variable in sorted(variables, key=lambda v: self.addresses[v.name]):
            start, data = self.addresses[variable.name], self.bytes_of(variable)
            if blocks and start - blocks[-1][0] - len(blocks[-1][1]) <= variable.align:
                base, before = blocks.pop()
                start, data = base, before + bytes(start - base - len(before)) + data
            blocks.append((start, data))
        image = sorted(self.machine.globals)
        for start, data in blocks:
            self.machine.globals += without(image, start, data)

    def parameter_bytes(self, parameters):
        """Returns the bytes of the space of parameters, `None` for those without a value."""
        variables = [v for v in self.variables if v.space == ".param"]
        image = self.machine.constant.get(PARAMETER_BANK, b"")[PARAMETER_START:]
        end = self.end(variables)
        found = list(image) + [0] * (end - len(image))
        for variable in variables:
            start = self.addresses[variable.name]
            for at in range(max(start, len(image)), start + variable.size):
                found[at] = None
            if variable.name in parameters:
                found[start : start + variable.size] = self.parameter_value(variable, parameters)
        if not set(parameters) <= {v.name for v in variables}:
            raise Refused("no such parameter")
        return found

    def parameter_value(self, variable, parameters):
        values = parameters[variable.name]
        size = variable.type.bytes
        values = [number(value) for value in (values if isinstance(values, list) else [values])]
        if any(value >> 8 * size for value in values) or len(values) * size > variable.size:
            raise Refused("a value that does not fit")
        return b"".join(value.to_bytes(size, "little") for value in values).ljust(variable.size, b"\0")

    def read(self, space, address, size, lane):
        """Returns the bytes of an access; `None` outside of what is allocated."""
        if space == "const":
            space = CONSTANT_BANK
        if space != "param":
            return self.machine.read(space, address, size, lane)
        data = self.parameters[address : address + size]
        # A parameter without a value is an error even if the access goes on after its end.
        return data if len(data) == size or None in data else None


def is_open(variable):
    """Returns whether a variable has no size of its own."""
    return None in variable.lengths and not variable.values


def without(image, start, data):
    """Returns the parts of an allocation that no block of the image has."""
    parts = []
    for base, block in image:
        if base + len(block) <= start or base >= start + len(data):
            continue
        if base > start:
            parts.append((start, data[: base - start]))
        data = data[max(0, base + len(block) - start) :]
        start = max(start, base + len(block))
    return parts + ([(start, data)] if data else [])
