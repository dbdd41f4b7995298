"""NVBit's mem_trace: its log in all forms."""

import re

from .common import BadInput, Kernel, Record, triple

START = "MEMTRACE: CTX "
LAUNCH = re.compile(
    r"MEMTRACE: CTX (0x[0-9a-fA-F]+) - LAUNCH - Kernel pc 0x[0-9a-fA-F]+ - Kernel name (.*?)"
    r" - grid launch id ([0-9]+)(?![0-9])"
)
ACCESS = re.compile(
    r"MEMTRACE: CTX (0x[0-9a-fA-F]+) - grid_launch_id ([0-9]+) - CTA ([0-9]+,[0-9]+,[0-9]+)"
    r" - warp [0-9]+ - (\S+) -(.*)"
)
KIND = re.compile(r"MEMTRACE: CTX 0x[0-9a-fA-F]+ - (LAUNCH\b|grid_launch_id\b)")
LAUNCH_LINES = 4


def messages(name, text):
    """Yields (line number, message, lines after it, whether another message interrupts it)."""
    lines = text.split("\n")
    if START in lines[-1]:
        raise BadInput(f"{name}:{len(lines)}: the last line is cut off; expected a newline")
    for i, line in enumerate(lines):
        parts = line.split("MEMTRACE: ")[1:]
        for k, part in enumerate(parts):
            is_last = k + 1 == len(parts)
            yield i + 1, "MEMTRACE: " + part, lines[i + 1 : i + LAUNCH_LINES] if is_last else [], not is_last


def read_log(name, text):
    names, kernels = {}, {}  # by context and launch id, which counts per process or per context
    for number, message, after, is_interrupted in messages(name, text):
        kind = KIND.match(message)
        if not kind:
            continue
        try:
            if kind[1] == "LAUNCH":
                key, launched = launch(message, after)
                names[key] = launched
                kernels.pop(key, None)  # another process, or records before their launch
                continue
            match = ACCESS.match(message)
            if not match:
                raise BadInput("not a record")
            triple(match[3], "CTA")
            listed = addresses(match[5].split())
            key = int(match[1], 16), int(match[2])
            if key not in kernels:
                kernels[key] = Kernel(names.get(key, f"grid launch {key[1]}"))
                yield "kernel", kernels[key]
            yield "record", Record(kernels[key], 0, match[4], True, list(listed), listed)
        except BadInput as error:
            if not is_interrupted:
                raise BadInput(f"{name}:{number}: {error}") from None


def launch(message, after):
    """Returns the launch and its kernel's name, which may be some lines further on."""
    for line in [None, *after]:
        if line is not None:
            if "MEMTRACE: " in line:
                break
            message = f"{message.strip()} {line.strip()}"
        if match := LAUNCH.match(message):
            return (int(match[1], 16), int(match[3])), match[2]
    raise BadInput("not a launch: no kernel name and grid launch id")


def addresses(tokens):
    if len(tokens) != 32:
        raise BadInput(f"{len(tokens)} addresses; expected 32")
    found = {}
    for lane, token in enumerate(tokens):
        if not re.fullmatch(r"0x[0-9a-fA-F]{1,16}", token):
            raise BadInput(f"{token!r} is not an address of 64 bits")
        if int(token, 16) != 0:
            found[lane] = int(token, 16)
    return found
