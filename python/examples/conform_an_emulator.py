"""Checks an emulator in Python against the conformance suite: a model of what an access costs, with a mistake in it.

    python conform_an_emulator.py vectors/v1/coalescing
"""

from __future__ import annotations

import sys
from typing import Any

import warpload as wl

SECTOR, LINE = 32, 128


def emulator(question: dict[str, Any]) -> dict[str, Any] | None:
    """Answers a question of the family `coalescing` about global memory; `None` skips the others."""
    if question["space"] != "global":
        return None
    active, size = int(question["active"], 16), question["bytes"]
    addresses = [
        int(address, 16)
        for lane, address in enumerate(question["addresses"])
        if active >> lane & 1
    ]
    # The mistake: hardware rounds a misaligned address down before it loads.
    touched = {byte for address in addresses for byte in range(address, address + size)}
    return {
        "sectors": len({byte // SECTOR for byte in touched}),
        "lines": len({byte // LINE for byte in touched}),
        "ideal_sectors": -(-len(touched) // SECTOR),
        "wavefronts": None,
    }


def main(suite: str) -> None:
    report = wl.conform(suite, emulator)
    print(report)
    for failure in report.failures[:1]:
        print(failure)


if __name__ == "__main__":
    main(*sys.argv[1:])
