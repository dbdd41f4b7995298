#!/usr/bin/env python3
"""Independent reference for the trace replay of warpload.

Written only from descriptions of the formats and of loads, without reading the project's code.
Works lane by lane and byte by byte with exact integers; deliberately slow and obvious.

    replay.py TRACE [--fill address|zero|none] [--address-bits N]
"""

import argparse
import functools
import json
import lzma
import os
import re
import sys

M64 = (1 << 64) - 1
LANES = range(32)

DEFAULT_SHARED_BASE = 0xFE000000
DEFAULT_LOCAL_BASE = 0xFF000000
WINDOW_SIZE = 0x1000000


class BadInput(Exception):
    """The input is invalid."""


# --------------------------------------------------------------------------------------------
# Numbers
# --------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=1 << 18)
def splitmix64(k):
    z = (k + 0x9E3779B97F4A7C15) & M64
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & M64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & M64
    return z ^ (z >> 31)


def fill_byte(fill, address, local_lane):
    """Returns the byte at a 64-bit address.  local_lane: its lane, None if it is not in local memory."""
    if fill == "zero":
        return 0
    k = (address & M64) >> 3
    if local_lane is not None:
        k = (k + (local_lane << 56)) & M64
    return (splitmix64(k) >> (8 * (address & 7))) & 0xFF


# --------------------------------------------------------------------------------------------
# Opcodes
# --------------------------------------------------------------------------------------------

LOAD_BASES = ("LD", "LDG", "LDL", "LDS", "LDC")
STORE_BASES = ("ST", "STG", "STL", "STS")
# suffix: (bytes, signed)
SIZE_SUFFIXES = {
    "U8": (1, False),
    "S8": (1, True),
    "U16": (2, False),
    "S16": (2, True),
    "64": (8, False),
    "128": (16, False),
}


class Opcode:
    def __init__(self, text):
        self.text = text
        parts = text.split(".")
        self.base = parts[0]
        self.modifiers = parts[1:]
        self.size, self.signed = 4, False
        for part in self.modifiers:
            if part in SIZE_SUFFIXES:
                self.size, self.signed = SIZE_SUFFIXES[part]
                break

    def kind(self, has_memory_operand):
        if not has_memory_operand:
            return "other"
        if self.base in LOAD_BASES:
            return "load"
        if self.base in STORE_BASES:
            return "store"
        if self.base.startswith("ATOM") or self.base == "RED":
            return "atomic"
        return "other"

    def has_uniform_form(self):
        # LDS.U has no observable effect.
        return self.base in ("LD", "LDG") and "U" in self.modifiers and "128" in self.modifiers


@functools.lru_cache(maxsize=None)
def opcode_of(text):
    return Opcode(text)


# --------------------------------------------------------------------------------------------
# What the readers yield: ("kernel", Kernel) and ("record", Record), in file order
# --------------------------------------------------------------------------------------------


class Kernel:
    def __init__(self, name, shared_base=None, local_base=None):
        self.name = name
        self.shared_base = shared_base  # None: not in the trace
        self.local_base = local_base


class Record:
    """One instruction.  width: None if the format has none; addresses: lane -> effective address."""

    def __init__(self, kernel, pc, opcode, has_memory_operand, width, addresses):
        self.kernel = kernel
        self.pc = pc
        self.opcode = opcode
        self.has_memory_operand = has_memory_operand
        self.width = width
        self.addresses = addresses


# --------------------------------------------------------------------------------------------
# Reader: Accel-Sim text
# --------------------------------------------------------------------------------------------


def lanes_of_mask(mask):
    return [lane for lane in LANES if mask >> lane & 1]


