"""Modules that are launched several times."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
import warpload as wl
from warpload.ptx import Kernel, Module

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"

# `count` adds to a variable, `read` stores it, and `spin` adds to it and does not end.
COUNTER = (
    HEAD
    + """
.global .u32 count = 5;
.const .u32 step = 1;
.global .align 8 .u64 self = generic(count);
.visible .entry count_up() {
    .reg .b32 %r<3>;
    ld.global.u32 %r1, [count]; ld.const.u32 %r2, [step];
    add.u32 %r1, %r1, %r2; st.global.u32 [count], %r1;
    ret;
}
.visible .entry read(.param .u64 out) {
    .reg .b32 %r<2>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out]; ld.global.u64 %rd2, [self];
    ld.u32 %r1, [%rd2]; st.global.u32 [%rd1], %r1;
    ret;
}
.visible .entry spin(.param .u64 out) {
    .reg .b32 %r<2>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out]; st.global.u32 [%rd1], 1; st.global.u32 [count], 100;
    mov.u32 %r1, 0;
again:
    add.u32 %r1, %r1, 1;
    bra again;
}"""
)

# Stores the addresses of both arrays, and of a variable.
ADDRESSES = (
    HEAD
    + """
.global .u32 variable;
.visible .entry addresses(.param .u64 a, .param .u64 b) {
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];
    mov.u64 %rd3, variable; cvta.global.u64 %rd3, %rd3;
    st.global.u64 [%rd2], %rd1; st.global.u64 [%rd2+8], %rd2; st.global.u64 [%rd2+16], %rd3;
    ret;
}
.visible .entry clustered(.param .u64 a, .param .u64 b) {
    .reg .b32 %r<2>;
    barrier.cluster.arrive;
    ret;
}"""
).replace("sm_80", "sm_90")


def count(module: Module) -> int:
    out = np.zeros(1, np.uint32)
    assert module.kernel("read")(1, 1, (out,)).ok
    return int(out[0])


def test_a_module_says_what_it_has(root: Path) -> None:
    module = Module(COUNTER)
    assert module.kernels == ["count_up", "read", "spin"]
    assert [(one.name, one.type, one.bytes) for one in module.globals] == [
        ("count", ".u32", 4),
        ("step", ".u32", 4),
        ("self", ".u64", 8),
    ]
    assert module.file == "<text>"
    assert repr(module) == "Module('<text>': count_up, read, spin)"
    path = root / "benches/kernels/saxpy.ptx"
    for given in (path, path.read_text(), path.read_bytes()):
        assert Module(given).kernels == ["saxpy", "saxpy_inc"]
    assert Module(path).file == str(path)
    assert Module(HEAD).kernels == Module(HEAD).globals == []
    with pytest.raises(wl.Error) as raised:
        Module(HEAD + ".entry k(\n")
    assert raised.value.kind == "syntax"


def test_kernels_have_their_module() -> None:
    module = Module(COUNTER)
    kernel = module.kernel("read")
    assert isinstance(kernel, Kernel) and kernel.module is module
    assert Kernel(module, "read").module is module
    assert repr(kernel) == "Kernel('<text>', 'read': .u64)"
    assert kernel.globals == module.globals
    assert Kernel(COUNTER, "read").module is not Kernel(COUNTER, "read").module
    assert Kernel(COUNTER, "read").module.kernels == module.kernels
    with pytest.raises(wl.Error, match="several kernels.*count_up, read, spin"):
        module.kernel()
    with pytest.raises(wl.Error, match="no kernel `write`; the module has count_up, read, spin"):
        module.kernel("write")
    assert Module(HEAD + ".entry k() { ret; }").kernel().name == "k"


def test_variables_live_on() -> None:
    count_up = Kernel(COUNTER, "count_up")
    launches = [count_up(1, 1) for _ in range(3)]
    # Each result is a copy.
    assert [int(one.globals["count"].view(np.uint32)[0]) for one in launches] == [6, 7, 8]
    assert count(count_up.module) == 8
    # Another module has its own.
    assert count(Module(COUNTER)) == 5


def test_kernels_share_variables_and_reset_clears_them() -> None:
    module = Module(COUNTER)
    first, second = module.kernel("count_up"), Kernel(module, "count_up")
    first(1, 1)
    second(1, 1)
    assert count(module) == 7
    # An initial value that is an address, too.
    before = first(1, 1, globals={"self": 0}).globals
    assert not before["self"].any()
    module.reset()
    assert count(module) == 5
    assert first(1, 1).ok and count(module) == 6


def test_values_of_a_launch_stay_for_the_next_ones() -> None:
    module = Module(COUNTER)
    count_up = module.kernel("count_up")
    kept = count_up(1, 1, globals={"count": 20, "step": 3}).globals
    count_up(1, 1)
    assert count(module) == 26
    # The values after the first launch, again.
    count_up(1, 1, globals=kept)
    assert count(module) == 26
    module.reset()
    count_up(1, 1)
    assert count(module) == 6


def test_launches_have_the_same_addresses() -> None:
    module = Module(ADDRESSES)
    kernel = module.kernel("addresses")

    def addresses(bytes_of_a: int) -> list[int]:
        b = np.zeros(3, np.uint64)
        kernel(1, 1, (np.zeros(bytes_of_a, np.uint8), b)).raise_for_faults()
        return b.tolist()

    known = addresses(100)
    assert addresses(100) == known
    assert addresses(100_000)[2] == known[2]
    assert addresses(100) == known
    with pytest.raises(wl.Error, match="cluster"):
        module.kernel("clustered")(1, 1, (np.zeros(100), np.zeros(3)))
    with pytest.raises(wl.Error, match="a block of 2000"):
        kernel(1, 2000, (np.zeros(100), np.zeros(3)))
    module.reset()
    assert addresses(100) == known


def test_an_array_of_an_earlier_launch_is_out_of_bounds() -> None:
    text = (
        HEAD
        + """
