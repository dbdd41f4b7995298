"""Explains a word, and executes it on 32 lanes: a strided load whose last lanes leave the allocation.

    python explain_and_execute.py
"""

import numpy as np

import warpload as wl


def main() -> None:
    load = wl.Instruction("LDG.E.64 R4, [R2+0x8]", sm=50)
    explained = wl.explain(load)
    print(explained.effect)
    for field in explained.fields[:3]:
        print(f"  bits {field.bits:>6} {field.name}: {field.meaning}")

    data = np.arange(512, dtype=np.uint32)
    memory = wl.Memory({0x10000: data.tobytes()})
    warp = wl.Warp()
    # Lane n loads 8 bytes at 64 n + 8.
    addresses = 0x10000 + 64 * np.arange(32, dtype=np.uint64)
    warp[2], warp[3] = addresses & 0xFFFF_FFFF, addresses >> 32
    warp.active = 0x7FFF_FFFF
    outcome = wl.execute(load, wl.Machine(memory), warp)
    print(f"{outcome.executing.bit_count()} lanes, R4 of the first ones: {warp[4][:4].tolist()}")

    warp[2] = warp[2].astype(np.uint32) + 0x100
    outcome = wl.execute(load, wl.Machine(memory), warp)
    for fault in outcome.lane_faults:
        print(f"lane {fault.lane}: {fault.kind} at {fault.address:#x}")


if __name__ == "__main__":
    main()
