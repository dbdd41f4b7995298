"""What a launch does not know never reaches an array or a variable as if it were known."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import warpload as wl
from warpload.ptx import Globals, Kernel, UnknownWarning

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
TEX = "tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {%r5}]"

# A texture is not executed. One word of `out` depends on it, and none of `known`.
FETCH = (
    HEAD
    + f"""
.const .align 4 .u32 factors[3] = {{1, 2, 3}};
.global .align 4 .f32 scale = 0f3F800000;
.global .align 4 .u32 result[2];
.global .align 4 .u32 lost;
.visible .entry fetch(.param .u64 t, .param .u64 out, .param .u64 known) {{
    .reg .b32 %r<8>; .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [t];
    ld.param.u64 %rd2, [out];
    ld.param.u64 %rd3, [known];
    mov.u32 %r5, 0;
    {TEX};
    st.global.u32 [%rd2+4], %r1;
    st.global.u32 [lost], %r1;
    ld.global.u32 %r6, [result];
    ld.const.u32 %r7, [factors+4];
    add.u32 %r6, %r6, %r7;
    st.global.u32 [%rd3], %r6;
    st.global.u32 [result], %r6;
    ret;
}}"""
)
KNOWN = FETCH.replace(TEX, "mov.u32 %r1, 5")


def test_an_array_with_unknown_bytes_stays_as_it_was() -> None:
    out, known = np.full(4, 7, np.int32), np.zeros(1, np.int32)
    with pytest.warns(UnknownWarning, match="argument 1 `out`: 4 bytes are unknown") as warned:
        launch = Kernel(FETCH)(1, 1, (None, out, known))
    assert len(warned) == 1 and warned[0].filename == __file__
    assert out.tolist() == [7, 7, 7, 7] and known.tolist() == [2]
    assert not launch.ok and launch.fault_count == 0
    cause = f"`{TEX}` in line 15 is not executed"
    described = [(one.argument, one.name, one.bytes, one.first, one.cause) for one in launch.unknown]
    assert described == [(1, "out", 4, 4, cause), (None, "lost", 4, 0, cause)]
    assert [(one.line, one.count, one.text) for one in launch.skipped] == [(15, 1, TEX)]
    assert f"line 15: not executed, 1 time: {TEX}\n" in str(launch)
    assert f"argument 1 `out`: 4 bytes are unknown, the first at offset 4: {cause}\n" in str(launch)
    verdict = "no faults in what was executed; races, synchronization and uninitialized memory were not checked"
    assert repr(launch).endswith(f", {verdict}; 1 not executed; 2 with unknown bytes)")
    assert "1 not executed; 2 with unknown bytes" in launch._repr_html_()
    with pytest.raises(wl.Error, match="argument 1 `out`: 4 bytes are unknown") as raised:
        launch.raise_for_faults()
    assert raised.value.kind == "fault" and raised.value.line == 15


def test_unknown_bytes_are_written_if_they_are_asked_for() -> None:
    out, known = np.full(4, 7, np.int32), np.zeros(1, np.int32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        launch = Kernel(FETCH)(1, 1, (None, out, known), dump_unknown=True)
    assert out[[0, 2, 3]].tolist() == [7, 7, 7] and not launch.ok
    assert len(launch.unknown) == 2 and launch.globals["lost"].size == 4


def test_arrays_that_share_memory_are_told_apart() -> None:
    both = np.full(8, 7, np.int32)
    with pytest.warns(UnknownWarning):
        launch = Kernel(FETCH)(1, 1, (None, both[:4], both[4:]))
    assert both.tolist() == [7] * 4 + [2, 7, 7, 7]
    assert [one.argument for one in launch.unknown] == [1, None]
    # One array inside the other: what is known of the whole is written through the part.
    both = np.full(8, 7, np.int32)
    with pytest.warns(UnknownWarning):
        launch = Kernel(FETCH)(1, 1, (None, both, both[:1]))
    assert both.tolist() == [2] + [7] * 7
    assert [one.argument for one in launch.unknown] == [1, None]


def test_a_skipped_instruction_alone_is_a_finding() -> None:
    text = FETCH.replace("st.global.u32 [%rd2+4], %r1;", "").replace("st.global.u32 [lost], %r1;", "")
    launch = Kernel(text)(1, 1, (None, None, np.zeros(1)))
    assert not launch.ok and launch.unknown == [] and len(launch.skipped) == 1
    assert repr(launch).endswith("1 not executed)")


def test_a_register_that_was_never_written_is_a_finding() -> None:
    out = np.zeros(4, np.int32)
    with pytest.warns(UnknownWarning):
        launch = Kernel(FETCH.replace(TEX, "mov.u32 %r2, 5"))(1, 1, (None, out, np.zeros(1)))
    assert not launch.ok and launch.skipped == []
    assert [one.cause for one in launch.unknown] == ["nothing has written `%r1`"] * 2


def test_a_clean_launch_says_what_was_checked() -> None:
    def verdict(check: bool | str | list[str] = False) -> str:
        launch = Kernel(KNOWN)(1, 1, (None, np.zeros(4), np.zeros(1)), check=check)
        assert launch.ok
        return str(launch).splitlines()[-1]

    assert verdict() == "no faults; races, synchronization and uninitialized memory were not checked"
    assert verdict(check=["races", "sync"]) == "no faults; uninitialized memory was not checked"
    assert verdict(check="uninitialized,sync") == "no faults; races were not checked"
    assert verdict(check=True) == "no faults"


def test_variables_are_set_and_read_and_kept() -> None:
    kernel, known = Kernel(KNOWN), np.zeros(1, np.uint32)
    described = [(one.name, one.type, one.bytes) for one in kernel.globals]
    assert described == [
        ("factors", ".u32[3]", 12),
        ("scale", ".f32", 4),
        ("result", ".u32[2]", 8),
        ("lost", ".u32", 4),
    ]
    arguments = (None, np.zeros(4), known)
    first = kernel(1, 1, arguments, globals={"factors": np.array([5, 6], np.uint32), "scale": 0.5})
    assert first.ok and known[0] == 6
    assert first.globals["factors"].view(np.uint32).tolist() == [5, 6, 3]
    assert first.globals["scale"].view(np.float32).tolist() == [0.5]
    assert sorted(first.globals) == ["factors", "lost", "result", "scale"] and len(first.globals) == 4
    # Kept: the result grows from launch to launch, in another module, too.
    second = Kernel(KNOWN)(1, 1, arguments, globals=first.globals)
    third = kernel(1, 1, arguments, globals={**second.globals, "factors": bytes(12)})
    assert known[0] == 12 and third.globals["result"].view(np.uint32).tolist() == [12, 0]
    assert Kernel(KNOWN)(1, 1, arguments).ok and known[0] == 2
    assert isinstance(first.globals, Globals) and "factors: 12 bytes" in repr(first.globals)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"factor": 1}, wl.Error, "no variable `factor`; the module has factors, scale"),
        ({"factors": np.zeros(4, np.uint32)}, wl.Error, "has 12 bytes, 16 are given"),
        ({"lost": 1 << 32}, OverflowError, "does not fit 32 bits"),
        ({"lost": "x"}, TypeError, "expected an integer, not str"),
        ({"factors": [1, 2]}, TypeError, "not list"),
        ({"factors": np.zeros(2, ">u4")}, TypeError, "little-endian"),
    ],
)
def test_wrong_values_of_variables(given, error, message) -> None:
    with pytest.raises(error, match=message):
        Kernel(KNOWN)(1, 1, (None, np.zeros(4), np.zeros(1)), globals=given)


def test_a_variable_with_unknown_bytes_is_an_error() -> None:
    with pytest.warns(UnknownWarning):
        launch = Kernel(FETCH)(1, 1, (None, np.zeros(4), np.zeros(1)))
    with pytest.raises(wl.Error, match="`lost` has unknown bytes: `tex") as raised:
        launch.globals["lost"]
    assert raised.value.kind == "fault"
    # Nor does it begin another launch as if it were known.
    with pytest.raises(wl.Error, match="`lost` has unknown bytes"):
        Kernel(FETCH)(1, 1, (None, np.zeros(4), np.zeros(1)), globals=launch.globals)


def test_illegal_modules_are_refused() -> None:
    text = KNOWN.replace("ld.global.u32 %r6, [result]", "ld.gloal.u32 %r6, [result]")
    out = np.zeros(4)
    with pytest.raises(wl.Error, match="line 18: `.gloal` is not a qualifier of `ld`") as raised:
        Kernel(text)(1, 1, (None, out, np.zeros(1)))
    assert (raised.value.kind, raised.value.rule) == ("illegal", "unknown-qualifier")
    assert raised.value.line == 18
    with pytest.warns(UnknownWarning):
        launch = Kernel(text)(1, 1, (None, out, np.zeros(1)), allow_illegal=True)
    assert not launch.ok


def test_the_limit_of_steps_keeps_the_findings() -> None:
    text = KNOWN.replace("ret;", "st.global.u32 [%rd3+64], %r6; again: bra again;")
    with pytest.raises(wl.Error, match="has not ended") as raised:
        Kernel(text)(1, 1, (None, np.zeros(4), np.zeros(1)), steps=1000)
    assert "1 faults until then; the first: line 23: out of bounds" in str(raised.value)
    with pytest.raises(wl.Error, match="has not ended") as raised:
        Kernel(FETCH.replace("ret;", "again: bra again;"))(
            1, 1, (None, np.zeros(4), np.zeros(1)), steps=1000
        )
    assert f"line 15: not executed, 1 time: {TEX}" in str(raised.value)


def test_a_wait_for_a_copy_that_is_not_executed_ends() -> None:
    text = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 out) {
    .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;
    .shared .align 16 .b8 tile[16]; .shared .align 8 .b64 bar;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [out];
    mov.u32 %r1, tile; mov.u32 %r2, bar;
    mbarrier.init.shared.b64 [%r2], 1;
    mbarrier.arrive.expect_tx.shared.b64 %rd3, [%r2], 16;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16, [%r2];
again:
    mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0;
    @!%p1 bra again;
    ld.shared.u32 %r3, [tile]; st.global.u32 [%rd2], %r3;
    ret;
}"""
    launch = Kernel(text)(1, 1, (np.ones(4, np.float32), np.zeros(1)), steps=1000)
    assert not launch.ok and [one.line for one in launch.skipped] == [11]
    assert [(fault.kind, fault.line) for fault in launch.faults] == [("unknown_value", 13)]


def test_what_printf_prints() -> None:
    text = (
        HEAD
        + """
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 values);
.global .align 1 .b8 format[8] = {110, 32, 37, 100, 60, 10, 0, 0};
.visible .entry k() {
    .local .align 8 .b8 depot[8]; .reg .b64 %SP; .reg .b64 %rd<4>; .reg .b32 %r<3>;
    mov.u64 %SP, depot; cvta.local.u64 %rd1, %SP;
    mov.u32 %r1, %tid.x; st.local.u32 [%SP], %r1;
    mov.u64 %rd2, format; cvta.global.u64 %rd3, %rd2;
    { .param .b64 p0; st.param.b64 [p0], %rd3; .param .b64 p1; st.param.b64 [p1], %rd1; .param .b32 r;
      call.uni (r), vprintf, (p0, p1); ld.param.b32 %r2, [r]; }
    ret;
}"""
    )
    launch = Kernel(text)(1, 2, ())
    assert launch.printed == "n 0<\nn 1<\n" and launch.ok
    assert "<pre>n 0&lt;\nn 1&lt;\n</pre>" in launch._repr_html_()
