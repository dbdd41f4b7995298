#!/usr/bin/env python3
"""Independent reference for the trace replay of warpload.

Written only from descriptions of the formats and of loads, without reading the project's code.
Works lane by lane and byte by byte with exact integers; deliberately slow and obvious.

    replay.py TRACE [--fill address|zero|none | --image MANIFEST] [--address-bits N]
"""

import argparse
import json
import sys

sys.dont_write_bytecode = True

from warptrace.common import BadInput  # noqa: E402
from warptrace.compressed import NoZstd  # noqa: E402
from warptrace.replay import Replay  # noqa: E402

NO_ZSTD = 77  # the exit status by which test drivers know a skipped test


def window_argument(text):
    base, _, size = text.partition(",")
    return int(base, 0), int(size, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", metavar="TRACE")
    parser.add_argument("--fill", choices=("address", "zero", "none"), default="none")
    parser.add_argument("--image", metavar="MANIFEST")
    parser.add_argument("--address-bits", type=int)
    parser.add_argument("--shared-window", type=window_argument, metavar="BASE,SIZE")
    parser.add_argument("--local-window", type=window_argument, metavar="BASE,SIZE")
    options = parser.parse_args()
    try:
        answer = Replay(options).run(options.trace)
    except (BadInput, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except NoZstd as skipped:
        print(f"skipped: {skipped}", file=sys.stderr)
        sys.exit(NO_ZSTD)
    print(json.dumps(answer, ensure_ascii=False))


if __name__ == "__main__":
    main()
