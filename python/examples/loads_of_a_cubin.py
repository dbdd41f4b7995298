"""The loads of a cubin as a table: how wide those of each function are.

    python loads_of_a_cubin.py traces/gather.sm_50.cubin
"""

import sys

import polars as pl

import warpload as wl


def main(path: str) -> None:
    loads = pl.DataFrame(
        [
            {
                "function": load.function,
                "offset": load.offset,
                "opcode": load.instruction.opcode,
                "space": load.instruction.space,
                "bytes": load.instruction.size,
                "stall": load.control.stall if load.control else None,
            }
            for load in wl.decode_file(path)
            if load.instruction is not None
        ]
    )
    table = loads.group_by("function", "opcode", "bytes").agg(pl.len().alias("loads"))
    for row in table.sort("function", "opcode", "bytes").iter_rows(named=True):
        print("{loads:3} of {bytes:2} bytes  {function}: {opcode}".format(**row))


if __name__ == "__main__":
    main(*sys.argv[1:])
