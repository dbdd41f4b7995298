"""Conversions of arrays for the native module."""

from __future__ import annotations

from typing import Any

import numpy as np

_LARGEST = 0xFFFF_FFFF


def words(values: Any, dimensions: int) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """Converts to a C-contiguous array of 32-bit words with that many dimensions."""
    array = np.asarray(values)
    if array.dtype != np.uint32:
        if array.size and array.dtype.kind not in "iub":
            raise TypeError(f"expected integers of 32 bits, not {array.dtype}")
        if array.size and (int(array.min()) < 0 or int(array.max()) > _LARGEST):
            raise OverflowError("expected integers of 0 to 0xffffffff")
        array = array.astype(np.uint32)
    if array.ndim != dimensions:
        raise TypeError(f"expected an array of {dimensions} dimensions, not of {array.ndim}")
    return np.ascontiguousarray(array)


def octets(source: Any) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Views the bytes of a contiguous buffer without copying them."""
    view = memoryview(source)
    if not view.c_contiguous:
        raise TypeError("expected contiguous bytes")
    if view.nbytes == 0:
        return np.empty(0, np.uint8)
    return np.frombuffer(view, np.uint8)


def machine_words(source: Any) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Views instruction words as bytes: an array of 64-bit integers, or bytes. Contiguous ones are not copied."""
    if not isinstance(source, np.ndarray) or source.dtype == np.uint8:
        return octets(source)
    if source.dtype.kind not in "iu" or source.dtype.itemsize != 8:
        raise TypeError(f"expected words of 64 bits, or bytes, not {source.dtype}")
    return np.ascontiguousarray(source, dtype="<u8").reshape(-1).view(np.uint8)
