"""ptx and tmem."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import warpload as wl
from warpload import ptx, tmem


def test_check_is_the_commands(command, data) -> None:
    for name in ("illegal.ptx", "legal.ptx"):
        path = data / "ptx" / name
        answer = command("ptx", "check", "--format=json", "--every-rule", path)
        known = json.loads(answer.stdout)
        found = ptx.check(path)
        assert bool(found) == found.accept == known["accept"]
        assert [load.text for load in found] == [load["text"] for load in known["loads"]]
        for load, line in zip(found, known["loads"]):
            assert [one.rule for one in load.violations] == [v["rule"] for v in line["violations"]]
        assert found.drawing + "\n" * bool(found.drawing) == answer.stderr.decode()


def test_a_module_may_be_a_text(data, tmp_path) -> None:
    path = data / "ptx" / "legal.ptx"
    assert ptx.check(path.read_text()).results == ptx.check(path).results
    line = ".version 8.0 .target sm_80 .address_size 64 .visible .entry k() { ret; }"
    assert ptx.check(line) and ptx.check(line) == ptx.check(line + "\n")
    with pytest.raises(FileNotFoundError):
        ptx.check("no such file.ptx")
    with pytest.raises(FileNotFoundError):
        ptx.check(Path(line))
    # A file comes first.
    odd = tmp_path / "a;b.ptx"
    odd.write_text(line)
    assert ptx.check(str(odd)).file == str(odd)
    with pytest.raises(wl.Error) as raised:
        ptx.check(".version 8.8\n.target sm_90\n.entry k(\n")
    assert raised.value.line is not None and raised.value.span is not None


def test_lower_is_the_commands(command, data) -> None:
    path = data / "ptx" / "legal.ptx"
    known = json.loads(command("ptx", "lower", "--format=json", path).stdout)
    assert [[str(one) for one in load.sass] for load in ptx.lower(path)] == [
        [one["text"] for one in load["sass"]] for load in known["loads"]
    ]


def test_run_is_the_commands(command, data) -> None:
    path = data / "ptx" / "run.ptx"
    options = ["--parameter", "in=0x80000000", "--set", "%rd3=0x80000006+4*lane", "--set", "%p1=lane<6"]
    known = json.loads(command("ptx", "loads", path, "--format=json", *options).stdout)["loads"]
    found = ptx.run(
        path,
        parameters={"in": 0x80000000},
        registers={"%rd3": 0x80000006 + 4 * np.arange(32, dtype=np.uint64), "%p1": "lane<6"},
    )
    assert len(found) == len(known)
    for load, line in zip(found, known):
        assert load.executing == int(line.get("executing", "0"), 16)
        for name, lanes in line["registers"].items():
            values = [None if lane is None else int(lane, 16) for lane in lanes]
            assert list(load.registers[name]) == values
            assert load.array(name).tolist() == [value or 0 for value in values]
    with pytest.raises(wl.Error):
        ptx.run(path, registers={"%nothing": 1})


@pytest.mark.parametrize(
    ("given", "executing"),
    [
        (True, 0xFFFF_FFFF),
        (False, 0),
        (np.True_, 0xFFFF_FFFF),
        ([lane % 4 == 0 for lane in range(32)], 0x1111_1111),
        (np.arange(32) < 8, 0xFF),
        (0xFFFF_0000, 0xFFFF_0000),
        (1, 1),
    ],
)
def test_predicates_are_truth_values_or_a_mask(data, given, executing) -> None:
    found = ptx.run(
        data / "ptx" / "run.ptx",
        image=data / "ptx" / "image.json",
        registers={"%p1": given, "%rd3": 0x8000_0008},
        parameters={"in": "0x80000000", "n": True},
    )
    assert [load.executing for load in found if load.text.startswith("@%p1")] == [executing]


def test_what_is_given_is_no_option(data) -> None:
    for shape, repeat in (("--help", None), ("16x256b", "--help"), ("--svg=-", 4)):
        with pytest.raises(wl.Error, match="expected"):
            tmem.map(shape, repeat)
    with pytest.raises(wl.Error, match="tcgen05.ld"):
        tmem.run("--help")
    for active in (-1, 1 << 32):
        with pytest.raises(OverflowError):
            ptx.run(data / "ptx" / "run.ptx", active=active)


def test_map_is_the_commands(command) -> None:
    one = tmem.map("16x256b", 4)
    assert str(one) + "\n" == command("tmem", "map", "16x256b", "x4").stdout.decode()
    assert one._repr_svg_() == command("tmem", "map", "16x256b", "x4", "--svg=-").stdout.decode()
    assert len(one) == 32 * 16 and one.cells[0].columns == [0]
    with pytest.raises(wl.Error, match="expected one of"):
        tmem.map("16x3b", 4)


def test_run_loads_from_tensor_memory(command) -> None:
    text = "tcgen05.ld.sync.aligned.32x32b.x2.b32 {r0, r1}, [taddr];"
    found = tmem.run(text)
    assert found.registers.shape == (2, 32) and found.registers.dtype == np.uint32
    assert found.registers[1, 3] == 3 * 65536 + 1
    assert (found.executing, found.reduced) == (0xFFFF_FFFF, None)
    known = command("tmem", "run", text, "--warp=0", "--taddr=0").stdout.decode()
    assert str(found) + "\n" == known
    assert found == tmem.run(text) != tmem.run(text, taddr=1) and hash(found) == hash(tmem.run(text))
    reduced = tmem.run(
        "tcgen05.ld.red.sync.aligned.16x32bx2.x2.max.f32 {a, b}, m, [t], 16;",
        warp=5,
        taddr=0x00200040,
        memory="pattern:f32rand",
    )
    assert reduced.reduced is not None and reduced.reduced.shape == (32,)
    with pytest.raises(wl.Error):
        tmem.run(text, taddr=1 << 30)


def test_results_are_values_that_are_pickled(data) -> None:
    module = data / "ptx" / "run.ptx"
    results = [
        ptx.check(data / "ptx" / "illegal.ptx"),
        ptx.lower(data / "ptx" / "legal.ptx")[0],
        ptx.run(module, parameters={"in": 0x80000000})[0],
        tmem.run("tcgen05.ld.sync.aligned.32x32b.x2.b32 {r0, r1}, [taddr];"),
        tmem.map("16x256b", 4).cells[0],
    ]
    for result in results:
        again = pickle.loads(pickle.dumps(result))
        assert again == result and hash(again) == hash(result) and repr(again) == repr(result)
    checked = results[0]
    assert [*checked] == checked.results and checked[-1] == checked[len(checked) - 1] != checked[0]
    for index in (len(checked), -len(checked) - 1):
        with pytest.raises(IndexError):
            checked[index]
    with pytest.raises(AttributeError):
        checked.accept = True
    assert repr(checked[1].violations[0]).startswith("Violation(rule='unknown-qualifier', error=")


@pytest.mark.parametrize("value", [[[1]], [None], object()])
def test_values_that_are_no_numbers(data, value) -> None:
    with pytest.raises(wl.Error) as raised:
        ptx.run(data / "ptx" / "run.ptx", registers={"%rd3": value})
    assert raised.value.kind == "argument"
