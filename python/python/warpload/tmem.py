"""Tensor Memory and the loads from it, ``tcgen05.ld`` and ``LDTM``."""

from __future__ import annotations

from ._native import Cell, Loaded, Map
from ._native import run_tensor_load as run
from ._native import tensor_map as map  # noqa: A001 - the command's name

__all__ = ["Cell", "Loaded", "Map", "map", "run"]