.global .u64 kept;
.visible .entry keep(.param .u64 x) {
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [x]; st.global.u64 [kept], %rd1;
    ret;
}
.visible .entry use() {
    .reg .b64 %rd<2>;
    ld.global.u64 %rd1, [kept]; st.global.u32 [%rd1], 1;
    ret;
}"""
    )
    module = Module(text)
    module.kernel("keep")(1, 1, (np.zeros(4),)).raise_for_faults()
    assert [fault.kind for fault in module.kernel("use")(1, 1).faults] == ["out_of_bounds"]


def test_memory_of_malloc_lives_on() -> None:
    text = (
        HEAD
        + """
.extern .func (.param .b64 result) malloc(.param .b64 bytes);
.global .u64 node;
.visible .entry make() {
    .reg .b64 %rd<3>;
    { .param .b64 n; st.param.b64 [n], 16; .param .b64 r;
      call.uni (r), malloc, (n); ld.param.b64 %rd1, [r]; }
    st.u32 [%rd1], 42; st.global.u64 [node], %rd1;
    ret;
}
.visible .entry use(.param .u64 out) {
    .reg .b32 %r<2>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out]; ld.global.u64 %rd2, [node];
    ld.u32 %r1, [%rd2]; st.global.u32 [%rd1], %r1;
    ret;
}"""
    )
    module, out = Module(text), np.zeros(1, np.uint32)
    module.kernel("make")(1, 1).raise_for_faults()
    module.kernel("use")(1, 1, (out,)).raise_for_faults()
    assert out[0] == 42


def test_a_launch_that_fails_leaves_the_module_usable() -> None:
    module, out = Module(COUNTER), np.zeros(1, np.uint32)
    spin, count_up = module.kernel("spin"), module.kernel("count_up")
    # It is refused before it begins.
    with pytest.raises(wl.Error, match="a block of 2000"):
        count_up(1, 2000, globals={"count": 9})
    with pytest.raises(wl.Error, match="`count` has 4 bytes, 8 are given"):
        count_up(1, 1, globals=Module(COUNTER.replace(".u32 count", ".u64 count")).kernel("count_up")(1, 1).globals)
    assert count(module) == 5
    # It is given up: the variable has its store, and the array has not.
    with pytest.raises(wl.Error, match="has not ended"):
        spin(1, 1, (out,), steps=1000)
    assert count(module) == 100 and out[0] == 0
    count_up(1, 1).raise_for_faults()
    assert count(module) == 101
    module.reset()
    assert count(module) == 5


def test_unknown_bytes_of_an_earlier_launch_are_findings_of_later_ones() -> None:
    text = COUNTER.replace("st.global.u32 [%rd1], 1;", "st.global.u32 [step2], %r1; ret;")
    text = text.replace(".const .u32 step", ".global .u32 step2;\n.const .u32 step")
    module = Module(text)
    launch = module.kernel("spin")(1, 1, (None,))
    assert [(one.name, one.cause) for one in launch.unknown] == [("step2", "nothing has written `%r1`")]
    later = module.kernel("count_up")(1, 1)
    assert not later.ok
    assert [(one.name, one.cause) for one in later.unknown] == [("step2", "an earlier launch has left it unknown")]
    module.reset()
    assert module.kernel("count_up")(1, 1).ok


def test_a_module_is_judged_once_and_only_if_asked() -> None:
    module = Module(COUNTER.replace("ld.const.u32 %r2, [step]", "ld.cons.u32 %r2, [step]"))
    count_up = module.kernel("count_up")
    for _ in range(2):
        with pytest.raises(wl.Error) as raised:
            count_up(1, 1)
        assert (raised.value.kind, raised.value.line) == ("illegal", 10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not count_up(1, 1, allow_illegal=True).ok


def test_launches_of_one_module_follow_each_other() -> None:
    module = Module(COUNTER)

    def launch() -> None:
        kernel = module.kernel("count_up")
        for _ in range(25):
            kernel(1, 1)

    threads = [threading.Thread(target=launch) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Without turns, increments would be lost.
    assert count(module) == 105


def run(program: str) -> str:
    """The output of a program that has `COUNTER`, and `spin`, a launch that does not end."""
    head = f"""