class Tokens:
    def __init__(self, line):
        self.items = line.split()
        self.at = 0

    def next(self, what):
        if self.at == len(self.items):
            raise BadInput(f"the line ends; expected {what}")
        self.at += 1
        return self.items[self.at - 1]

    def decimal(self, what):
        token = self.next(what)
        if not re.fullmatch(r"-?[0-9]+", token):
            raise BadInput(f"{what} is not a decimal number: {token!r}")
        return int(token)

    def count(self, what):
        value = self.decimal(what)
        if value < 0:
            raise BadInput(f"{what} is negative: {value}")
        return value

    def hexadecimal(self, what):
        token = self.next(what)
        if not re.fullmatch(r"(0[xX])?[0-9a-fA-F]+", token):
            raise BadInput(f"{what} is not a hexadecimal number: {token!r}")
        value = int(token, 16)
        if value > M64:
            raise BadInput(f"{what} does not fit 64 bits: {token!r}")
        return value

    def left(self):
        return len(self.items) - self.at


def accelsim_line(line, grouped, lineinfo, version, kernel):
    t = Tokens(line)
    if not grouped:
        for what in ("ctax", "ctay", "ctaz", "warp in block"):
            t.count(what)
    if lineinfo:
        t.decimal("source line")
    pc = t.hexadecimal("PC")
    mask = t.hexadecimal("mask")
    if mask >> 32:
        raise BadInput(f"mask has more than 32 bits: {mask:#x}")
    for _ in range(t.count("destination count")):
        t.next("destination register")
    opcode = t.next("opcode")
    for _ in range(t.count("source count")):
        t.next("source register")
    width = t.count("memory width")
    addresses = {}
    if width != 0:
        active = lanes_of_mask(mask)
        mode = t.decimal("address mode")
        if mode == 0:
            for lane in active:
                addresses[lane] = t.hexadecimal("address")
        elif mode == 1:
            base = t.hexadecimal("base address")
            stride = t.decimal("stride")
            # Early tracers of version 3 wrote the stride of the lanes before the guard.
            is_run = all(b == a + 1 for a, b in zip(active, active[1:]))
            if version == 3 and stride != 0 and active and (not is_run or len(active) == 1):
                if active[0] != 0:
                    raise BadInput("a stride over gaps: its first lane is unknown")
                for lane in active:
                    addresses[lane] = (base + lane * stride) & M64
            elif version > 3 and not is_run:
                raise BadInput("a stride over lanes with gaps")
            else:
                for i, lane in enumerate(active):
                    addresses[lane] = (base + i * stride) & M64
        elif mode == 2:
            address = t.hexadecimal("base address")
            for i, lane in enumerate(active):
                if i > 0:
                    address = (address + t.decimal("delta")) & M64
                addresses[lane] = address
        else:
            raise BadInput(f"address mode {mode} is not 0, 1 or 2")
    # The immediate: always from version 5 on, sometimes in version 4, never before.
    allowed = (1,) if version >= 5 else (0, 1) if version == 4 else (0,)
    if t.left() not in allowed:
        raise BadInput(f"{t.left()} tokens after the memory operand; expected {allowed}")
    if t.left():
        t.decimal("immediate")
    return Record(kernel, pc, opcode, width != 0, width, addresses)


def read_accelsim(name, lines):
    header = {}
    grouped = any(line.strip() == "#BEGIN_TB" for line in lines)
    kernel = None
    in_block = False
    insts_left = None  # how many instructions of the current warp are still to come
    version = lineinfo = None
    for number, raw in enumerate(lines, 1):
        line = raw.strip()
        try:
            if not line:
                continue
            if line.startswith("-") and kernel is None:
                key, equals, value = line[1:].partition("=")
                if not equals:
                    raise BadInput("a header line without '='")
                header[key.strip()] = value.strip()
                continue
            if kernel is None:
                version = int(header.get("accelsim tracer version", "0"))
                if version not in (3, 4, 5):
                    raise BadInput(f"tracer version {version} is not one of 3, 4, 5")
                lineinfo = header.get("enable lineinfo", "0") != "0"

                def base(key):
                    return int(header[key], 16) if key in header else None

                kernel = Kernel(
                    header.get("kernel name", ""),
                    base("shmem base_addr"),
                    base("local mem base_addr"),
                )
                yield "kernel", kernel
            if line == "#BEGIN_TB":
                if in_block:
                    raise BadInput("#BEGIN_TB inside a thread block")
                in_block, insts_left = True, None
            elif line == "#END_TB":
                if not in_block:
                    raise BadInput("#END_TB outside a thread block")
                if insts_left:
                    raise BadInput(f"{insts_left} instructions are missing")
                in_block = False
            elif line.startswith("#"):
                pass
            elif grouped and line.startswith("thread block"):
                if not re.fullmatch(r"thread block\s*=\s*\d+,\d+,\d+", line):
                    raise BadInput("not a thread block line")
            elif grouped and line.startswith("warp"):
                if insts_left:
                    raise BadInput(f"{insts_left} instructions are missing")
                if not re.fullmatch(r"warp\s*=\s*\d+", line):
                    raise BadInput("not a warp line")
                insts_left = None
            elif grouped and line.startswith("insts"):
                match = re.fullmatch(r"insts\s*=\s*(\d+)", line)
                if not match:
                    raise BadInput("not an insts line")
                insts_left = int(match[1])
            else:
                if grouped:
                    if not in_block or not insts_left:
                        raise BadInput("unexpected instruction")
                    insts_left -= 1
                yield "record", accelsim_line(line, grouped, lineinfo, version, kernel)
        except BadInput as error:
            raise BadInput(f"{name}:{number}: {error}") from None
    if in_block:
        raise BadInput(f"{name}: the file ends inside a thread block")
    if kernel is None:
        raise BadInput(f"{name}: the file ends inside the header")


