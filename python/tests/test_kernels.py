"""Kernels on arrays."""

from __future__ import annotations

import array
import ctypes
import io
import json
import os
import runpy
import signal
import subprocess
import sys
import tarfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import warpload as wl
from warpload.ptx import Kernel

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"

REVERSE = (
    HEAD
    + """
.extern .shared .align 4 .b8 tile[];
.visible .entry reverse(.param .u64 x) {
    .reg .b32 %r<8>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3];
    mov.u32 %r3, tile;
    shl.b32 %r4, %r1, 2;
    add.s32 %r5, %r3, %r4;
    st.shared.u32 [%r5], %r2;
    bar.sync 0;
    mov.u32 %r6, %ntid.x;
    sub.s32 %r6, %r6, %r1;
    shl.b32 %r6, %r6, 2;
    add.s32 %r6, %r6, %r3;
    ld.shared.u32 %r7, [%r6+-4];
    st.global.u32 [%rd3], %r7;
    ret;
}"""
)

# Stores a structure of an int and a double, and three numbers.
STORE = (
    HEAD
    + """
.visible .entry store(.param .u64 out, .param .align 8 .b8 s[16], .param .u8 a, .param .f64 b, .param .b16 h) {
    .reg .b16 %h<2>; .reg .b32 %r<2>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [s];
    st.global.u32 [%rd1], %r1;
    ld.param.u64 %rd2, [s+8];
    st.global.u64 [%rd1+8], %rd2;
    ld.param.u8 %h1, [a];
    st.global.u8 [%rd1+16], %h1;
    ld.param.u64 %rd3, [b];
    st.global.u64 [%rd1+24], %rd3;
    ld.param.u16 %h1, [h];
    st.global.u16 [%rd1+32], %h1;
    ret;
}"""
)

# Both pointers as they are.
POINTERS = (
    HEAD
    + """
.visible .entry pointers(.param .u64 a, .param .u64 b, .param .u64 out) {
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [b];
    ld.param.u64 %rd3, [out];
    sub.s64 %rd1, %rd2, %rd1;
    st.global.u64 [%rd3], %rd1;
    st.global.u64 [%rd3+8], %rd2;
    ret;
}"""
)

# It counts, because a loop that repeats itself is found to hang.
SPIN = (
    HEAD
    + """
.visible .entry spin() { .reg .b32 %r<2>; mov.u32 %r1, 0;
again: add.u32 %r1, %r1, 1;
    bra again;
}"""
)


@pytest.fixture
def saxpy(root: Path) -> Kernel:
    return Kernel(root / "benches/kernels/saxpy.ptx", "saxpy")


def test_saxpy_updates_its_arrays(saxpy) -> None:
    n = 1000
    x, y = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
    launch = saxpy((4,), (256,), (n, 2.0, x, y))
    assert np.array_equal(y, 1 + 2 * np.arange(n, dtype=np.float32))
    assert np.array_equal(x, np.arange(n))
    assert launch.ok and launch.faults == launch.skipped == launch.unknown == []
    launch.raise_for_faults()
    counts = launch.counts
    assert (counts.blocks, counts.warps, counts.stores, counts.atomics) == (4, 32, 32, 0)
    assert counts.loads == 4 * 32 + 2 * 32
    assert 32 * counts.warp_instructions > counts.thread_instructions > 10 * n
    assert repr(launch).startswith("Launch('saxpy', 4 blocks, 32 warps, ")
    unchecked = "no faults; races, synchronization and uninitialized memory were not checked"
    assert repr(launch).endswith(f" warp instructions, {unchecked})")
    counted, verdict = str(launch).splitlines()
    assert counted.startswith("4 blocks, 32 warps: ") and verdict == unchecked


