"""Where a lane's access goes, and what is there: windows, fills, a memory image."""

import json
import os

from .common import BadInput, M64, hexadecimal, splitmix64
from .opcodes import ROW

DEFAULT_SHARED_BASE = 0xFE000000
DEFAULT_LOCAL_BASE = 0xFF000000
WINDOW_SIZE = 0x1000000


class Windows:
    """The windows of a kernel: of the image, of the command line, of the trace, or the defaults."""

    def __init__(self, kernel, options, image):
        bits = options.address_bits or 49
        if image is not None:
            shared, local, bits = image.shared_window, image.local_window, image.address_bits
        else:
            own = (kernel.shared_base, kernel.local_base)
            shared = options.shared_window or window(own[0], DEFAULT_SHARED_BASE)
            local = options.local_window or window(own[1], DEFAULT_LOCAL_BASE)
        self.shared_base, self.shared_size = shared
        self.local_base, self.local_size = local
        self.top = 1 << bits

    def in_shared(self, address):
        return self.shared_base <= address < self.shared_base + self.shared_size

    def shared_offset(self, address):
        """Returns the offset of an address of shared memory, `None` if it is none."""
        if address < self.shared_size:
            return address
        return address - self.shared_base if self.in_shared(address) else None

    def in_local(self, address):
        return self.local_base <= address < self.local_base + self.local_size


def window(base, default):
    return (default if base is None else base, WINDOW_SIZE)


class Access:
    """One lane's access.

    space: None if the address has none.  offset: in the space; of global memory, the address.
    outside: None, or the kind of fault that keeps the lane from loading."""

    def __init__(self, opcode, lane, effective, windows, image, plg=None):
        self.lane = lane
        self.effective = effective
        self.rounded = effective - effective % opcode.size
        self.misaligned = self.rounded != effective
        self.outside = None
        self.space = opcode.space
        self.offset = self.rounded
        if opcode.space == "generic":
            self.resolve(windows, plg)
        elif opcode.space == "global" and self.rounded >= windows.top:
            self.outside = "outside_allocation"
        if self.outside is None and image is not None:
            if image.bytes_at(self, opcode.size) is None:
                self.outside = "outside_allocation"

    def resolve(self, windows, plg):
        """Finds the space of a generic address.

        Plg chooses it; the compiled code makes it false for addresses in the shared window."""
        in_shared = windows.in_shared(self.rounded)
        if plg is None:
            plg = not in_shared
        if in_shared and not plg:
            self.space, self.offset = "shared", self.rounded - windows.shared_base
        elif not plg or in_shared:
            self.space, self.outside = None, "outside_window"
        elif windows.in_local(self.rounded):
            self.space, self.offset = "local", self.rounded - windows.local_base
        elif self.rounded >= windows.top:
            self.space, self.outside = None, "outside_window"
        else:
            self.space = "global"


def words_of(opcode, data):
    """Returns the destination registers for the bytes of an access."""
    value = int.from_bytes(data, "little", signed=opcode.signed)
    return [value >> (32 * i) & 0xFFFFFFFF for i in range(opcode.words)]


def matrix_words(opcode, lane, rows):
    """Returns a lane's registers, one for each matrix.

    rows: lane -> the bytes of its row; the others are zero."""

    def element(matrix, row, column):
        data = rows.get(8 * matrix + row, bytes(ROW))
        return data[2 * column] | data[2 * column + 1] << 8

    major, minor = lane // 4, 2 * (lane % 4)
    words = []
    for matrix in range(opcode.words):
        if opcode.is_transposed:
            low, high = element(matrix, minor, major), element(matrix, minor + 1, major)
        else:
            low, high = element(matrix, major, minor), element(matrix, major, minor + 1)
        words.append(low | high << 16)
    return words


class Fill:
    """Memory whose bytes are a function of their addresses; everything is allocated."""

    def __init__(self, kind, windows):
        self.kind, self.windows = kind, windows

    def bytes_at(self, access, size):
        base = {"shared": self.windows.shared_base, "local": self.windows.local_base}
        start = access.offset + base.get(access.space, 0)
        owner = access.lane << 56 if access.space == "local" else 0
        return bytes(self.byte(start + n, owner) for n in range(size))

    def byte(self, address, owner):
        if self.kind == "zero":
            return 0
        k = (((address & M64) >> 3) + owner) & M64
        return splitmix64(k) >> (8 * (address & 7)) & 0xFF


class Image:
    """A memory image: the manifest of docs/vectors.md."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            manifest = json.load(file)
        self.folder = os.path.dirname(path)
        self.address_bits = manifest.get("address_bits", 40)
        windows = manifest.get("windows", {})
        self.shared_window = self.window(windows.get("shared"), DEFAULT_SHARED_BASE)
        self.local_window = self.window(windows.get("local"), DEFAULT_LOCAL_BASE)
        memory = manifest.get("memory", {})
        self.regions = [
            (hexadecimal(entry["base"], "base"), self.content(entry)) for entry in memory.get("global", [])
        ]
        self.shared = self.content(memory["shared"]) if "shared" in memory else b""
        local = memory.get("local", {})
        self.low = self.by_lane(local)
        self.high = self.by_lane(local.get("high", {}))
        banks = {entry["bank"]: self.content(entry) for entry in memory.get("constant", [])}
        self.constant = banks.get(0, b"")

    @staticmethod
    def window(entry, default):
        if entry is None:
            return (default, WINDOW_SIZE)
        return (hexadecimal(entry["base"], "base"), hexadecimal(entry["size"], "size"))

    def content(self, entry):
        if "hex" in entry:
            return bytes.fromhex(entry["hex"])
        with open(os.path.join(self.folder, entry["file"]), "rb") as file:
            data = file.read()
        start = entry.get("offset", 0)
        end = start + entry["length"] if "length" in entry else len(data)
        if end > len(data):
            raise BadInput(f"{entry['file']} ends before byte {end}")
        return data[start:end]

    def by_lane(self, entry):
        size = entry.get("bytes_per_lane", 0)
        data = self.content(entry) if size else b""
        return [data[lane * size : (lane + 1) * size] for lane in range(32)]

    def bytes_at(self, access, size):
        """Returns the bytes, or None if not all of them are allocated together."""
        if access.space == "global":
            parts = self.regions
        elif access.space == "shared":
            parts = [(0, self.shared)]
        elif access.space == "constant":
            parts = [(0, self.constant)]
        else:
            low, high = self.low[access.lane], self.high[access.lane]
            start = self.local_window[1] - len(high)
            # Parts that touch are one.
            parts = [(0, low + high)] if len(low) == start else [(0, low), (start, high)]
        for base, data in parts:
            start = access.offset - base
            if 0 <= start and start + size <= len(data):
                return data[start : start + size]
        return None
