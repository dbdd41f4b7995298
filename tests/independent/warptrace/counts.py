"""The counts of a trace, of a kernel and of a row by program counter."""

from .costs import FAULTS

GLOBAL_SIDE = ("bytes", "sectors", "ideal_sectors")
SHARED_SIDE = ("wavefronts", "conflicts")
SPACES = ("global", "local", "shared", "constant", "unresolved")


class Traffic:
    """Stores or atomics, or the global side of copies."""

    def __init__(self):
        self.count = self.lanes = self.bytes = self.sectors = self.ideal_sectors = 0

    def add(self, executed):
        self.count += 1
        self.lanes += executed.lanes
        self.bytes += executed.bytes
        self.sectors += len(executed.sectors)
        self.ideal_sectors += executed.ideal_sectors

    def as_json(self):
        return {
            "count": self.count,
            "lanes": self.lanes,
            "bytes": self.bytes,
            "sectors": self.sectors,
            "ideal_sectors": self.ideal_sectors,
        }


class Copies:
    """LDGSTS: copies from global to shared memory, whose two sides are records of their own."""

    def __init__(self):
        self.records = self.lanes = 0
        self.of_global = Traffic()
        self.of_shared = Costs()
        self.shared_records = 0

    def add(self, record, side):
        """side: the executed side, `None` if it is unknown."""
        self.records += 1
        self.lanes += len(record.lanes)
        if side is None:
            return
        if side.space == "global":
            self.of_global.add(side)
        else:
            self.shared_records += 1
            self.of_shared.add(side)

    def as_json(self):
        has_global = self.of_global.count > 0 or self.records == 0
        has_shared = self.shared_records > 0 or self.records == 0
        traffic = self.of_global.as_json()
        shared = self.of_shared.as_json()["shared"]
        return {
            "records": self.records,
            "lanes": self.lanes,
            **{key: traffic[key] if has_global else None for key in GLOBAL_SIDE},
            **{key: shared[key] if has_shared else None for key in SHARED_SIDE},
        }


class Costs:
    """Shared, local and constant memory."""

    def __init__(self):
        self.wavefronts, self.ideal_wavefronts, self.conflicts = [], 0, 0
        self.has_shared_words = False
        self.local_loads = self.local_sectors = self.local_ideal = 0
        self.constant_loads = self.constant_addresses = 0

    def add(self, load):
        if load.shared is not None:
            self.wavefronts.append(load.shared[0])
            self.ideal_wavefronts += load.shared[1]
            self.conflicts += load.shared[2]
            self.has_shared_words |= load.shared[3]
        if load.local is not None:
            self.local_loads += 1
            self.local_sectors += load.local[0]
            self.local_ideal += load.local[1]
        if load.constant is not None:
            self.constant_loads += 1
            self.constant_addresses += load.constant

    def as_json(self, wavefronts=sum):
        return {
            "shared": {
                "loads": len(self.wavefronts),
                "wavefronts": wavefronts(self.wavefronts),
                "ideal_wavefronts": self.ideal_wavefronts,
                "conflicts": self.conflicts,
            },
            "local": {
                "loads": self.local_loads,
                "sectors": self.local_sectors,
                "ideal_sectors": self.local_ideal,
            },
            "constant": {"loads": self.constant_loads, "addresses": self.constant_addresses},
        }


def spread(values):
    if not values:
        return {"min": 0, "mean": 0.0, "max": 0}
    return {"min": min(values), "mean": sum(values) / len(values), "max": max(values)}


