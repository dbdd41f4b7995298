"""Decodes a dump of machine words with NumPy: which loads are in it, how wide they are, and where.

    python decode_dump.py traces/gather.sm_50.cubin
"""

import sys

import numpy as np

import warpload as wl


def main(path: str) -> None:
    # A dump of memory has no symbols: every aligned word of it may be an instruction.
    dump = np.fromfile(path, np.uint64)
    found = wl.decode_array(dump, sm=50)
    loads = np.flatnonzero(found.kind == 1)
    print(f"{len(loads)} of {len(dump)} words are loads, {np.sum(found.kind == 2)} are refused")
    counts = np.bincount(found.opcode[loads], minlength=len(found.opcodes))
    for opcode, count in sorted(zip(found.opcodes, counts.tolist(), strict=True)):
        print(f"{count:4} {opcode}")
    first = int(loads[0])
    print(f"the first is at byte {8 * first:#x}: {found[first]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
