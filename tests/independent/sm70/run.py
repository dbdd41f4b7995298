#!/usr/bin/env python3
"""Executes test vectors of SM 7.0 and later, and compares the result with their `final`."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path[0] = str(pathlib.Path(__file__).resolve().parents[1])

from sm70.model import run  # noqa: E402
from warp import vectors  # noqa: E402

if __name__ == "__main__":
    vectors.main(__doc__, run)