import os, signal, threading, _thread
import numpy as np
import warpload as wl
from warpload.ptx import Module
COUNTER = '''{COUNTER}'''
module = Module(COUNTER)
def spin():
    module.kernel("spin")(1, 1, (None,), steps=1 << 60)
"""
    done = subprocess.run([sys.executable, "-c", head + program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_other_modules_do_not_wait_and_a_wait_can_be_interrupted() -> None:
    program = """
threading.Thread(target=spin, daemon=True).start()
other = Module(COUNTER)
print(other.kernel("count_up")(1, 1).ok, flush=True)
for wait in (spin, module.reset):
    threading.Timer(0.2, _thread.interrupt_main).start()
    try:
        wait()
    except KeyboardInterrupt:
        print("interrupted", flush=True)
os._exit(0)
"""
    assert run(program).split() == ["True", "interrupted", "interrupted"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_child_does_not_wait_for_a_launch_of_its_parents() -> None:
    program = """
def fork(*_):
    child = os.fork()
    if not child:
        try:
            module.kernel("count_up")(1, 1)
        except wl.Error as error:
            os._exit(7 if error.kind == "system" and "forked" in str(error) else 8)
        # The parent had not begun yet.
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        print(code)
        signal.setitimer(signal.ITIMER_REAL, 0)
        raise KeyboardInterrupt
signal.signal(signal.SIGALRM, fork)
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
try:
    spin()
except KeyboardInterrupt:
    print(module.kernel("count_up")(1, 1).ok)
"""
    assert run(program).split() == ["7", "True"]
