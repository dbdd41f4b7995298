"""The SMs of 128-bit words and their groups (V, T, A, H, B)."""

import re
from dataclasses import dataclass

GROUPS = {
    "V": (70, 72),
    "T": (75,),
    "A": (80, 86, 87, 88, 89),
    "H": (90,),
    "B": (100, 101, 103, 107, 110, 120, 121),
}


@dataclass(frozen=True)
class Sm:
    """One SM: its number without suffix (`90` for 9.0a) and its group."""

    number: int
    group: str

    @property
    def urz(self):
        """The number of the uniform zero register; `None` without uniform registers."""
        return {"V": None, "B": 255}.get(self.group, 63)

    @property
    def ur_bits(self):
        """The width of a uniform register field."""
        return 8 if self.group == "B" else 6

    @property
    def is_12(self):
        return self.number in (120, 121)

    @property
    def has_ldcu_256(self):
        """Whether LDCU is that of 12.x; 10.7 has it, too."""
        return self.is_12 or self.number == 107

    def among(self, groups):
        return self.group in groups


def sm_named(name):
    """Returns the SM of a name such as `80`, `SM90a` or `sm_120f`."""
    match = re.fullmatch(r"(?:sm_?)?(\d+)[af]?", name, re.IGNORECASE)
    number = int(match.group(1)) if match else -1
    for group, numbers in GROUPS.items():
        if number in numbers:
            return Sm(number, group)
    raise ValueError(f"unknown SM {name!r}")
