"""What an opcode's text says: kind, space, size, sign, matrices."""

import functools

LOADS = {
    "LD": "generic",
    "LDG": "global",
    "LDL": "local",
    "LDS": "shared",
    "LDSM": "shared",
    "LDC": "constant",
}
STORES = {"ST": "generic", "STG": "global", "STL": "local", "STS": "shared"}
TRANSFERS = ("UTMALDG", "UTMASTG", "UTMAPF", "UTMAREDG", "UBLKCP", "UBLKPF", "UBLKRED")
ROW = 16  # bytes of a row of a matrix
# suffix: (bytes, signed)
SIZES = {
    "U8": (1, False),
    "S8": (1, True),
    "U16": (2, False),
    "S16": (2, True),
    "64": (8, False),
    "128": (16, False),
    "256": (32, False),
}
ATOMIC_SIZES = {
    **SIZES,
    **dict.fromkeys(("U64", "S64", "F64", "F32x2", "F16x4", "BF16x4"), (8, False)),
    **dict.fromkeys(("F16x2", "BF16x2", "BF16_V2"), (4, False)),
    **dict.fromkeys(("F32x4", "F16x8", "BF16x8"), (16, False)),
}


class Opcode:
    """An opcode with its modifiers.

    size: bytes of a lane's access.  received: bytes that a lane's registers receive.
    address_lanes: how many lanes, from lane 0 on, give addresses.
    has_public_values: it is public which lane receives which bytes."""

    def __init__(self, text):
        self.text = text
        self.base, *self.modifiers = text.split(".")
        if self.base in LOADS:
            self.kind, self.space = "load", LOADS[self.base]
        elif self.base in STORES:
            self.kind, self.space = "store", STORES[self.base]
        elif self.base in ("RED", "REDG") or self.base.startswith("ATOM"):
            self.kind = "atomic"
            # ATOM and RED are operations on generic memory (CUDA Binary Utilities, tables of SASS).
            spaces = {"ATOMG": "global", "REDG": "global", "ATOMS": "shared"}
            self.space = spaces.get(self.base, "generic")
        else:
            self.kind, self.space = "other", None
        sizes = ATOMIC_SIZES if self.kind == "atomic" else SIZES
        self.size, self.signed = next((sizes[m] for m in self.modifiers if m in sizes), (4, False))
        self.received, self.address_lanes, self.has_public_values = self.size, 32, True
        self.is_matrix_load = self.base == "LDSM"
        if self.is_matrix_load:
            self.set_matrices()
        self.is_transfer = self.base in TRANSFERS
        self.is_copy = self.base == "LDGSTS"
        # LDS.U has no observable effect.
        self.may_broadcast = (
            self.base in ("LD", "LDG") and "U" in self.modifiers and "128" in self.modifiers
        )

    def set_matrices(self):
        """Reads `.sz.shape{.count}`: lanes give rows, and receive parts of all matrices."""
        count = next((int(m) for m in self.modifiers if m in ("2", "4")), 1)
        is_wide = "MT1616" in self.modifiers
        self.size = ROW
        self.received = count * (8 if is_wide else 4)
        self.address_lanes = min(32, count * (16 if is_wide else 8))
        self.is_transposed = "MT88" in self.modifiers
        self.has_public_values = "16" in self.modifiers and (
            self.is_transposed or "M88" in self.modifiers
        )

    @property
    def words(self):
        """Returns how many registers a load writes."""
        return max(1, self.received // 4)


@functools.lru_cache(maxsize=None)
def opcode_of(text):
    return Opcode(text)
