"""Registers of a warp: their values by lane, and which are unknown."""

from warp import Refused
from warp.machine import LANES, number

from .rules import variable_of

ALL = 0xFFFFFFFF


class State:
    """What the registers of a function hold."""

    def __init__(self, function, module, registers):
        self.function, self.module = function, module
        self.values = {}
        for name, value in registers.items():
            self.set(name, value)
        self.given = dict(self.values)

    def set(self, name, value):
        base, _, element = name.partition(".")
        register = self.function.register(base)
        if register is None or (register.elements > 1) != bool(element):
            raise Refused(f"no register {name}")
        if isinstance(value, list):
            values = [number(lane) for lane in value]
        elif register.type.kind == "pred":
            values = [number(value) >> lane & 1 for lane in LANES]
        else:
            values = [number(value)] * 32
        if len(values) != 32 or any(lane >> register.type.bits for lane in values):
            raise Refused("a value that does not fit")
        self.values[self.key(name)] = values

    def key(self, name):
        """Returns what is the same for all spellings of a register: `%r07` is `%r7`."""
        base, _, element = name.partition(".")
        register = self.function.register(base)
        number = int(base[len(register.name) :]) if register.count is not None else None
        return register.name, number, element

    def canonical(self, name):
        """Returns a register's name without leading zeroes in its number."""
        base, number, element = self.key(name)
        return base + ("" if number is None else str(number)) + ("." + element if element else "")

    def get(self, name, lane):
        """Returns a register's value in a lane; `None` if it is unknown."""
        return self.values.get(self.key(name), [None] * 32)[lane]

    def put(self, name, lane, value):
        key = self.key(name)
        lanes = list(self.values.get(key, [None] * 32))
        lanes[lane] = value
        self.values[key] = lanes

    def forget(self, name, lanes):
        """Makes a register unknown, all elements of a vector register if none is named.

        A value that was given is in place of what is unknown.
        """
        for element in self.elements(name):
            given = self.given.get(self.key(element), [None] * 32)
            for lane in lanes:
                self.put(element, lane, given[lane])

    def elements(self, name):
        """Returns the names of a vector register's elements, or the name itself."""
        count = self.function.register(name.partition(".")[0]).elements
        if count == 1 or "." in name:
            return [name]
        return [f"{name}.{'xyzw'[at] if at < 4 else at}" for at in range(count)]

    def guard(self, name, is_negated):
        """Returns whether the guard is true in each lane; `None` if it is unknown."""
        if name is None:
            return [True] * 32
        if self.function.register(name) is None:
            return [None] * 32
        values = [self.get(name, lane) for lane in LANES]
        return [None if value is None else bool(value) != is_negated for value in values]

    def variable(self, name):
        """Returns the variable that a name refers to; `None` for a register."""
        return None if self.function.register(name) else variable_of(name, self.function, self.module)
