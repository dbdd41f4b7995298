"""PTX loads: checking, lowering to SM 5.x and executing them; and kernels, run without a GPU.

A module is given as a path or as its text, a ``str`` or bytes: a ``str`` is text if it has a line break, or if it begins
with ``.version`` or has ``;``, ``{`` or ``}`` and no file has that name.
"""

from __future__ import annotations

from ._kernel import Globals, Kernel, UnknownWarning
from ._native import (
    Check,
    CheckedLoad,
    KernelFault,
    KernelParameter,
    Launch,
    LaunchCounts,
    LoweredLoad,
    Module,
    RanLoad,
    SkippedInstruction,
    UnknownBytes,
    Violation,
)
from ._native import check_ptx as check
from ._native import lower_ptx as lower
from ._native import run_ptx as run

__all__ = [
    "Check",
    "CheckedLoad",
    "Globals",
    "Kernel",
    "KernelFault",
    "KernelParameter",
    "Launch",
    "LaunchCounts",
    "LoweredLoad",
    "Module",
    "RanLoad",
    "SkippedInstruction",
    "UnknownBytes",
    "UnknownWarning",
    "Violation",
    "check",
    "lower",
    "run",
]
