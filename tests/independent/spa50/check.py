#!/usr/bin/env python3
"""Compares texts with nvdisasm's; exits with 1 if any differs.

    check.py CORPUS...    rows of a word and nvdisasm's text, separated by a tab, after a heading

Each word is decoded and printed; its text is read and encoded again, apart from bits that are not read.
"""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path[0] = str(pathlib.Path(__file__).resolve().parents[1])

from spa50.parse import parse  # noqa: E402
from spa50.text import text  # noqa: E402
from spa50.words import decode, encode  # noqa: E402
from warp import Refused  # noqa: E402


def difference(word, expected):
    """Returns what differs for one row, or `None`."""
    try:
        load = decode(word)
        if text(load) != expected:
            return f"{word:#x}: printed {text(load)!r}, expected {expected!r}"
        if load.bytes is not None and parse(expected) != load:
            return f"{expected!r}: read as {parse(expected)}, expected {load}"
        if decode(encode(load)) != load:
            return f"{word:#x}: encoded as {encode(load):#x}"
    except Refused as reason:
        return f"{word:#x}, {expected!r}: {reason}"
    return None


def main():
    count, differences = 0, []
    for path in sys.argv[1:]:
        for line in pathlib.Path(path).read_text().splitlines()[1:]:
            word, expected = line.split("\t")
            count += 1
            differences.append(difference(int(word, 16), expected.rstrip("; ")))
    differences = [found for found in differences if found]
    print("\n".join(differences[:20]), end="\n" * bool(differences))
    print(f"{count} words, {len(differences)} differences")
    sys.exit(bool(differences))


if __name__ == "__main__":
    main()