def test_a_launch_is_replayed(saxpy, root: Path, tmp_path: Path) -> None:
    x, y = np.ones(100, np.float32), np.ones(100, np.float32)
    launch = saxpy((2,), (64,), (100, 2.0, x, y))
    rows = json.loads(launch.replay.to_json())["rows"]
    known = [(row["kind"], row["accesses"], row["global"]["sectors"]["sum"], row["ptx"]) for row in rows]
    assert known == [
        ("load", 4, 13, "ld.global.f32 %f2, [%rd7]"),
        ("load", 4, 13, "ld.global.f32 %f3, [%rd6]"),
        ("store", 4, 13, "st.global.f32 [%rd7], %f4"),
    ]
    assert launch.trace is None
    traced = saxpy((2,), (64,), (100, 2.0, x, y), trace=True)
    assert traced.replay == launch.replay
    assert traced.trace.contents["kernels"][0]["name"] == "saxpy"
    assert len(traced.trace) == sum(row["accesses"] for row in rows) == 12
    # The trace has values besides.
    of_trace = traced.trace.replay().to_dict()["rows"]
    assert all(row.pop("values")["accesses"] == row["accesses"] for row in of_trace)
    assert of_trace == launch.replay.to_dict()["rows"]
    page = tmp_path / "saxpy.html"
    assert launch.replay.html(page) == page.read_text()
    assert "<code>line 44</code>" in page.read_text()
    with pytest.raises(wl.Error, match="is a folder"):
        launch.replay.html(tmp_path)
    # Lanes that fault are counted, too.
    faulty = saxpy((2,), (64,), (100, 2.0, x, y[:90].copy()))
    assert faulty.replay.summary.stores.lane_faults.outside_allocation == 10
    # Structured arrays and structures: the textbook's sectors.
    particles = Kernel(root / "traces/textbook.ptx", "array_of_structures")
    launch = particles((4,), (256,), (np.zeros((1024, 4), np.float32), 0.5, 1024))
    (row,) = (row for row in launch.replay.to_dict()["rows"] if row["kind"] == "load")
    assert row["global"]["sectors"]["sum"] == 16 * row["accesses"]


def test_one_block_of_a_large_grid(saxpy, command, root: Path, tmp_path: Path) -> None:
    x, y = np.arange(1000, dtype=np.float32), np.zeros(1000, np.float32)
    launch = saxpy((1 << 31, 65_535), (256,), (1000, 2.0, x, y), blocks=(2,))
    assert y.nonzero()[0].tolist() == [*range(512, 768)] and np.array_equal(y[512:768], 2 * x[512:768])
    assert (launch.counts.blocks, launch.only_block) == (1, (2, 0, 0))
    assert str(launch).endswith("; only block (2, 0, 0) was run")
    everything = saxpy(4, 256, (1000, 2.0, x, y))
    assert everything.only_block is None and "only block" not in repr(everything)
    # The command writes the same memory.
    out = tmp_path / "y.bin"
    line = "--function saxpy --grid 4 --block 256 --blocks 2,0,0"
    line += " --arg 1000 --arg 2.0 --arg iota:f32:1000 --arg zeros:4000"
    path = root / "benches/kernels/saxpy.ptx"
    ran = command("ptx", "run", path, *line.split(), "--dump", f"3={out}")
    assert ran.returncode == 0 and b"only block (2, 0, 0) of 4 x 1 x 1 was run" in ran.stdout
    x, y = np.arange(1000, dtype=np.float32), np.zeros(1000, np.float32)
    saxpy(4, 256, (1000, 2.0, x, y), blocks=2)
    assert out.read_bytes() == y.tobytes()


def test_control_characters_of_a_module_do_not_reach_a_terminal() -> None:
    head = HEAD + '.file 1 "a\x1b[2J\x07b.cu"\n'
    text = POINTERS.replace(HEAD, head).replace("sub.s64", ".loc 1 7 0\n ld.u64 %rd2, [%rd3+8192]; sub.s64")
    launch = Kernel(text)(1, 1, (1, 2, np.zeros(2, np.int64)))
    assert launch.fault_count == 1 and launch.faults[0].source_file == "a\x1b[2J\x07b.cu"
    shown = str(launch) + repr(launch) + str(launch.faults[0]) + repr(launch.faults[0])
    assert "(a\\u{1b}[2J\\u{7}b.cu:7)" in shown
    assert not any(mark in shown for mark in "\x1b\x07")


