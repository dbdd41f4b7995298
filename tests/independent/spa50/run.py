#!/usr/bin/env python3
"""Executes test vectors of SPA 5.0, and compares the result with their `final`."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path[0] = str(pathlib.Path(__file__).resolve().parents[1])

from spa50.model import run  # noqa: E402
from warp import vectors  # noqa: E402

if __name__ == "__main__":
    vectors.main(__doc__, run)
