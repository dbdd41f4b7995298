"""Emulates GPU load instructions from their machine code, and replays memory traces.

>>> import warpload
>>> warpload.decode(0x80d0000000070404)
Instruction('LD.E.128 R4, [R4], P0', sm='50')
>>> hex(warpload.encode("LD.E.128 R4, [R4], P0"))
'0x80d0000000070404'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._errors import Error
from ._native import (
    Address,
    CaseFailure,
    Comparison,
    Conformance,
    Control,
    DecodedWords,
    Explanation,
    Field,
    FlagCounts,
    Instruction,
    LaneFault,
    Load,
    Machine,
    Memory,
    Outcome,
    Replay,
    Table,
    Warp,
    WarpFault,
    __version__,
    compare,
    conform,
    decode,
    decode_array,
    decode_file,
    encode,
    execute,
    explain,
    import_,
    merge,
    survive_forks,
)
from ._trace import Trace

if TYPE_CHECKING:
    from . import cluster as cluster
    from . import ptx as ptx
    from . import tmem as tmem
    from . import vectors as vectors
    from ._summary import Summary as Summary

# Imported on first use, so that importing the package takes no time.
_MODULES = ("cluster", "ptx", "tmem", "vectors")

__all__ = [
    "Address",
    "CaseFailure",
    "Comparison",
    "Conformance",
    "Control",
    "DecodedWords",
    "Error",
    "Explanation",
    "Field",
    "FlagCounts",
    "Instruction",
    "LaneFault",
    "Load",
    "Machine",
    "Memory",
    "Outcome",
    "Replay",
    "Summary",
    "Table",
    "Trace",
    "Warp",
    "WarpFault",
    "__version__",
    "cluster",
    "compare",
    "conform",
    "decode",
    "decode_array",
    "decode_file",
    "encode",
    "execute",
    "explain",
    "import_",
    "merge",
    "ptx",
    "tmem",
    "vectors",
]


# Before anything else, so that child processes find everything initialized whenever they are forked.
survive_forks()
del survive_forks


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name == "Summary":
        return importlib.import_module("._summary", __name__).Summary
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