# --------------------------------------------------------------------------------------------
# Readers: NVBit mem_trace, log and JSON
# --------------------------------------------------------------------------------------------

LAUNCH = re.compile(
    r"MEMTRACE: CTX (0x[0-9a-fA-F]+) - LAUNCH - Kernel pc 0x[0-9a-fA-F]+ - Kernel name (.*)"
    r" - grid launch id (\d+) - grid size .*"
)
ACCESS = re.compile(
    r"MEMTRACE: CTX (0x[0-9a-fA-F]+) - grid_launch_id (\d+) - CTA \d+,\d+,\d+ - warp \d+"
    r" - (\S+) - (.*)"
)


def addresses_without_mask(values):
    if len(values) != 32:
        raise BadInput(f"{len(values)} addresses; expected 32")
    return {lane: value for lane, value in enumerate(values) if value != 0}


def read_memtrace_log(name, lines):
    kernels = {}
    for number, raw in enumerate(lines, 1):
        line = raw.strip()
        if not line.startswith("MEMTRACE:"):
            continue
        try:
            if match := LAUNCH.fullmatch(line):
                key = (int(match[1], 16), int(match[3]))
                if key in kernels:
                    raise BadInput(f"grid launch {key[1]} is launched a second time, or after its records")
                kernels[key] = Kernel(match[2])
                yield "kernel", kernels[key]
            elif match := ACCESS.fullmatch(line):
                key = (int(match[1], 16), int(match[2]))
                if key not in kernels:
                    kernels[key] = Kernel(f"grid launch {key[1]}")
                    yield "kernel", kernels[key]
                addresses = addresses_without_mask([int(token, 16) for token in match[4].split()])
                yield "record", Record(kernels[key], 0, match[3], True, None, addresses)
            else:
                raise BadInput("neither a LAUNCH nor an access line")
        except (BadInput, ValueError) as error:
            raise BadInput(f"{name}:{number}: {error}") from None


def read_memtrace_json(name, text):
    try:
        rows = json.loads(text)
    except json.JSONDecodeError:
        rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    if isinstance(rows, dict):
        rows = [rows]
    kernels = {}
    for number, row in enumerate(rows):
        key = (row.get("cuda_ctx"), row["grid_launch_id"])
        if key not in kernels:
            kernels[key] = Kernel(f"grid launch {row['grid_launch_id']}")
            yield "kernel", kernels[key]
        try:
            addresses = addresses_without_mask(row["addrs"])
        except BadInput as error:
            raise BadInput(f"{name}: object {number}: {error}") from None
        yield "record", Record(
            kernels[key], row["instr_offset"], row["instr_opcode"], True, None, addresses
        )


# --------------------------------------------------------------------------------------------
# Which reader: by content
# --------------------------------------------------------------------------------------------


