"""Which reader: by content, never by name."""

import json
import os
import re

from . import accelsim, cutracer, exported, nvbit, tracez
from .common import BadInput, utf8
from .compressed import decode_once

CONFIGURATION = ("-trace_", "-gpgpu_", "-icnt_", "-network_")
LISTED = re.compile(r"(Memcpy|cuda)[A-Za-z0-9]*,|\S.*\.(trace|traceg|tracez)(\.xz|\.gz|\.zst)?$")
NAME = re.compile(r"\S.*\.(trace|traceg|tracez)$|\S.*\.(xz|gz|zst)$")
ALLOCATION = re.compile(r"(MemcpyHtoD|cudaMalloc),\s*0x[0-9a-fA-F]+,\s*[0-9]+$")
ROW = re.compile(r"(?!MemcpyHtoD,|cudaMalloc,)(Memcpy|cuda)[A-Za-z0-9]*,")
BLOCK = 4096


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
    if nvbit.START in text:  # behind any text of the program
        return by_launch(nvbit.read_log(name, text))
    if first.startswith("-"):
        return accelsim.read(name, text)
    if LISTED.match(first):
        if not may_be_list:
            raise BadInput(f"{name}: a kernel list inside a kernel list")
        return kernel_list(path, text)
    raise BadInput(f"{name}: no known format")


def by_launch(items):
    """Yields the records block by block: they are numbered so if launches run at the same time.

    A block has up to 4,096 records of one launch, and blocks are in the order of their first records: a full
    one ends those that began before it."""
    blocks, ended = {}, []  # of each launch, with the number of its first record
    for number, (what, item) in enumerate(items):
        if what == "kernel":
            yield what, item
            continue
        yield "opcode", item.opcode  # in the order of the file
        first, block = blocks.setdefault(id(item.kernel), (number, []))
        block.append((what, item))
        if len(block) == BLOCK:
            for key in sorted(blocks, key=lambda key: blocks[key][0]):
                if blocks[key][0] <= first:
                    ended.append(blocks.pop(key)[1])
    ended.extend(block for _, block in sorted(blocks.values(), key=lambda pair: pair[0]))
    for block in ended:
        yield from block


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
        if not line or ALLOCATION.match(line) or ROW.match(line) and not NAME.match(line):
            continue  # allocations: without an image every address is allocated
        if "," in line and not NAME.match(line):
            raise BadInput(f"{os.path.basename(path)}:{number}: {line!r} is neither a name nor a row")
        named = os.path.join(os.path.dirname(path), line)
        try:
            items = read(named, may_be_list=False)
        except OSError as error:
            raise BadInput(f"{os.path.basename(path)}:{number}: {line}: {error.strerror}") from None
        yield from items