class Counts:
    def __init__(self):
        self.records = self.loads = self.lanes = self.bytes = 0
        self.skipped = {"store": 0, "atomic": 0, "other": 0}
        self.not_replayed = {}
        self.by_opcode = {}
        self.by_space = {space: 0 for space in SPACES}
        self.sectors = self.lines = self.ideal_sectors = 0
        self.lane_faults = {kind: 0 for kind in FAULTS}
        self.uniform = {"broadcast": 0, "divergent": 0}
        self.pages_touched, self.lines_touched = set(), set()
        self.width_disagreements = self.unattributable = self.valued_loads = 0
        self.copies = Copies()
        self.tma = {"records": 0, "addresses": 0, "bytes": 0}
        self.costs = Costs()
        self.stores, self.atomics = Traffic(), Traffic()
        self.checked = self.mismatches = self.checked_words = self.mismatched_words = 0

    def add_skipped(self, kind, count):
        self.records += count
        self.skipped[kind] += count

    def add_other(self, record, opcode):
        """Counts what is known of an instruction with a memory operand that is no copy."""
        if opcode.is_transfer:
            self.tma["records"] += 1
            if record.transfer is not None:
                self.tma["addresses"] += record.transfer.addresses
                self.tma["bytes"] += record.transfer.size
        elif opcode.base.startswith(("LD", "ULD")):
            self.not_replayed[opcode.base] = self.not_replayed.get(opcode.base, 0) + 1

    def add_load(self, record, opcode, load):
        self.records += 1
        self.loads += 1
        self.lanes += load.lanes
        self.bytes += load.bytes
        self.by_opcode[opcode.text] = self.by_opcode.get(opcode.text, 0) + 1
        self.by_space[load.space] += 1
        self.sectors += len(load.sectors)
        self.lines += len(load.lines)
        self.ideal_sectors += load.ideal_sectors
        for kind, n in load.faults.items():
            self.lane_faults[kind] += n
        if opcode.may_broadcast and load.accesses:
            self.uniform["broadcast" if load.takes_broadcast() else "divergent"] += 1
        self.pages_touched |= load.pages
        self.lines_touched |= load.lines
        # Tracers write the width of a matrix's element.
        self.width_disagreements += (
            not opcode.is_matrix_load and record.width is not None and record.width != opcode.size
        )
        self.unattributable += not load.is_attributed
        self.valued_loads += record.has_values
        self.costs.add(load)

    def add_check(self, words, mismatched):
        self.checked += 1
        self.checked_words += words
        self.mismatched_words += mismatched
        self.mismatches += mismatched > 0

    def as_json(self, has_image):
        found = {
            "records": self.records,
            "loads": self.loads,
            "skipped": {**self.skipped, "not_replayed": self.not_replayed},
            "ldgsts": self.copies.as_json(),
            "tma": self.tma,
            "lanes": self.lanes,
            "bytes": self.bytes,
            "by_opcode": self.by_opcode,
            "by_space": self.by_space,
            "sectors": self.sectors,
            "lines": self.lines,
            "ideal_sectors": self.ideal_sectors,
            "lane_faults": self.lane_faults,
            "uniform": self.uniform,
            "footprint": {"pages": len(self.pages_touched), "lines": len(self.lines_touched)},
            "width_disagreements": self.width_disagreements,
            "unattributable": self.unattributable,
            "valued_loads": self.valued_loads,
            **self.costs.as_json(),
            "stores": self.stores.as_json(),
            "atomics": self.atomics.as_json(),
        }
        if has_image:
            for key in ("checked", "mismatches", "checked_words", "mismatched_words"):
                found[key] = getattr(self, key)
        return found


class Row:
    """Loads, stores and atomics, or copies of one program counter."""

    def __init__(self):
        self.lanes = 0
        self.sectors = []
        self.ideal_sectors = 0
        self.lane_faults = {kind: 0 for kind in FAULTS}
        self.costs = Costs()

    def add(self, executed):
        self.lanes += executed.lanes
        self.sectors.append(len(executed.sectors))
        self.ideal_sectors += executed.ideal_sectors
        for kind, n in executed.faults.items():
            self.lane_faults[kind] += n
        self.costs.add(executed)

    def add_copy(self, side):
        """Counts the shared side of copies apart from their global side."""
        if side.space == "global":
            self.add(side)
        else:
            self.costs.add(side)

    def as_json(self, kernel, pc, opcode):
        found = {
            "kernel": kernel,
            "pc": hex(pc),
            "opcode": opcode.text,
            "loads": len(self.sectors),
            "lanes": self.lanes,
            "sectors": spread(self.sectors),
            "ideal_sectors": self.ideal_sectors,
            "lane_faults": self.lane_faults,
        }
        # Generic addresses have the memories that they are in.
        for space, cost in self.costs.as_json(spread).items():
            if space == opcode.space or cost["loads"]:
                found[space] = cost
        if opcode.kind == "atomic" and self.costs.has_shared_words:
            # How lanes take turns at a word is not known.
            found["shared"] |= {"wavefronts": None, "conflicts": None}
        return found