def read_text(path):
    with open(path, "rb") as file:
        data = file.read()
    if data.startswith(b"\xfd7zXZ\x00"):
        data = lzma.decompress(data)
    return data.decode("utf-8")


def read_kernelslist(path, lines):
    folder = os.path.dirname(path)
    for line in lines:
        line = line.strip()
        if not line or line.startswith("MemcpyHtoD"):
            continue  # irrelevant: without an image every address is allocated
        yield from read_trace(os.path.join(folder, line))


def read_trace(path):
    text = read_text(path)
    lines = text.split("\n")
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith(("[", "{")):
        yield from read_memtrace_json(path, text)
    elif any(line.startswith("MEMTRACE:") for line in lines):
        yield from read_memtrace_log(path, lines)
    elif first.startswith("-"):
        yield from read_accelsim(path, lines)
    else:
        yield from read_kernelslist(path, lines)


# --------------------------------------------------------------------------------------------
# One lane of one load
# --------------------------------------------------------------------------------------------


class Windows:
    def __init__(self, kernel, options):
        shared = options.shared_window
        local = options.local_window
        if shared is None:
            base = DEFAULT_SHARED_BASE if kernel.shared_base is None else kernel.shared_base
            shared = (base, WINDOW_SIZE)
        if local is None:
            base = DEFAULT_LOCAL_BASE if kernel.local_base is None else kernel.local_base
            local = (base, WINDOW_SIZE)
        self.shared_base, self.shared_size = shared
        self.local_base, self.local_size = local
        self.top = 1 << options.address_bits
        # A configuration error in ld.md; only a remark here, since the rules below still apply.
        if max(sum(shared), sum(local)) > self.top:
            print(f"remark: {kernel.name}: a window lies above 2^address_bits", file=sys.stderr)
        if shared[0] < sum(local) and local[0] < sum(shared):
            print(f"remark: {kernel.name}: the windows overlap", file=sys.stderr)

    def in_shared(self, address):
        return self.shared_base <= address < self.shared_base + self.shared_size

    def in_local(self, address):
        return self.local_base <= address < self.local_base + self.local_size


class LaneResult:
    """lane, effective address, rounded address, space (or None), outside (None or the kind),
    misaligned, fill_address: the address for the fill."""


def resolve_lane(opcode, lane, effective, windows):
    r = LaneResult()
    r.lane = lane
    r.effective = effective
    r.rounded = effective - effective % opcode.size
    r.misaligned = r.rounded != effective
    r.outside = None
    if opcode.base == "LD":
        plg = not windows.in_shared(r.rounded)
        r.space = None
        if plg:
            if windows.in_local(r.rounded):
                r.space = "local"
            elif windows.in_shared(r.rounded):
                r.outside = "outside_window"
            elif r.rounded >= windows.top:
                r.outside = "outside_window"
            else:
                r.space = "global"
        else:
            if windows.in_shared(r.rounded):
                r.space = "shared"
            else:
                r.outside = "outside_window"
        r.fill_address = r.rounded
    elif opcode.base == "LDG":
        r.space = "global"
        if r.rounded >= windows.top:
            r.outside = "outside_allocation"
        r.fill_address = r.rounded
    elif opcode.base == "LDS":
        r.space = "shared"
        r.fill_address = (windows.shared_base + r.rounded) & M64
    elif opcode.base == "LDL":
        r.space = "local"
        r.fill_address = (windows.local_base + r.rounded) & M64
    else:
        assert opcode.base == "LDC"
        r.space = "constant"
        r.fill_address = r.rounded
    return r


