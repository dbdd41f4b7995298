"""Small values that instructions consist of."""

from __future__ import annotations

from typing import NamedTuple


class Address(NamedTuple):
    """The address operand of a load."""

    base: str | None
    """The base register; ``None`` if the offset is the address."""
    offset: int
    """In bytes."""
