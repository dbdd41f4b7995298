"""Times launches of a module with 5,000 lines of PTX: of a kernel with all of them, and of one with two.

Prints the milliseconds of the first launch of each kernel, and the median, the least and the most of the next ones. A
null pointer ends the long kernel at once, which leaves what a launch costs by itself.
"""

from __future__ import annotations

import statistics
import time

import numpy as np
from warpload.ptx import Kernel, Module

LINES = 5000
LAUNCHES = 200

STEPS = ["add.s32 %r1, %r1, %r2;", "xor.b32 %r2, %r2, %r1;", "mul.lo.s32 %r3, %r1, %r2;", "shl.b32 %r1, %r3, 1;"]
BODY = "".join(f"    {STEPS[number % 4]}\n" for number in range(LINES))
MODULE = f"""
.version 8.0
.target sm_80
.address_size 64
.global .u32 count;
.const .u32 table[64];
.visible .entry long(.param .u64 x) {{
    .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [x];
    setp.eq.u64 %p1, %rd1, 0;
    @%p1 ret;
    ld.global.u32 %r1, [%rd1];
    mov.u32 %r2, %tid.x;
{BODY}    st.global.u32 [%rd1], %r3;
    ret;
}}
.visible .entry tiny(.param .u64 x) {{
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [x];
    st.global.u32 [%rd1], 1;
    ret;
}}
"""


def milliseconds(kernel: Kernel, x: np.ndarray | None) -> float:
    began = time.perf_counter()
    kernel(1, 32, (x,))
    return 1e3 * (time.perf_counter() - began)


def main() -> None:
    began = time.perf_counter()
    module = Module(MODULE)
    print(f"read: {1e3 * (time.perf_counter() - began):.2f} ms")
    x = np.zeros(64, np.uint32)
    for name, argument in (("tiny", x), ("long", x), ("long", None)):
        kernel = module.kernel(name)
        first = milliseconds(kernel, argument)
        times = [milliseconds(kernel, argument) for _ in range(LAUNCHES)]
        median = statistics.median(times)
        ends = "" if argument is x else ", ended at once"
        print(f"{name}{ends}: first {first:.2f} ms, then {median:.2f} ({min(times):.2f} to {max(times):.2f})")


if __name__ == "__main__":
    main()
