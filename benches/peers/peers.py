"""Counts sectors per program counter with warpload, NumPy and Polars, in turns, on the same loads.

Setup, from the repository's root:

    cargo build --release
    python3 -m venv target/peers
    target/peers/bin/pip install numpy==2.4.6 polars==2.1.0
    target/peers/bin/python benches/peers/peers.py target/release/warpload

warpload replays a binary trace, including decoding, checksums, all its other counts and the start of the
process. NumPy and Polars begin with the addresses expanded in memory, 32 to a load. All compute, for each
program counter, the loads and the distinct 32-byte sectors of each load, and the distinct 128-byte lines of
all loads. The results are compared. Times are processor time, the best of the rounds.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile

import numpy
import polars

LOADS = 1 << 20
LANES = 32
PROGRAM_COUNTERS = 32
BASE = 0x7F00_0000_0000
MIB = 1 << 20
ROUNDS = 5
JUMPING = "8-byte strides that jump"
# The number of lines that the first addresses of `JUMPING` are drawn from.
JUMPED = 16_384
STRIDES = {"stride 4": 4, JUMPING: 8}


def addresses(pattern):
    """Returns the addresses of all loads, one row of 32 lanes per load, as offsets from BASE."""
    loads = numpy.arange(LOADS, dtype=numpy.uint32)[:, None]
    lanes = numpy.arange(LANES, dtype=numpy.uint32)[None, :]
    if pattern == "stride 4":
        return 128 * loads % (MIB - 4096) + 4 * lanes
    random = numpy.random.default_rng(1)
    if pattern == JUMPING:
        lines = random.integers(0, JUMPED, LOADS, dtype=numpy.uint32)[:, None]
        return 128 * lines + 8 * lanes
    return random.integers(0, MIB // 4, (LOADS, LANES), dtype=numpy.uint32) * 4


def write_trace(path, pattern, offsets):
    """Writes the loads as a trace of Accel-Sim, one warp per thread block."""
    loads_of_warp = 4096
    with open(path, "w", encoding="ascii") as file:
        print(
            f"-kernel name = {pattern.replace(' ', '_')}\n-kernel id = 1\n"
            f"-grid dim = ({LOADS // loads_of_warp},1,1)\n-block dim = (32,1,1)\n-shmem = 0\n"
            "-nregs = 10\n-binary version = 80\n-cuda stream id = 0\n"
            "-shmem base_addr = 0x00007e0000000000\n-local mem base_addr = 0x00007d0000000000\n"
            "-nvbit version = 1.5.3\n-accelsim tracer version = 3\n",
            file=file,
        )
        deltas = numpy.diff(offsets.astype(numpy.int64), axis=1)
        for block in range(LOADS // loads_of_warp):
            print(f"#BEGIN_TB\n\nthread block = {block},0,0\n\nwarp = 0", file=file)
            print(f"insts = {loads_of_warp}", file=file)
            for load in range(block * loads_of_warp, (block + 1) * loads_of_warp):
                pc = 16 * (load % PROGRAM_COUNTERS)
                first = BASE + int(offsets[load, 0])
                if pattern in STRIDES:
                    form = f"1 {first:#x} {STRIDES[pattern]}"
                else:
                    form = f"2 {first:#x} " + " ".join(map(str, deltas[load]))
                print(f"{pc:04x} ffffffff 1 R1 LDG.E 1 R2 4 {form} ", file=file)
            print("\n#END_TB\n", file=file)


def with_numpy(offsets, pcs):
    """Computes sectors as 32-bit numbers: half the bytes of addresses, so twice the lanes per vector."""
    sectors = numpy.sort(offsets >> 5, axis=1)
    distinct = (sectors[:, 1:] != sectors[:, :-1]).sum(axis=1) + 1
    lines = numpy.unique(offsets >> 7)
    per_pc = numpy.bincount(pcs, weights=distinct, minlength=PROGRAM_COUNTERS)
    return [int(sectors) for sectors in per_pc], len(lines)


def with_polars(frame):
    """Groups one row per lane by load, and then by program counter."""
    sectors = (
        frame.lazy()
        .group_by("load", "pc")
        .agg(distinct=(polars.col("offset") // 32).n_unique())
        .group_by("pc")
        .agg(sectors=polars.col("distinct").sum())
        .sort("pc")
        .collect()
    )
    lines = frame.select((polars.col("offset") // 128).n_unique()).item()
    return sectors["sectors"].to_list(), lines


def with_warpload(warpload, trace):
    """Replays the trace and reads the counts."""
    arguments = [warpload, "replay", trace, "--threads", "1", "--format", "json"]
    out = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
    summary = json.loads(out.splitlines()[0])
    rows = sorted(summary["rows"], key=lambda row: int(row["pc"], 16))
    sectors = [row["global"]["sectors"]["sum"] for row in rows]
    return sectors, summary["footprint"]["lines"]


def seconds(work):
    """Returns the result of the work, and the processor time of this process and of its children."""
    before = processor_time()
    result = work()
    return result, processor_time() - before


def processor_time():
    """Returns the processor time of this process and its ended children in seconds."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def main():
    warpload = sys.argv[1]
    print(f"numpy {numpy.__version__}, polars {polars.__version__}, {LOADS} loads, M loads/s")
    pcs = numpy.arange(LOADS) % PROGRAM_COUNTERS
    for pattern in [*STRIDES, "random in 1 MiB"]:
        offsets = addresses(pattern)
        frame = polars.DataFrame(
            {
                "load": numpy.repeat(numpy.arange(LOADS, dtype=numpy.uint32), LANES),
                "pc": numpy.repeat(pcs.astype(numpy.uint32), LANES),
                "offset": offsets.reshape(-1),
            }
        )
        with tempfile.TemporaryDirectory() as folder:
            text, trace = os.path.join(folder, "loads.traceg"), os.path.join(folder, "loads.wlt")
            write_trace(text, pattern, offsets)
            subprocess.run(
                [warpload, "import", text, "-o", trace], check=True, stdout=subprocess.DEVNULL
            )
            peers = {
                "warpload": lambda: with_warpload(warpload, trace),
                "NumPy": lambda: with_numpy(offsets, pcs),
                "Polars": lambda: with_polars(frame),
            }
            best, results = {}, {}
            for _ in range(ROUNDS):
                for name, work in peers.items():
                    results[name], time_used = seconds(work)
                    best[name] = min(best.get(name, time_used), time_used)
        for name, result in results.items():
            assert result == results["warpload"], f"{name} counts otherwise"
        rates = {name: LOADS / time_used / 1e6 for name, time_used in best.items()}
        for name, rate in rates.items():
            ratio = rates["warpload"] / rate
            print(f"{pattern}: {name} {rate:.2f}, warpload {ratio:.1f} times as fast")


if __name__ == "__main__":
    main()
