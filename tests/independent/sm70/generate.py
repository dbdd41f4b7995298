#!/usr/bin/env python3
"""Generates the test vectors of SM 7.0 and later, always the same bytes.

    generate.py FOLDER      writes both files to FOLDER
"""

import json
import lzma
import pathlib
import random
import sys

sys.dont_write_bytecode = True
sys.path[0] = str(pathlib.Path(__file__).resolve().parents[1])

from sm70.plan import Plan  # noqa: E402
from sm70.plan_global import plan_global, plan_matrices, plan_shared  # noqa: E402
from sm70.plan_more import plan_ldc, plan_ldl, plan_uniform  # noqa: E402
from sm70.sms import sm_named  # noqa: E402
from warp.machine import Invalid  # noqa: E402


def ld(plan):
    return plan_global(plan, "ld")


def ldg(plan):
    return plan_global(plan, "ldg")


def ldg256(plan):
    return plan_global(plan, "ldg256")


# (how many, SM, plan)
MAIN = [
    (count, sm, plan) for sm in ("80", "90") for count, plan in ((210, ldg), (160, ld), (130, plan_shared))
]
MORE = [
    *((12, sm, plan_ldl) for sm in ("70", "75", "89", "100", "120")),
    *((10, sm, plan_ldc) for sm in ("70", "75", "89", "100", "120")),
    *((25, sm, plan_uniform) for sm in ("75", "89", "100")),
    (25, "120", plan_uniform),
    *((10, sm, plan_matrices) for sm in ("75", "89", "100", "120")),
    *((17, sm, ldg256) for sm in ("89", "100")),
    (16, "120", ldg256),
    *((7, sm, plan) for sm in ("70", "75") for plan in (ld, ldg)),
    *((4, sm, plan) for sm in ("100", "120") for plan in (ld, ldg)),
    *((4, sm, plan_shared) for sm in ("70", "75", "100", "120")),
]
FILES = {
    "sm70-vectors.jsonl.xz": (20250801, MAIN),
    "sm70-more-vectors.jsonl.xz": (20250802, MORE),
}


def generate(seed, rows):
    """Returns the vectors of `rows`, one JSON object a line."""
    rng = random.Random(seed)
    lines = []
    for count, name, plan_load in rows:
        made = 0
        while made < count:
            plan = Plan(random.Random(rng.getrandbits(64)), sm_named(name))
            try:
                vector = plan.vector(plan_load(plan))
            except Invalid:  # blocks and windows that overlap: plan again
                continue
            vector["name"] = f"{len(lines)}: {vector['name']}"
            lines.append(json.dumps(vector, separators=(",", ":")))
            made += 1
    return "".join(line + "\n" for line in lines)


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, (seed, rows) in FILES.items():
        data = generate(seed, rows).encode()
        (folder / name).write_bytes(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    main()
