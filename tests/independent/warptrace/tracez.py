"""Accel-Sim's `.tracez`: header text, a byte 0, compressed chunks of lines, an index."""

import struct

from .accelsim import Header
from .common import BadInput, utf8
from .compressed import zstd_frame

LARGEST_HEADER = 1 << 20
LARGEST_DICTIONARY = 1 << 16


class Bytes:
    """A part of the file, read from its start on."""

    def __init__(self, name, data, at, end):
        self.name, self.data, self.at, self.end = name, data, at, end

    def take(self, length, what):
        if length > self.end - self.at:
            self.bad(f"{what} of {length} bytes, {self.end - self.at} are left")
        self.at += length
        return self.data[self.at - length : self.at]

    def numbers(self, form, what):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form), what))

    def number(self, what):
        return self.numbers("I", what)[0]

    def room_for(self, count, size, what):
        if count * size > self.end - self.at:
            self.bad(f"{count} {what} do not fit in the {self.end - self.at} bytes left")

    def bad(self, message):
        raise BadInput(f"{self.name}: byte {self.at}: {message}")


def read(name, data):
    nul = data.find(b"\0", 0, LARGEST_HEADER)
    if nul < 0:
        raise BadInput(f"{name}: no end of the header in 1 MiB")
    header = read_header(name, data[:nul])
    yield "kernel", header.kernel
    file = Bytes(name, data, nul + 1, len(data))
    dictionary_size = file.number("dictionary size")
    chunk_lines = file.number("instructions of a chunk")
    if dictionary_size > LARGEST_DICTIONARY:
        file.bad(f"dictionary of {dictionary_size} bytes")
    dictionary = file.take(dictionary_size, "dictionary")
    end = len(data) - 8
    if end - 4 < file.at:
        file.bad("no index")
    (index_at,) = struct.unpack_from("<Q", data, end)
    if not file.at <= index_at <= end - 4:
        file.bad(f"index at {index_at}")
    body = Bytes(name, data, file.at, index_at)
    for cta, warp, insts, offset, chunks in index(Bytes(name, data, index_at, end), header, chunk_lines):
        if offset != body.at:
            body.bad(f"warp {warp} of {cta} at {offset}")
        if body.numbers("II", "warp") != (insts, len(chunks)):
            body.bad(f"warp {warp} of {cta} has other counts than in the index")
        for lines in chunks:
            size = body.number("size of a chunk")
            place = f"{name}: byte {body.at}"
            text = zstd_frame(place, body.take(size, "chunk"), dictionary)
            found = utf8(text, place).split("\n")
            if len(found) != lines:
                raise BadInput(f"{place}: {len(found)} lines in a chunk of {lines}")
            for number, line in enumerate(found, 1):
                try:
                    yield "record", header.instruction(line.split(), 0, warp)
                except BadInput as error:
                    raise BadInput(f"{place}: line {number}: {error}") from None
    if body.at != index_at:
        body.bad("bytes between the last warp and the index")


def read_header(name, text):
    header = Header()
    lines = utf8(text, name).split("\n")
    if lines.pop():
        raise BadInput(f"{name}: the header's last line is cut off")
    for number, line in enumerate(lines, 1):
        line = line.strip()
        try:
            if line.startswith("-"):
                header.add(line)
            elif line and not line.startswith("#"):
                raise BadInput("neither a header line nor a comment")
        except BadInput as error:
            raise BadInput(f"{name}:{number}: {error}") from None
    try:
        header.finish()
    except BadInput as error:
        raise BadInput(f"{name}: {error}") from None
    return header


def index(rows, header, chunk_lines):
    """Yields (cta, warp, insts, offset, lines of each chunk), as the index states them."""
    blocks = rows.number("number of thread blocks")
    if blocks > header.grid[0] * header.grid[1] * header.grid[2]:
        rows.bad(f"{blocks} thread blocks in a grid {header.grid}")
    rows.room_for(blocks, 44, "thread blocks")
    found, seen = [], set()
    for _ in range(blocks):
        cta = rows.numbers("10I", "thread block")[:3]
        warps = rows.number("number of warps")
        try:
            header.check_cta(cta)
        except BadInput as error:
            rows.bad(str(error))
        if cta in seen:
            rows.bad(f"thread block {cta} for the second time")
        if warps != header.warps:
            rows.bad(f"{warps} warps in a block of {header.warps}")
        seen.add(cta)
        for warp in range(warps):
            insts, count = rows.numbers("II", "warp")
            (offset,) = rows.numbers("Q", "offset")
            rows.room_for(count, 4, "chunks")
            lines = list(rows.numbers(f"{count}I", "lines"))
            if sum(lines) != insts or 0 in lines:
                rows.bad(f"chunks of {lines} lines for {insts} instructions")
            if chunk_lines == 0 and count > 1 or any(n < chunk_lines for n in lines[:-1]):
                rows.bad(f"chunks of {lines} lines where {chunk_lines} are stated")
            found.append((cta, warp, insts, offset, lines))
    if rows.at != rows.end:
        rows.bad("bytes after the index")
    return found
