"""What one load, store or copy costs: sectors, wavefronts, distinct addresses."""

from types import SimpleNamespace

from .memory import Access

FAULTS = ("outside_window", "outside_allocation", "misaligned_address")


class Executed:
    """One executed load, store, atomic or side of a copy: its lanes and its traffic."""

    def __init__(self, record, opcode, windows, image):
        self.lanes = len(record.lanes)
        self.bytes = opcode.received * self.lanes
        self.is_attributed = record.addresses is not None
        self.accesses = [
            Access(opcode, lane, address, windows, image, plg_of(record, lane))
            for lane, address in sorted((record.addresses or {}).items())
            if lane < opcode.address_lanes
        ]
        self.faults = {
            kind: sum(kind in faults_of(access) for access in self.accesses) for kind in FAULTS
        }
        inside = [access for access in self.accesses if access.outside is None]

        def of(space):
            return [access for access in inside if access.space == space]

        self.space = self.space_of(opcode)
        self.bytes_touched = {a.offset + n for a in of("global") for n in range(opcode.size)}
        self.sectors = {byte // 32 for byte in self.bytes_touched}
        self.lines = {byte // 128 for byte in self.bytes_touched}
        self.pages = {byte // 4096 for byte in self.bytes_touched}
        self.ideal_sectors = -(-len(self.bytes_touched) // 32)
        # None: the load has no lane in the space.
        self.shared = shared_cost(of("shared"), opcode.size) if of("shared") else None
        self.local = local_cost(of("local"), opcode.size) if of("local") else None
        self.constant = len({a.offset for a in of("constant")}) if of("constant") else None

    def space_of(self, opcode):
        """Returns the key of `by_space`."""
        if not self.is_attributed:
            return "unresolved" if opcode.space == "generic" else opcode.space
        if opcode.space != "generic":
            return opcode.space if self.lanes else "unresolved"
        first = self.accesses[0].space if self.accesses else None
        return first or "unresolved"

    def takes_broadcast(self):
        return (
            all(access.outside is None for access in self.accesses)
            and len({(access.rounded, access.space) for access in self.accesses}) == 1
            and self.accesses[0].space in ("global", "shared")
        )


def side_of_copy(record, opcode, windows, image):
    """Returns the executed side of a copy, global or shared; `None` if it is unknown."""
    if not record.addresses:
        return None
    offsets = {lane: windows.shared_offset(a) for lane, a in record.addresses.items()}
    space = "global" if None in offsets.values() else "shared"
    side = SimpleNamespace(
        lanes=record.lanes,
        addresses=record.addresses if space == "global" else offsets,
        plg=None,
    )
    return Executed(side, plain_access(opcode.size, space), windows, image)


def plain_access(size, space):
    """Returns what `Executed` asks of an opcode that has no matrices."""
    return SimpleNamespace(size=size, received=size, address_lanes=32, space=space)


def plg_of(record, lane):
    return None if record.plg is None else bool(record.plg >> lane & 1)


def faults_of(access):
    """Returns the kinds of fault of a lane, in the order of their report."""
    found = ["misaligned_address"] if access.misaligned else []
    return found + ([access.outside] if access.outside is not None else [])


def words_of_access(access, size):
    """Returns the numbers of the 4-byte words that an access touches."""
    return range(access.offset // 4, (access.offset + size - 1) // 4 + 1)


def shared_cost(accesses, size):
    """Returns (wavefronts, ideal wavefronts, bank conflicts, whether lanes of a group share a word)."""
    lanes_of_group = {8: 16, 16: 8, 32: 4}.get(size, 32)
    wavefronts = conflicts = 0
    is_shared = False
    for first in range(0, 32, lanes_of_group):
        banks = {}
        for access in accesses:
            if first <= access.lane < first + lanes_of_group:
                for word in words_of_access(access, size):
                    is_shared |= word in banks.get(word % 32, ())
                    banks.setdefault(word % 32, set()).add(word)
        if banks:
            most = max(len(words) for words in banks.values())
            wavefronts += most
            conflicts += most - 1
    distinct = {word for access in accesses for word in words_of_access(access, size)}
    return wavefronts, -(-len(distinct) // 32), conflicts, is_shared


def local_cost(accesses, size):
    """Returns (sectors, ideal sectors): word w of lane l is at w * 32 + l."""
    places = {(word, a.lane) for a in accesses for word in words_of_access(a, size)}
    return len({(word, lane // 8) for word, lane in places}), -(-len(places) // 8)
