"""The replay: every record of a trace, in order."""

from . import inputs
from .common import M64, splitmix64
from .costs import Executed, faults_of, side_of_copy
from .counts import Counts, Row
from .memory import Fill, Image, Windows, matrix_words, words_of
from .opcodes import opcode_of

FIRST = 10


def loaded_words(record, opcode, load, memory):
    """Returns lane -> registers, without the lanes that are outside."""
    data = {
        access.lane: memory.bytes_at(access, opcode.size)
        for access in load.accesses
        if access.outside is None
    }
    if opcode.is_matrix_load:
        return {lane: matrix_words(opcode, lane, data) for lane in record.lanes}
    return {lane: words_of(opcode, found) for lane, found in data.items()}


class KernelState:
    def __init__(self, kernel, options, image):
        self.kernel = kernel
        self.counts = Counts()
        self.windows = Windows(kernel, options, image)
        if image is not None:
            self.memory = image
        elif options.fill != "none":
            self.memory = Fill(options.fill, self.windows)
        else:
            self.memory = None


class Replay:
    def __init__(self, options):
        self.options = options
        self.image = Image(options.image) if options.image else None
        self.total = Counts()
        self.kernels = []
        self.numbers = {}  # id of a Kernel -> its index in `kernels`
        self.opcodes = {}  # opcode text -> first appearance with a memory operand
        self.rows = {}  # (table, kernel index, pc, opcode text) -> Row
        self.digest = 0
        self.first_faults, self.first_mismatches = [], []

    def run(self, path):
        for what, item in inputs.read(path):
            if what == "kernel":
                self.numbers[id(item)] = len(self.kernels)
                self.kernels.append(KernelState(item, self.options, self.image))
            elif what == "opcode":
                self.opcodes.setdefault(item, len(self.opcodes))
            elif what == "skipped":
                for counts in self.counts_of(item):
                    counts.add_skipped(item.kind, item.count)
            else:
                self.record(item)
        return self.as_json()

    def state_of(self, item):
        return self.kernels[self.numbers[id(item.kernel)]]

    def counts_of(self, item):
        return self.total, self.state_of(item).counts

    def record(self, record):
        index = self.total.records if record.index is None else record.index
        opcode = opcode_of(record.opcode)
        if record.has_memory_operand:
            self.opcodes.setdefault(opcode.text, len(self.opcodes))
        kind = opcode.kind if record.has_memory_operand else "other"
        state = self.state_of(record)
        number = self.numbers[id(record.kernel)]
        if kind == "other":
            side = None
            if record.has_memory_operand and opcode.is_copy:
                side = side_of_copy(record, opcode, state.windows, self.image)
            if side is not None:
                key = ("per_pc_copies", number, record.pc, opcode.text)
                self.rows.setdefault(key, Row()).add_copy(side)
            for counts in self.counts_of(record):
                counts.add_skipped("other", 1)
                if record.has_memory_operand and opcode.is_copy:
                    counts.copies.add(record, side)
                elif record.has_memory_operand:
                    counts.add_other(record, opcode)
            return
        executed = Executed(record, opcode, state.windows, self.image)
        table = "per_pc" if kind == "load" else "per_pc_stores"
        key = (table, number, record.pc, opcode.text)
        self.rows.setdefault(key, Row()).add(executed)
        for counts in self.counts_of(record):
            if kind == "load":
                counts.add_load(record, opcode, executed)
            else:
                counts.add_skipped(kind, 1)
                (counts.stores if kind == "store" else counts.atomics).add(executed)
        if kind == "load":
            self.values(index, record, opcode, executed, state)

    def values(self, index, record, opcode, load, state):
        place = {"record": index, "kernel": state.kernel.name, "pc": hex(record.pc)}
        for access in load.accesses:
            for kind in faults_of(access):
                if len(self.first_faults) < FIRST:
                    fault = {"lane": access.lane, "kind": kind, "address": hex(access.effective)}
                    self.first_faults.append({**place, **fault})
        if state.memory is None:
            return
        loaded = {}
        if load.is_attributed and opcode.has_public_values:
            loaded = loaded_words(record, opcode, load, state.memory)
            for lane in record.lanes:
                for i, value in enumerate(loaded.get(lane, [0] * opcode.words)):
                    at = splitmix64((index * 2**13 + lane * 2**8 + i) & M64)
                    self.digest = (self.digest + splitmix64((at + value) & M64)) & M64
        if self.image is not None and record.values is not None:
            self.check(place, record, opcode, loaded)

    def check(self, place, record, opcode, loaded):
        """Compares what the trace says was loaded; lanes outside the image have no word here."""
        compared = wrong = 0
        for register in range(opcode.words):
            for lane, words in sorted(loaded.items()):
                if lane not in record.values or register >= len(record.values[lane]):
                    continue
                expected, got = record.values[lane][register], words[register]
                if record.low_bytes_only and opcode.size < 4:
                    low = expected.to_bytes(4, "little")[: opcode.size]
                    expected = words_of(opcode, low)[0]
                compared += 1
                if expected != got:
                    wrong += 1
                    if len(self.first_mismatches) < FIRST:
                        difference = {
                            "lane": lane,
                            "register": register,
                            "expected": hex(expected),
                            "got": hex(got),
                        }
                        self.first_mismatches.append({**place, **difference})
        for counts in self.counts_of(record):
            counts.add_check(compared, wrong)

    def table(self, name):
        """Returns the rows by kernel, program counter and first appearance of the opcode."""
        keys = [key[1:] for key in self.rows if key[0] == name]
        return [
            self.rows[name, number, pc, text].as_json(
                self.kernels[number].kernel.name, pc, opcode_of(text)
            )
            for number, pc, text in sorted(keys, key=lambda k: (k[0], k[1], self.opcodes[k[2]]))
        ]

    def as_json(self):
        has_image = self.image is not None
        has_data = has_image or self.options.fill != "none"

        answer = self.total.as_json(has_image)
        answer["digest"] = f"{self.digest:016x}" if has_data else None
        answer["per_pc"] = self.table("per_pc")
        answer["per_pc_stores"] = self.table("per_pc_stores")
        answer["per_pc_copies"] = self.table("per_pc_copies")
        answer["kernels"] = [
            {"name": state.kernel.name, **state.counts.as_json(has_image)}
            for state in self.kernels
        ]
        answer["first_faults"] = self.first_faults
        if has_image:
            answer["first_mismatches"] = self.first_mismatches
        return answer
