"""Test vectors: one load with the state before and after it. Drawing, reading, writing and checking them.

>>> from warpload import vectors
>>> drawn = vectors.generate("LDG", sm=90, count=2)
>>> [vector.check() for vector in drawn]
[[], []]
"""

from __future__ import annotations

from ._native import Flag, Vector
from ._native import generate_vectors as generate
from ._native import read_vectors as read
from ._native import vector_flags as flags
from ._native import vector_instructions as instructions
from ._native import write_vectors as write

__all__ = ["Flag", "Vector", "flags", "generate", "instructions", "read", "write"]
