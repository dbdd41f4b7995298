"""Initial values of variables."""

import struct
from dataclasses import dataclass

from warp import Refused

from .tokens import constant

FORMATS = {32: "<f", 64: "<d"}


@dataclass
class Address:
    """The address of a variable, as an initial value."""

    name: str
    offset: int
    is_generic: bool


def values_of(reader, scalar):
    """Reads an initializer; returns the elements in their order, integers and addresses."""
    if not reader.take("{"):
        return [value_of(reader, scalar)]
    values = []
    while not reader.take("}"):
        if reader.peek == "{":
            raise Refused("nested initial values are not read")
        values.append(value_of(reader, scalar))
        if reader.peek != "}":
            reader.expect(",")
    return values


def value_of(reader, scalar):
    if reader.kind == "name":
        return address(reader)
    if scalar.kind == "f":
        return real(reader, scalar)
    return constant(reader)


def address(reader):
    name = reader.next().text
    is_generic = name == "generic" and reader.take("(")
    if is_generic:
        name = reader.next().text
        reader.expect(")")
    offset = constant(reader) if reader.take("+") else 0
    return Address(name, offset, is_generic)


def real(reader, scalar):
    """Returns the bits of a number of 32 or 64 bits."""
    if scalar.bits not in FORMATS:
        raise Refused("a float that is not of 32 or 64 bits")
    sign = -1.0 if reader.take("-") else 1.0
    packed = struct.pack(FORMATS[scalar.bits], sign * real_value(reader.next()))
    return int.from_bytes(packed, "little")


def real_value(token):
    """Returns the value of a number; one in hexadecimal is the bits of a float."""
    text = token.text.lower()
    if token.kind != "real" and not text.isdigit():
        raise Refused(f"the initial value {text} is not read")
    if not text.startswith(("0f", "0d")):
        return float(text)
    size = 4 if text[1] == "f" else 8
    (value,) = struct.unpack(FORMATS[8 * size], int(text[2:], 16).to_bytes(size, "little"))
    if value != value:
        raise Refused("a NaN as an initial value")
    return value