def test_a_kernel_says_what_it_takes(saxpy, root: Path) -> None:
    assert saxpy.name == "saxpy" and saxpy.file.endswith("saxpy.ptx")
    assert [one.type for one in saxpy.parameters] == [".u32", ".f32", ".u64", ".u64"]
    assert [one.bytes for one in saxpy.parameters] == [4, 4, 8, 8]
    assert saxpy.parameters[1].name == "saxpy_param_1"
    assert repr(saxpy).endswith("saxpy.ptx', 'saxpy': .u32, .f32, .u64, .u64)")
    assert [one.type for one in Kernel(STORE).parameters][1:] == [".b8[16]", ".u8", ".f64", ".b16"]
    path = root / "benches/kernels/saxpy.ptx"
    for module in (path.read_text(), path.read_bytes(), str(path)):
        assert Kernel(module, "saxpy").parameters == saxpy.parameters
    with pytest.raises(wl.Error, match="several kernels.*saxpy, saxpy_inc") as raised:
        Kernel(path)
    assert raised.value.kind == "argument" and raised.value.file == str(path)
    with pytest.raises(wl.Error, match="no kernel `saxpi`; the module has saxpy, saxpy_inc"):
        Kernel(path, "saxpi")
    with pytest.raises(wl.Error) as raised:
        Kernel(HEAD + ".entry k(\n")
    assert raised.value.kind == "syntax"
    with pytest.raises(FileNotFoundError):
        Kernel("no such file.ptx")


@pytest.mark.parametrize("block", [(64,), 64, (32, 2), (16, 2, 2), [np.int64(64)]])
def test_shared_memory_and_blocks(block) -> None:
    x = np.arange(64, dtype=np.int32)
    # Rows of threads with the same `tid.x` race.
    check = "races" if np.size(block) == 1 else False
    launch = Kernel(REVERSE)(1, block, (x,), shared_bytes=4 * 64, check=check)
    assert launch.ok
    # The kernel knows x alone.
    width = int(np.ravel(block)[0])
    assert x.tolist() == [*range(width)][::-1] + [*range(width, 64)]


def test_shared_memory_is_as_large_as_said() -> None:
    x = np.arange(64, dtype=np.int32)
    launch = Kernel(REVERSE)(1, 64, (x,), shared_bytes=4 * 63)
    assert not launch.ok and launch.fault_count == len(launch.faults) == 2
    assert [fault.kind for fault in launch.faults] == ["out_of_bounds"] * 2
    assert [fault.thread for fault in launch.faults] == [(63, 0, 0), (0, 0, 0)]
    # A load that faults returns 0.
    assert x.tolist() == [0, *range(63)[::-1]]
    assert Kernel(REVERSE)(1, 32, (x,), shared_bytes=256, check="uninitialized").ok


def test_a_race_has_two_lines() -> None:
    source = REVERSE.replace("bar.sync 0;", "")
    lines = source.splitlines()
    store, load = (1 + lines.index(f"    {text}") for text in ("st.shared.u32 [%r5], %r2;", "ld.shared.u32 %r7, [%r6+-4];"))
    launch = Kernel(source)(1, 64, (np.arange(64, dtype=np.int32),), shared_bytes=256, check="races")
    assert [fault.kind for fault in launch.faults] == ["race"]
    [fault] = launch.faults
    assert {fault.line, fault.other_line} == {store, load}


