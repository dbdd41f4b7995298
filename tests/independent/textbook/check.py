#!/usr/bin/env python3
"""Checks replay.py against the numbers of expected.json, which are computed by hand."""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent


def differences(got, expected, at):
    """Yields the differences of all that is in `expected`."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for key, value in expected.items():
            yield from differences(got.get(key), value, f"{at}.{key}")
    elif isinstance(expected, list) and isinstance(got, list) and len(got) == len(expected):
        for i, value in enumerate(expected):
            yield from differences(got[i], value, f"{at}[{i}]")
    elif got != expected:
        yield f"{at}: expected {expected}, got {got}"


def main():
    failed = False
    for name, expected in json.loads((HERE / "expected.json").read_text()).items():
        command = [sys.executable, HERE.parent / "replay.py", HERE / f"{name}.traceg"]
        got = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        for difference in differences(got, expected, name):
            print(difference)
            failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
