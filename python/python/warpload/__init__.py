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
    CaseFailure,
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
    Warp,
    WarpFault,
    __version__,
    conform,
    decode,
    decode_array,
    encode,
    execute,
    explain,
    loads,
    survive_forks,
)
from ._types import Address

if TYPE_CHECKING:
    from . import cluster as cluster
    from . import ptx as ptx
    from . import tmem as tmem
    from . import vectors as vectors
    from ._summary import Summary as Summary
    from ._trace import Comparison as Comparison
    from ._trace import Replay as Replay
    from ._trace import Trace as Trace
    from ._trace import compare as compare
    from ._trace import import_ as import_
    from ._trace import merge as merge

# Imported on first use, so that importing the package takes no time.
_LAZY = {
    "Comparison": "_trace",
    "Replay": "_trace",
    "compare": "_trace",
    "import_": "_trace",
    "merge": "_trace",
    "Summary": "_summary",
    "Trace": "_trace",
}
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
    "Trace",
    "Warp",
    "WarpFault",
    "__version__",
    "cluster",
    "compare",
    "conform",
    "decode",
    "decode_array",
    "encode",
    "execute",
    "explain",
    "import_",
    "loads",
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
    if name in _LAZY:
        value = getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