def test_structures_are_passed_by_value() -> None:
    kind = np.dtype([("count", np.int32), ("scale", np.float64)], align=True)
    given = np.array([(-7, 2.5)], kind)

    class Structure(ctypes.Structure):
        _fields_ = [("count", ctypes.c_int32), ("scale", ctypes.c_double)]

    kernel = Kernel(STORE)
    for structure in (given[0], given.tobytes(), Structure(-7, 2.5)):
        out = np.zeros(40, np.uint8)
        kernel(1, 1, (out, structure, True, 3, np.float16(1.5))).raise_for_faults()
        assert out[:16].view(kind)[0] == given[0]
        assert out[16] == 1
        assert out[24:32].view(np.float64)[0] == 3.0
        assert out[32:34].view(np.float16)[0] == 1.5
    packed = np.array([(-7, 2.5)], np.dtype([("count", np.int32), ("scale", np.float64)]))
    with pytest.raises(TypeError, match=r"parameter 1 \(\.b8\[16\]\): expected 16 bytes, not 12"):
        kernel(1, 1, (out, packed[0], 1, 1, 1))


@pytest.mark.parametrize(
    ("a", "b", "out"),
    [
        (255, 1e300, (255, 1e300)),
        (-128, 7, (128, 7.0)),
        (np.uint8(3), np.float32(0.5), (3, 0.5)),
        (np.int64(3), np.int8(-1), (3, -1.0)),
        (False, True, (0, 1.0)),
        (np.True_, float("inf"), (1, float("inf"))),
    ],
)
def test_numbers_are_converted(a, b, out) -> None:
    memory = np.zeros(5, np.float64)
    Kernel(STORE)(1, 1, (memory, bytes(16), a, b, 0))
    assert (memory.view(np.uint8)[16], memory[3]) == out


class OnGpu:
    __cuda_array_interface__ = {"shape": (1,)}


class Convertible:
    def __array__(self, *_: object) -> np.ndarray:
        return np.zeros(1)


def read_only() -> np.ndarray:
    memory = np.zeros(4)
    memory.flags.writeable = False
    return memory


GOOD = (np.zeros(5), bytes(16), 0, 0.0, 0)


