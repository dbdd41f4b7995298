"""Decompression.  Python has xz and gzip; zstd only from 3.14 on, else a module or the command."""

import gzip
import lzma
import shutil
import subprocess
import tempfile
import zlib

from .common import BadInput

XZ, GZIP, ZSTD = b"\xfd7zXZ\x00", b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
LARGEST_BLOCK = 1 << 17


class NoZstd(Exception):
    """Nothing here decodes zstd."""


def decode_once(name, data):
    """Returns the content of a compressed file, or `data` itself."""
    try:
        if data.startswith(XZ):
            return lzma.decompress(data)
        if data.startswith(GZIP):
            return gzip.decompress(data)
    except (lzma.LZMAError, zlib.error, EOFError, OSError) as error:
        raise BadInput(f"{name}: {error}") from None
    if data.startswith(ZSTD):
        return zstd_frames(name, data)
    return data


def zstd_frames(name, data):
    """Decodes a stream of frames."""
    plain, at = [], 0
    while at < len(data):
        end, _ = frame(name, data, at)
        plain.append(_decode(name, data[at:end], b""))
        at = end
    return b"".join(plain)


def zstd_frame(name, data, dictionary):
    """Decodes exactly one frame, which must state the size of its content."""
    end, size = frame(name, data, 0)
    if end != len(data):
        raise BadInput(f"{name}: {len(data) - end} bytes after the zstd frame")
    if size is None:
        raise BadInput(f"{name}: the zstd frame does not state the size of its content")
    plain = _decode(name, data, dictionary)
    if len(plain) != size:
        raise BadInput(f"{name}: {len(plain)} bytes in a zstd frame that states {size}")
    return plain


def frame(name, data, at):
    """Walks over a frame (RFC 8878, 3.1.1): returns its end and the size of its content or None."""

    def number(start, length):
        if start + length > len(data):
            raise BadInput(f"{name}: the zstd stream is cut off at byte {len(data)}")
        return int.from_bytes(data[start : start + length], "little")

    start = at
    magic = number(at, 4)
    if magic >> 4 == 0x184D2A5:  # skippable
        end = at + 8 + number(at + 4, 4)
        number(end, 0)
        return end, 0
    if magic != 0xFD2FB528:
        raise BadInput(f"{name}: no zstd frame at byte {at}")
    descriptor = number(at + 4, 1)
    single, checksum = descriptor >> 5 & 1, descriptor >> 2 & 1
    at += 5 + (1 - single) + (0, 1, 2, 4)[descriptor & 3]
    length = (single, 2, 4, 8)[descriptor >> 6]
    size = number(at, length) + (256 if length == 2 else 0) if length else None
    at += length
    blocks = 0
    while True:
        header = number(at, 3)
        kind, stored = header >> 1 & 3, header >> 3
        at += 3 + (1 if kind == 1 else stored)
        blocks += 1
        if kind == 3 or stored > LARGEST_BLOCK:
            raise BadInput(f"{name}: invalid block in the zstd frame at byte {start}")
        if header & 1:
            break
    at += 4 * checksum
    number(at, 0)
    if size is not None and size > blocks * LARGEST_BLOCK:
        raise BadInput(f"{name}: {blocks} zstd blocks cannot hold the {size} bytes stated")
    return at, size


def _decode(name, data, dictionary):
    """Decodes one frame with whatever this machine has."""
    try:
        from compression import zstd  # Python 3.14
    except ImportError:
        zstd = None
    if zstd is not None:
        try:
            chosen = zstd.ZstdDict(dictionary) if dictionary else None
            return zstd.decompress(data, zstd_dict=chosen)
        except zstd.ZstdError as error:
            raise BadInput(f"{name}: zstd: {error}") from None
    command = shutil.which("zstd")
    if command is None:
        raise NoZstd(f"{name}: needs Python 3.14 or the command `zstd`")
    with tempfile.NamedTemporaryFile() as file:
        file.write(dictionary)
        file.flush()
        more = ["-D", file.name] if dictionary else []
        done = subprocess.run([command, "-dcq", *more], input=data, capture_output=True)
    if done.returncode != 0:
        raise BadInput(f"{name}: zstd: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
