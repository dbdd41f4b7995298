"""Imports a trace, replays it, and writes the page of it: which loads waste most sectors.

    python replay_a_trace.py traces/btree-v5-kernel-1.traceg page.html
"""

import sys
import tempfile
from pathlib import Path

import warpload as wl


def main(source: str, page: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        trace = wl.import_(source, Path(folder) / "trace.wlt")
        print(f"{len(trace)} accesses")
        replay = trace.replay(fill="address")
    known = replay.summary.loads.global_
    print(f"{known.sectors.sum} sectors, {known.ideal_sectors} would do; digest {replay.summary.digest}")
    rows = replay.rows.to_polars()
    loads = rows.filter(rows["kind"] == "load")
    waste = loads.select("pc", "opcode", excess=loads["global_sectors_sum"] - loads["global_ideal_sectors"])
    for pc, opcode, excess in waste.sort("excess", descending=True, nulls_last=True).head(3).iter_rows():
        print(f"  {pc:#x} {opcode}: {excess} sectors too many")
    replay.html(page)


if __name__ == "__main__":
    main(*sys.argv[1:])