@pytest.mark.parametrize(
    ("number", "value", "error", "message"),
    [
        (0, OnGpu(), TypeError, r"\(\.u64\): .*OnGpu is in the memory of a GPU.*copy it to a NumPy"),
        (2, OnGpu(), TypeError, "memory of a GPU"),
        (0, read_only(), TypeError, r"\(\.u64\): the array is read-only"),
        (0, memoryview(bytes(8)), TypeError, "read-only"),
        (0, np.zeros((4, 4))[:, 1], TypeError, r"\(\.u64\): the array is not contiguous"),
        (0, memoryview(bytearray(8))[::2], TypeError, "not contiguous"),
        (0, np.zeros(4, object), TypeError, "not of Python objects"),
        (0, np.zeros(4, ">f4"), TypeError, "expected little-endian numbers, not >f4"),
        (0, [1, 2], TypeError, "expected an array, not list"),
        (0, "x", TypeError, "expected an array or an integer, not str"),
        (0, Convertible(), TypeError, "not .*Convertible; numpy.asarray makes"),
        (0, 1.0, TypeError, "expected an array or an integer, not float"),
        (0, np.float64(1), TypeError, "expected an array or an integer, not numpy.float64"),
        (0, 1 << 64, OverflowError, r"\(\.u64\): 18446744073709551616 does not fit 64 bits"),
        (1, 3, TypeError, r"\(\.b8\[16\]\): expected a structure .*, not an integer"),
        (1, 3.0, TypeError, "expected a structure .*, not float"),
        (1, np.zeros(2), TypeError, "expected a structure .*, not numpy.ndarray"),
        (1, None, TypeError, "None is a null pointer; expected a structure"),
        (1, bytes(15), TypeError, "expected 16 bytes, not 15"),
        (2, 256, OverflowError, r"\(\.u8\): 256 does not fit 8 bits"),
        (2, np.int64(-129), OverflowError, r"\(\.u8\): -129 does not fit 8 bits"),
        (2, 1.0, TypeError, r"\(\.u8\): expected an integer, not float"),
        (2, np.zeros(1), TypeError, "expected an integer, not numpy.ndarray"),
        (2, None, TypeError, "None is a null pointer; expected an integer"),
        (3, 1j, TypeError, r"\(\.f64\): expected a number, not complex"),
        (3, 10**400, OverflowError, r"\(\.f64\): 1000.* does not fit \.f64"),
        (3, "1.0", TypeError, "expected a number, not str"),
        (4, 1.5, TypeError, r"\(\.b16\): expected an integer or a NumPy number of its size, not float"),
        (4, np.float32(1.5), TypeError, r"\(\.b16\): expected 2 bytes, not 4"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(number, value, error, message) -> None:
    arguments = [*GOOD]
    arguments[number] = value
    with pytest.raises(error, match=rf"parameter {number} .*{message}|parameter {number} {message}"):
        Kernel(STORE)(1, 1, arguments)


def test_a_float_has_to_fit(saxpy) -> None:
    x = np.zeros(1, np.float32)
    with pytest.raises(OverflowError, match=r"parameter 1 \(\.f32\): 1e\+39 does not fit \.f32"):
        saxpy(1, 1, (1, 1e39, x, x))
    saxpy(1, 1, (1, np.float64(2.1), x, x)).raise_for_faults()


def test_launches_that_do_not_fit_are_refused(saxpy) -> None:
    x = np.zeros(4, np.float32)
    with pytest.raises(TypeError, match=r"expected 4 arguments \(\.u32, \.f32, \.u64, \.u64\), not 3"):
        saxpy(1, 1, (1, 1.0, x))
    good = (1, 1.0, x, x)
    for grid, block, options, message in [
        ((), 1, {}, "grid: expected one to three numbers, not 0"),
        ((1, 1, 1, 1), 1, {}, "grid: expected one to three numbers, not 4"),
        ((1, 0), 1, {}, "grid: expected 1 to 4294967295, not 0"),
        (1, -1, {}, "block: expected 1 to 4294967295, not -1"),
        (1, (32, 64), {}, "a block of 32 x 64 x 1 threads: 1 to 1024 are possible"),
        (1, 1, {"shared_bytes": -1}, "shared_bytes: expected 0 to"),
        (1, 1, {"shared_bytes": 1 << 21}, "2097152 bytes of shared memory"),
        (1, 1, {"steps": 0}, "steps: expected 1 to"),
        (4, 1, {"blocks": (0, 1)}, r"no block \(0, 1, 0\): the grid has 4 x 1 x 1"),
        (4, 1, {"blocks": -1}, "blocks: expected 0 to 4294967295, not -1"),
        (4, 1, {"blocks": (0, 0, 0, 0)}, "blocks: expected one to three numbers, not 4"),
    ]:
        with pytest.raises(wl.Error, match=message) as raised:
            saxpy(grid, block, good, **options)
        assert raised.value.kind == "argument"
    with pytest.raises(TypeError):
        saxpy(1.0, 1, good)


def test_arrays_keep_their_identity() -> None:
    kernel = Kernel(POINTERS)
    out = np.zeros(2, np.int64)

    def distance(a: object, b: object) -> int:
        kernel(1, 1, (a, b, out)).raise_for_faults()
        return int(out[0])

    x = np.zeros((4, 4), np.float32)
    assert distance(x, x) == 0
    assert distance(x, x.T) == distance(x.T, x) == 0
    assert distance(x, x.reshape(-1)) == 0
    assert distance(x, x[1:]) == 16 and distance(x[2:], x) == -32
    assert distance(x[:3], x[1:]) == 16
    # Neighbours in memory are buffers of their own.
    assert distance(x[:2], x[2:]) >= 4096
    assert distance(x, x.copy()) >= 4096
    # A null pointer, and an address.
    assert distance(None, 5) == 5 == out[1]
    assert distance(x[:0], x[:0]) >= 0
    # The array that is written may be any of them.
    kernel(1, 1, (out, None, out)).raise_for_faults()
    assert out[1] == 0 and out[0] < 0


@pytest.mark.parametrize("writes", [(0, 4), (4, 0)])
def test_overlapping_arrays_see_each_other(saxpy, writes) -> None:
    memory = np.arange(12, dtype=np.float32)
    x, y = (memory[first : first + 8] for first in writes)
    known = y + 2 * x if writes == (4, 0) else None
    launch = saxpy(1, 8, (8, 2.0, x, y))
    assert launch.ok
    if known is not None:
        assert np.array_equal(y, known)
    else:
        assert np.array_equal(y, np.arange(4, 12) + 2 * np.arange(8))


@pytest.mark.parametrize(
    "make",
    [
        lambda: bytearray(np.ones(4, np.float32).tobytes()),
        lambda: memoryview(bytearray(np.ones(4, np.float32).tobytes())),
        lambda: array.array("f", [1.0] * 4),
        lambda: (ctypes.c_float * 4)(1, 1, 1, 1),
        lambda: io.BytesIO(np.ones(4, np.float32).tobytes()).getbuffer(),
        lambda: np.asfortranarray(np.ones((2, 2), np.float32)),
        lambda: np.ma.masked_array(np.ones(4, np.float32), [True, False, False, False]),
        lambda: np.ones(4, [("x", np.float32)]),
        lambda: np.array(1.0, np.dtype((np.float32, ()))).repeat(4),
    ],
)
def test_everything_with_a_buffer_is_an_array(saxpy, make) -> None:
    y = make()
    saxpy(1, 32, (4, 2.0, np.ones(4, np.float32), y)).raise_for_faults()
    assert np.frombuffer(bytes(memoryview(y).tobytes()), np.float32).tolist() == [3.0] * 4


def test_faults_say_where_and_who(saxpy) -> None:
    x, y = np.ones(100, np.float32), np.ones(100, np.float32)
    launch = saxpy((4,), (32,), (128, 2.0, x, y))
    # Three instructions, of each the first 20 faults.
    assert (launch.fault_count, len(launch.faults)) == (3 * 28, 3 * 20) and not launch.ok
    assert y.tolist() == [3.0] * 100
    fault = launch.faults[0]
    assert (fault.kind, fault.function, fault.source_line) == ("out_of_bounds", "saxpy", None)
    assert fault.instruction == "ld.global.f32 %f2, [%rd7]"
    assert (fault.block, fault.thread, fault.lane) == ((3, 0, 0), (4, 0, 0), 4)
    assert (fault.argument, fault.distance) == (3, 0)
    assert fault.message.endswith("is the end of argument 3 (`saxpy_param_3`)")
    assert launch.faults[1].distance == 4
    text = saxpy.file and Path(saxpy.file).read_text().splitlines()[fault.line - 1]
    assert "ld.global.f32" in text
    assert str(fault).startswith(f"line {fault.line}: out of bounds: ")
    assert str(fault).endswith("in `saxpy` by thread (4, 0, 0) of block (3, 0, 0): ld.global.f32 %f2, [%rd7]")
    assert repr(fault).startswith("KernelFault('out_of_bounds', line=")
    assert fault == launch.faults[0] != launch.faults[1] and hash(fault) == hash(launch.faults[0])
    with pytest.raises(AttributeError):
        fault.line = 1
    with pytest.raises(AttributeError):
        launch.fault_count = 0
    assert repr(launch).endswith("84 faults)") and str(launch).endswith("\n84 faults")
    # Four of each instruction: two loads and a store.
    assert str(launch).count("out of bounds") == 12
    with pytest.raises(wl.Error, match="84 faults") as raised:
        launch.raise_for_faults()
    assert raised.value.kind == "fault" and raised.value.line == fault.line


def test_faults_are_the_commands(saxpy, command, tmp_path) -> None:
    for name in "xy":
        (tmp_path / name).write_bytes(np.ones(100, np.float32).tobytes())
    arguments = ["--arg=128", "--arg=2.0", f"--arg=@{tmp_path / 'x'}", f"--arg=@{tmp_path / 'y'}"]
    options = ["--function=saxpy", "--grid=4", "--block=32", *arguments]
    x, y = np.ones(100, np.float32), np.ones(100, np.float32)
    launch = saxpy(4, 32, (128, 2.0, x, y))
    known = json.loads(command("ptx", "run", saxpy.file, *options, "--format=json").stdout)
    for name in ("blocks", "warps", "warp_instructions", "thread_instructions", "loads", "stores", "atomics"):
        assert getattr(launch.counts, name) == known["launch"][name]
    assert len(known["faults"]) == len(launch.faults)
    for found, line in zip(launch.faults, known["faults"]):
        for name in ("kind", "line", "function", "lane", "argument", "distance", "message"):
            assert getattr(found, name) == line[name]
        assert [*found.block, *found.thread] == [*line["block"], *line["thread"]]
        assert hex(found.address) == line["address"]


def test_kinds_of_faults_are_those_of_the_types(root: Path) -> None:
    from typing import get_args

    from warpload._types import KernelFaultKind

    source = (root / "machine/src/fault.rs").read_text()
    names = source.split("pub fn name(")[1].split("}\n    }\n")[0]
    assert sorted(get_args(KernelFaultKind)) == sorted(names.split('"')[1::2])


BROKEN = (
    HEAD
    + """
.visible .entry broken(.param .u64 x, .param .u32 kind) {
    .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<5>;
    .shared .align 4 .b8 tile[256];
    ld.param.u64 %rd1, [x];
    ld.param.u32 %r1, [kind];
    mov.u32 %r2, %tid.x;
    brx.idx %r1, choices;
choices: .branchtargets misaligned, uninitialized, race, trapped, unknown;
misaligned:
    ld.global.u32 %r3, [%rd1+2];
    ret;
uninitialized:
    ld.shared.u32 %r3, [tile];
    ret;
race:
    st.shared.u32 [tile], %r2;
    ret;
trapped:
    trap;
unknown:
    ld.global.u32 %r3, [%rd4];
    ret;
}"""
)


@pytest.mark.parametrize(
    ("number", "kind"),
    [*enumerate(["misaligned", "uninitialized", "race", "trap", "unknown_value", "branch_index"])],
)
def test_kinds_of_faults(number, kind) -> None:
    launch = Kernel(BROKEN)(
        1, 64, (np.zeros(4), number), check=True
    )
    assert {fault.kind for fault in launch.faults} == {kind}
    if kind in ("uninitialized", "race"):
        assert Kernel(BROKEN)(1, 64, (np.zeros(4), number)).ok


def test_skipped_instructions_and_unknown_bytes() -> None:
    text = (
        HEAD
        + """
.visible .entry fetch(.param .u64 t, .param .u64 out) {
    .reg .b32 %r<6>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [t];
    ld.param.u64 %rd2, [out];
    mov.u32 %r5, 0;
    tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {%r5}];
    st.global.u32 [%rd2], %r1;
    ret;
}"""
    )
    out, other = np.zeros(4, np.int32), np.zeros(4, np.int32)
    with pytest.warns(wl.ptx.UnknownWarning):
        launch = Kernel(text)(2, 32, (other, out))
    assert [(one.line, one.count) for one in launch.skipped] == [(10, 2)]
    assert launch.skipped[0].text.startswith("tex.1d.v4.s32.s32")
    assert [one.argument for one in launch.unknown] == [1]
    assert launch.fault_count == 0 and not launch.ok
    assert "line 10: not executed, 2 times: tex.1d" in str(launch)
    with pytest.raises(wl.Error, match="argument 1 `out`: 4 bytes are unknown") as raised:
        launch.raise_for_faults()
    assert raised.value.kind == "fault" and raised.value.line == 10


def test_a_loop_ends_at_its_steps() -> None:
    with pytest.raises(wl.Error, match="line 7: 1000 warp instructions .*`bra again`") as raised:
        Kernel(SPIN)(1, 1, (), steps=1000)
    assert raised.value.kind == "fault" and (raised.value.line, raised.value.column) == (7, 5)


def test_arrays_stay_if_a_launch_does_not_end() -> None:
    text = POINTERS.replace("ret;", "again: bra again;")
    out = np.zeros(2, np.int64)
    with pytest.raises(wl.Error, match="has not ended"):
        Kernel(text)(1, 1, (1, 2, out), steps=1000)
    assert out.tolist() == [0, 0]


def test_other_threads_run_meanwhile() -> None:
    kernel, seen = Kernel(SPIN), []
    thread = threading.Thread(target=lambda: kernel(1, 1, (), steps=20_000_000) and None)

    def count() -> None:
        while thread.is_alive():
            seen.append(time.monotonic())
            time.sleep(0.001)

    caught: list[object] = []
    hook, threading.excepthook = threading.excepthook, lambda raised: caught.append(raised.exc_type)
    try:
        thread.start()
        count()
        thread.join()
    finally:
        threading.excepthook = hook
    assert caught == [wl.Error]
    assert len(seen) > 20


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_ends_a_launch() -> None:
    program = f"from warpload.ptx import Kernel\nk = Kernel('''{SPIN}''')\nprint('go', flush=True)\nk(1, 1)"
    child = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stdout is not None and child.stdout.readline() == b"go\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    began = time.monotonic()
    _, error = child.communicate(timeout=20)
    assert time.monotonic() - began < 10
    assert b"KeyboardInterrupt" in error and child.returncode != 0


@pytest.mark.parametrize("name", ["triton_softmax", "triton_argmax"])
def test_kernels_of_triton(root: Path, name: str) -> None:
    with tarfile.open(root / "ptx/tests/kernels.tar.xz") as archive:

        def read(file: str) -> bytes:
            member = archive.extractfile(f"{name}/{file}")
            assert member is not None
            return member.read()

        for run in json.loads(read("launch.json")):
            arguments = [
                np.zeros(given["bytes"], np.uint8)
                if given["kind"] == "zeros"
                else bytes.fromhex(given["hex"])
                if given["kind"] == "value"
                else np.frombuffer(read(given["file"]), np.uint8).copy()
                for given in run["args"]
            ]
            kernel = Kernel(read(run["ptx"][0]), run["entry"])
            launch = kernel(run["grid"], run["block"], arguments, shared_bytes=run["shared_bytes"])
            assert launch.ok, str(launch)
            for number, file in run["expected"].items():
                found, known = arguments[int(number)], np.frombuffer(read(file), np.uint8)
                if run.get("tolerance"):
                    limits = {"rtol": run["tolerance"]["relative"], "atol": run["tolerance"]["absolute"]}
                    assert np.allclose(found.view(np.float32), known.view(np.float32), **limits)
                else:
                    assert np.array_equal(found, known)


@pytest.mark.nightly
def test_triton_compiles_as_the_book_says(root: Path, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    page = (root / "docs/book/triton.md").read_text()
    with tarfile.open(root / "ptx/tests/kernels.tar.xz") as archive:
        kernel = archive.extractfile("triton_softmax/kernel.py")
        assert kernel is not None
        text = kernel.read().decode()
    # Triton reads the source of a function from its file.
    file = tmp_path / "softmax.py"
    file.write_text(text + "\n" + page.split("```python\n")[1].split("```")[0])
    names = runpy.run_path(str(file))
    softmax = Kernel(names["ptx"], names["name"])
    x = np.random.default_rng(1).normal(size=(5, 200)).astype(np.float32)
    y = np.zeros_like(x)
    arguments = (y, x, 200, 200, 5, 200, *[None] * (len(softmax.parameters) - 6))
    launch = softmax(2, names["block"], arguments, shared_bytes=names["shared"], check="races")
    launch.raise_for_faults()
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(y, powers / powers.sum(axis=1, keepdims=True), rtol=1e-5)
    short = softmax(2, names["block"], (y[:4], *arguments[1:]), shared_bytes=names["shared"])
    line = text[: text.index("tl.store")].count("\n") + 1
    assert {fault.source_line for fault in short.faults} == {line}
