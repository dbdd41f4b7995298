"""Checks and lowers PTX, and looks at what a load of Tensor Memory reads.

    python ptx_and_tensor_memory.py
"""

import numpy as np

from warpload import ptx, tmem

MODULE = """
.version 8.7
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 from)
{
    .reg .b64 %rd<3>;
    .reg .b32 %r<5>;
    ld.param.u64 %rd1, [from];
    ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1+16];
    ld.global.v3.u32 {%r1, %r2, %r3}, [%rd1];
    ret;
}
"""


def main() -> None:
    check = ptx.check(MODULE)
    for load in check:
        verdict = "; ".join(one.rule for one in load.violations) or "legal"
        print(f"line {load.line}: {load.text}: {verdict}")
    legal = "\n".join(line for line in MODULE.splitlines() if ".v3" not in line)
    for load in ptx.lower(legal):
        print(load.text, "becomes", ", ".join(map(str, load.sass)) or "a constant operand")

    loaded = tmem.run("tcgen05.ld.sync.aligned.16x64b.x2.b32 {r0, r1}, [taddr];")
    cells = tmem.map("16x64b", 2)
    # The pattern says where a value comes from: its lane times 65,536, plus its column.
    values = np.array([[cell.lane * 65536 + cell.columns[0] for cell in cells]]).reshape(32, 2)
    print("as the map says:", bool((loaded.registers.T == values).all()))


if __name__ == "__main__":
    main()
