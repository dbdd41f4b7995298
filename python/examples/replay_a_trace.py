"""Imports a trace, replays it, and writes the page of it: which program counters waste most sectors.

    python replay_a_trace.py traces/btree-v5-kernel-1.traceg page.html
"""

import sys
import tempfile
from pathlib import Path

import warpload as wl


def main(source: str, page: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        trace = wl.import_(source, Path(folder) / "trace.wlt")
        print(f"{len(trace)} loads")
        replay = trace.replay(fill="address", html=True)
    print(f"{replay.sectors} sectors, {replay.ideal_sectors} would do; digest {replay.digest}")
    table = replay.per_pc.select("pc", "opcode", "sectors", "ideal_sectors").to_polars()
    waste = table.with_columns(excess=table["sectors"] - table["ideal_sectors"])
    for pc, opcode, _, _, excess in waste.sort("excess", descending=True).head(3).iter_rows():
        print(f"  {pc:#x} {opcode}: {excess} sectors too many")
    Path(page).write_text(replay.html or "", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
