"""Which reader: by content, never by name."""

import json
import os
import re

from . import accelsim, cutracer, exported, nvbit, tracez
from .common import BadInput, utf8
from .compressed import decode_once

CONFIGURATION = ("-trace_", "-gpgpu_", "-icnt_", "-network_")
LISTED = re.compile(r"(Memcpy|cuda)[A-Za-z0-9]*,|\S.*\.(trace|traceg|tracez)(\.xz|\.gz|\.zst)?$")
ROW = re.compile(r"[A-Za-z0-9_]+,")


def read(path, may_be_list=True):
    """Yields what the readers yield, in the order of the trace."""
    with open(path, "rb") as file:
        data = decode_once(path, file.read())
    name = os.path.basename(path)
    if data.startswith(b"-kernel name = ") and b"\0" in data:
        return tracez.read(name, data)
    text = utf8(data, name)
    first = next((line.strip() for line in text.split("\n") if line.strip()), "")
    if first.startswith("-kernel name"):
        return accelsim.read(name, text)
    if first.startswith(CONFIGURATION):
        raise BadInput(f"{name}:1: a simulator's configuration, not a trace")
    if re.match(r'\{\s*"trace"\s*:', first):
        return exported.read(name, text)
    if is_cutracer(first):
        return by_launch(cutracer.read(name, text))
    if re.match(r"CTX 0x[0-9a-fA-F]+ - kernel_launch_id", first):
        return by_launch(cutracer.read_text(name, text))
    if nvbit.START in text:  # behind any text of the program
        return by_launch(nvbit.read_log(name, text))
    if first.startswith(("{", "[")):
        return by_launch(nvbit.read_json(name, text))
    if first.startswith("-"):
        return accelsim.read(name, text)
    if LISTED.match(first):
        if not may_be_list:
            raise BadInput(f"{name}: a kernel list inside a kernel list")
        return kernel_list(path, text)
    raise BadInput(f"{name}: no known format")


def by_launch(items):
    """Yields the records launch by launch: they are numbered so if launches run at the same time.

    (docs/traces.md numbers them by blocks; launches of more than one block may alternate.)"""
    kernels, records = [], {}
    for what, item in items:
        if what == "kernel":
            kernels.append(item)
            records[id(item)] = []
        else:
            records[id(item.kernel)].append((what, item))
            yield "opcode", item.opcode  # in the order of the file
    for kernel in kernels:
        yield "kernel", kernel
        yield from records[id(kernel)]


def is_cutracer(first):
    if not first.startswith("{"):
        return False
    try:
        return "type" in json.loads(first)
    except json.JSONDecodeError:
        return False


def kernel_list(path, text):
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        if not line or ROW.match(line):
            continue  # allocations: without an image every address is allocated
        named = os.path.join(os.path.dirname(path), line)
        try:
            items = read(named, may_be_list=False)
        except OSError as error:
            raise BadInput(f"{os.path.basename(path)}:{number}: {line}: {error.strerror}") from None
        yield from items
