"""The text of a load as nvdisasm prints it."""

from .words import PT, RZ, offset_of

SIZES = ".U8", ".S8", ".U16", ".S16", "", ".64", ".128", ".U.128"
COPS = {"LD": ("", ".CG", ".CI", ".CV"), "LDG": ("", ".CG", ".CI", ".CV"), "LDL": ("", ".LU", ".CI", ".CV")}
MODES = "", ".IL", ".IS", ".ISL"


def register(number):
    return "RZ" if number == RZ else f"R{number}"


def predicate(number):
    return "PT" if number == PT else f"P{number}"


def size(load):
    """Returns the modifier of the size."""
    if load.bytes is None:
        return f".INVALIDSIZE{load.get('size')}"
    if load.get("u") and load.get("size") == 4:
        return ".32"
    return SIZES[load.get("size")]


def address(load):
    """Returns what is in the brackets."""
    offset = offset_of(load, load.has_base)
    number = f"-{-offset:#x}" if offset < 0 else f"{offset:#x}"
    if load.has_base:
        return register(load.get("ra")) + (f"+{number}" if offset else "")
    return number if offset or load.name == "LDC" else "RZ"


def text(load):
    """Returns the load's text, without a semicolon."""
    guard, negated = load.get("guard"), load.get("guard_not")
    front = "" if guard == PT and not negated else f"@{'!' * negated}{predicate(guard)} "
    modifiers = ".E" * load.get("e") + ".U" * load.get("u")
    if load.name in COPS:
        modifiers += COPS[load.name][load.get("cop")]
    modifiers += size(load) + MODES[load.get("mode")]
    where = f"[{address(load)}]"
    if load.name == "LDC":
        where = f"c[{load.get('bank'):#x}]{where}"
    plg = "" if load.get("plg", PT) == PT else f", {predicate(load.get('plg'))}"
    return f"{front}{load.name}{modifiers} {register(load.get('rd'))}, {where}{plg}"