def destination_words(opcode, result, fill):
    """Returns the 32-bit register values of the lane, lowest register first."""
    words = max(1, opcode.size // 4)
    if result.outside is not None:
        return [0] * words
    owner = result.lane if result.space == "local" else None
    data = [fill_byte(fill, result.fill_address + n, owner) for n in range(opcode.size)]
    value = sum(byte << (8 * n) for n, byte in enumerate(data))
    if opcode.signed and value >> (8 * opcode.size - 1):
        value -= 1 << (8 * opcode.size)
    value &= (1 << (32 * words)) - 1
    return [value >> (32 * i) & 0xFFFFFFFF for i in range(words)]


def takes_broadcast(results):
    if not results:
        return False
    return (
        all(r.outside is None for r in results)
        and len({r.rounded for r in results}) == 1
        and len({r.space for r in results}) == 1
        and results[0].space in ("global", "shared")
    )


# --------------------------------------------------------------------------------------------
# Counts
# --------------------------------------------------------------------------------------------


def no_faults():
    return {"outside_window": 0, "outside_allocation": 0, "misaligned_address": 0}


class Counts:
    def __init__(self):
        self.records = 0
        self.loads = 0
        self.skipped = {"store": 0, "atomic": 0, "other": 0}
        self.lanes = 0
        self.bytes = 0
        self.by_opcode = {}
        self.by_space = {"global": 0, "local": 0, "shared": 0, "constant": 0, "unresolved": 0}
        self.sectors = 0
        self.lines = 0
        self.ideal_sectors = 0
        self.lane_faults = no_faults()
        self.uniform = {"broadcast": 0, "divergent": 0}
        self.page_set = set()
        self.line_set = set()
        self.width_disagreements = 0
        self.not_replayed = {}
        self.ldgsts = {"records": 0, "lanes": 0}

    def add_other(self, record, opcode):
        """Counts what reads memory but is not replayed by name, LDGSTS separately."""
        if opcode.base == "LDGSTS":
            self.ldgsts["records"] += 1
            self.ldgsts["lanes"] += len(record.addresses)
        elif opcode.base.startswith(("LD", "ULD")):
            self.not_replayed[opcode.base] = self.not_replayed.get(opcode.base, 0) + 1

    def add_load(self, record, opcode, load):
        self.loads += 1
        self.lanes += len(load.results)
        self.bytes += opcode.size * len(load.results)
        self.by_opcode[opcode.text] = self.by_opcode.get(opcode.text, 0) + 1
        first = load.results[0].space if load.results else None
        self.by_space["unresolved" if first is None else first] += 1
        self.sectors += len(load.sector_set)
        self.lines += len(load.line_set)
        self.ideal_sectors += load.ideal_sectors
        for kind, n in load.lane_faults.items():
            self.lane_faults[kind] += n
        if opcode.has_uniform_form() and load.results:
            self.uniform["broadcast" if takes_broadcast(load.results) else "divergent"] += 1
        self.page_set |= load.page_set
        self.line_set |= load.line_set
        if record.width is not None and record.width != opcode.size:
            self.width_disagreements += 1

    def as_json(self):
        return {
            "records": self.records,
            "loads": self.loads,
            "skipped": {**self.skipped, "not_replayed": self.not_replayed},
            "ldgsts": self.ldgsts,
            "lanes": self.lanes,
            "bytes": self.bytes,
            "by_opcode": self.by_opcode,
            "by_space": self.by_space,
            "sectors": self.sectors,
            "lines": self.lines,
            "ideal_sectors": self.ideal_sectors,
            "lane_faults": self.lane_faults,
            "uniform": self.uniform,
            "footprint": {"pages": len(self.page_set), "lines": len(self.line_set)},
            "width_disagreements": self.width_disagreements,
        }


class Load:
    """One executed load: its lanes and its traffic."""

    def __init__(self, opcode, addresses, windows):
        self.results = [
            resolve_lane(opcode, lane, addresses[lane], windows) for lane in sorted(addresses)
        ]
        self.lane_faults = no_faults()
        self.sector_set, self.line_set, self.page_set = set(), set(), set()
        byte_set = set()
        for r in self.results:
            if r.misaligned:
                self.lane_faults["misaligned_address"] += 1
            if r.outside is not None:
                self.lane_faults[r.outside] += 1
            elif r.space == "global":
                for n in range(opcode.size):
                    byte = r.rounded + n
                    byte_set.add(byte)
                    self.sector_set.add(byte // 32)
                    self.line_set.add(byte // 128)
                    self.page_set.add(byte // 4096)
        self.ideal_sectors = (len(byte_set) + 31) // 32


class PcRow:
    def __init__(self):
        self.loads = 0
        self.lanes = 0
        self.sectors = []
        self.ideal_sectors = 0
        self.lane_faults = no_faults()

    def add_load(self, load):
        self.loads += 1
        self.lanes += len(load.results)
        self.sectors.append(len(load.sector_set))
        self.ideal_sectors += load.ideal_sectors
        for kind, n in load.lane_faults.items():
            self.lane_faults[kind] += n


# --------------------------------------------------------------------------------------------
# The replay
# --------------------------------------------------------------------------------------------


def replay(path, options):
    fill = options.fill
    total = Counts()
    kernels = []  # (Kernel, Counts, Windows), in order
    kernel_number = {}  # id(Kernel) -> index
    opcode_number = {}  # opcode text -> first appearance in the whole trace
    rows = {}  # (kernel index, pc, opcode text) -> PcRow
    first_faults = []
    digest = 0
    for what, item in read_trace(path):
        if what == "kernel":
            kernel_number[id(item)] = len(kernels)
            kernels.append((item, Counts(), Windows(item, options)))
            continue
        index = total.records
        number = kernel_number[id(item.kernel)]
        kernel, counts, windows = kernels[number]
        opcode = opcode_of(item.opcode)
        opcode_number.setdefault(opcode.text, len(opcode_number))
        total.records += 1
        counts.records += 1
        kind = opcode.kind(item.has_memory_operand)
        if kind != "load":
            total.skipped[kind] += 1
            counts.skipped[kind] += 1
            if kind == "other" and item.has_memory_operand:
                total.add_other(item, opcode)
                counts.add_other(item, opcode)
            continue

        load = Load(opcode, item.addresses, windows)
        total.add_load(item, opcode, load)
        counts.add_load(item, opcode, load)
        rows.setdefault((number, item.pc, opcode.text), PcRow()).add_load(load)

        for r in load.results:
            kinds = (["misaligned_address"] if r.misaligned else []) + (
                [r.outside] if r.outside is not None else []
            )
            for fault in kinds:
                if len(first_faults) < 10:
                    first_faults.append(
                        {
                            "record": index,
                            "kernel": kernel.name,
                            "pc": hex(item.pc),
                            "lane": r.lane,
                            "kind": fault,
                            "address": hex(r.effective),
                        }
                    )
            if fill != "none":
                for i, value in enumerate(destination_words(opcode, r, fill)):
                    place = splitmix64((index * 2**13 + r.lane * 2**8 + i) & M64)
                    digest = (digest + splitmix64((place + value) & M64)) & M64

    per_pc = []
    for number, pc, text in sorted(rows, key=lambda k: (k[0], k[1], opcode_number[k[2]])):
        row = rows[number, pc, text]
        per_pc.append(
            {
                "kernel": kernels[number][0].name,
                "pc": hex(pc),
                "opcode": text,
                "loads": row.loads,
                "lanes": row.lanes,
                "sectors": {
                    "min": min(row.sectors),
                    "mean": sum(row.sectors) / row.loads,
                    "max": max(row.sectors),
                },
                "ideal_sectors": row.ideal_sectors,
                "lane_faults": row.lane_faults,
            }
        )
    answer = total.as_json()
    answer["digest"] = None if fill == "none" else f"{digest:016x}"
    answer["per_pc"] = per_pc
    answer["kernels"] = [{"name": k.name, **c.as_json()} for k, c, _ in kernels]
    answer["first_faults"] = first_faults
    return answer


def window_argument(text):
    base, _, size = text.partition(",")
    return int(base, 0), int(size, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", metavar="TRACE")
    parser.add_argument("--fill", choices=("address", "zero", "none"), default="none")
    parser.add_argument("--address-bits", type=int, default=49)
    parser.add_argument("--shared-window", type=window_argument, metavar="BASE,SIZE")
    parser.add_argument("--local-window", type=window_argument, metavar="BASE,SIZE")
    options = parser.parse_args()
    try:
        answer = replay(options.trace, options)
    except (BadInput, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    print(json.dumps(answer, ensure_ascii=False))


if __name__ == "__main__":
    main()
