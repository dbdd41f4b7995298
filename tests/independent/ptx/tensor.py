"""Loads from Tensor Memory: `tcgen05.ld` without reductions."""

from dataclasses import dataclass, field

from warp import Refused
from warp.machine import LANES

from .execute import NoValue, executing, mask_of, shown
from .loads import Illegal, Load, destinations, guard_of, offset, place, read_comma
from .rules import check_target, sm_of
from .tokens import Reader

COLUMNS, SLAB, WORD = 512, 32, 0xFFFFFFFF
# Of each shape: registers of a repeat, the lane and the column of thread t's register r.
SHAPES = {
    ".32x32b": (1, lambda t, r: (t, r)),
    ".16x64b": (1, lambda t, r: (t // 4 + 8 * (t % 2), t // 2 % 2 + 2 * r)),
    ".16x128b": (2, lambda t, r: (t // 4 + 8 * (r % 2), t % 4 + 4 * (r // 2))),
    ".16x256b": (4, lambda t, r: (t // 4 + 8 * (r // 2 % 2), r % 2 + 2 * (t % 4) + 8 * (r // 4))),
    ".16x32bx2": (1, lambda t, r: (t % 16, r)),
}
REPEATS = [f".x{1 << power}" for power in range(8)]


@dataclass
class TensorLoad:
    load: Load
    words: list = field(default_factory=list)
    split: int | None = None

    @property
    def shape(self):
        return next((word for word in self.words if word in SHAPES), None)

    @property
    def is_packed(self):
        return ".pack::16b" in self.words

    @property
    def count(self):
        """Returns how many registers a thread gets."""
        repeats = next(int(word[2:]) for word in self.words if word in REPEATS)
        return repeats * SHAPES[self.shape][0]


def hashed(lane, column):
    value = (lane * 512 + column + 1) * 0x9E3779B1 & WORD
    value = (value ^ value >> 15) * 0x85EBCA6B & WORD
    return value ^ value >> 13


def packid(lane, column):
    cell = lane * 512 + column
    return (~cell & 0xFFFF) << 16 | cell


PATTERNS = {
    "lane*65536+col": lambda lane, column: lane * 65536 + column,
    "packid": packid,
    "hash": hashed,
}


def tensor_load_of(statement):
    """Returns the `TensorLoad` of a statement; raises `Illegal` if it is malformed."""
    reader = Reader(statement)
    found = TensorLoad(Load(statement[0].line, *guard_of(reader)))
    reader.expect("tcgen05")
    reader.expect(".ld")
    while reader.kind == "directive":
        found.words.append(reader.next().text)
    if ".red" in found.words:
        raise Refused("a reduction in Tensor Memory")
    found.load.destinations, found.load.is_list = destinations(reader)
    read_comma(reader)
    found.load.place = place(reader)
    if reader.take(","):
        found.split = offset(reader)
    if not reader.is_done:
        raise Illegal("operands")
    return found


def check(tensor, function, module):
    """Raises `Illegal` if a load breaks a rule."""
    check_target(module)
    number, suffix = sm_of(module.target)
    if number not in (100, 101, 103, 110) or not suffix or module.version < (8, 6):
        raise Illegal("needs-target")
    kinds = [(".sync",), (".aligned",), tuple(SHAPES), tuple(REPEATS), (".b32",), (".pack::16b",)]
    for kind in kinds[:5]:
        if not any(word in kind for word in tensor.words):
            raise Illegal("missing-qualifier")
    if any(sum(word in kind for word in tensor.words) > 1 for kind in kinds[1:]):
        raise Illegal("duplicate-qualifier")
    if any(not any(word in kind for kind in kinds) for word in tensor.words):
        raise Illegal("unknown-qualifier")
    if tensor.count > 128:
        raise Illegal("tensor-repeat")
    if (tensor.split is not None) != (tensor.shape == ".16x32bx2"):
        raise Illegal("tensor-offset")
    check_registers(tensor, function, module)


def check_registers(tensor, function, module):
    names = tensor.load.destinations
    if None in names:
        raise Illegal("sink-scalar")
    if len(names) != tensor.count or not tensor.load.is_list:
        raise Illegal("vector-size")
    registers = [function.register(name) for name in names]
    if any(r is None or r.type.bits != 32 or r.elements > 1 for r in registers):
        raise Illegal("destination-width")
    if module.version >= (9, 0) and len(set(names)) < len(names):
        raise Illegal("tensor-register")
    base = function.register(tensor.load.place.name or "")
    if base is None or base.type.bits != 32:
        raise Refused("another address than a register of 32 bits")


def fault_of(tensor, base, warp, is_strict):
    """Returns the code of the first rule of addresses that a load breaks, and the addresses."""
    if tensor.split is not None and not 0 <= tensor.split <= WORD:
        return "split-range", []
    halves = [base] if tensor.split is None else [base, (base + tensor.split) & WORD]
    placed = []
    for half in halves:
        lane, column = half >> 16, half & 0xFFFF
        if is_strict and lane // SLAB != warp % 4:
            return "lane-slab", []
        lane = lane if is_strict else SLAB * (warp % 4) + lane % SLAB
        if lane % (SLAB if tensor.shape == ".32x32b" else 16):
            return "lane-align", []
        last = max(cell[1] for cell in cells(tensor, (0, column))) + tensor.is_packed
        if last >= COLUMNS:
            return "column-range", []
        placed.append((lane, column))
    return None, placed


def cells(tensor, start):
    """Yields the lane and the column of all registers of all threads."""
    for thread in LANES:
        for register in range(tensor.count):
            lane, column = SHAPES[tensor.shape][1](thread, register)
            yield start[0] + lane, start[1] + column * (2 if tensor.is_packed else 1)


def value(tensor, pattern, start, thread, register):
    """Returns what a thread loads into one register."""
    lane, column = SHAPES[tensor.shape][1](thread, register)
    lane += start[0]
    if not tensor.is_packed:
        return pattern(lane, start[1] + column)
    first, second = (pattern(lane, start[1] + 2 * column + at) for at in (0, 1))
    return first & 0xFFFF | (second & 0xFFFF) << 16


def execute(tensor, state, active, question):
    """Executes a load and returns its answer without the line; raises `NoValue` with nothing changed."""
    load = tensor.load
    lanes = executing(state.guard(load.guard, load.is_negated), active)
    empty = {"executing": mask_of(lanes), "registers": {}, "lane_faults": {}}
    if not lanes:
        return empty
    bases = {state.get(load.place.name, lane) for lane in lanes}
    if len(lanes) < 32 or len(bases) > 1 or None in bases or "tensor_memory" not in question:
        raise NoValue
    pattern = PATTERNS.get(question["tensor_memory"])
    if pattern is None:
        raise Refused("a pattern that is not modelled")
    base = (bases.pop() + load.place.offset) & WORD
    is_strict = question.get("lane_mode", "strict") == "strict"
    code, starts = fault_of(tensor, base, question.get("warp", 0), is_strict)
    if code:
        return empty | {"tensor_fault": {"code": code}}
    for thread in LANES:
        start = starts[thread // 16 if len(starts) > 1 else 0]
        for at, name in enumerate(load.destinations):
            state.put(name, thread, value(tensor, pattern, start, thread, at))
    return empty | {"registers": shown(map(state.canonical, load.destinations), state)}
