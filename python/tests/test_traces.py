"""Traces, their replay, and what reads them."""

from __future__ import annotations

import gc
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
import warpload as wl
from conftest import FORBIDDEN
from warpload import _types

REPLAYS = [
    ("generic.wlt", {"image": "generic.image.json"}),
    ("generic.wlt", {"fill": "zero", "shard": (1, 3)}),
    ("generic.wlt", {"space": "shared", "pc": (0x10, 0x80), "opcode": "LD.*"}),
    ("btree-v5-kernel-1.traceg", {"fill": "address"}),
    ("btree-v5-kernel-1.traceg", {"merge_pairs": True, "kernel": "find_key", "demangle": False}),
    ("rows.kernelslist.g", {"cubin": "rows.sm_50.cubin", "pc": 0x68}),
    ("bfs-v3-kernel-14.traceg", {"shared_window": (0x7E000000, 0x1000000), "address_bits": 48}),
]

# The kinds of accesses, and the names of their counts.
KINDS = {
    "load": "loads",
    "store": "stores",
    "atomic": "atomics",
    "reduction": "reductions",
    "copy": "copies",
}


def accesses(replay: wl.Replay) -> int:
    """The accesses of all kinds."""
    return sum(getattr(replay.summary, plural).accesses for plural in KINDS.values())


def arguments(traces, options) -> list[str]:
    """Options as the command has them."""
    line = []
    for name, value in options.items():
        if name in ("image", "cubin"):
            value = traces / value
        elif name == "shard":
            value = f"{value[0]}/{value[1]}"
        elif name == "pc" and isinstance(value, tuple):
            value = f"{value[0]:#x}..{value[1]:#x}"
        elif name == "pc":
            value = f"{value}"
        elif name == "shared_window":
            value = f"{value[0]},{value[1]}"
        if name == "demangle":
            line.append("--no-demangle")
        elif value is True:
            line.append(f"--{name.replace('_', '-')}")
        else:
            line.append(f"--{name.replace('_', '-')}={value}")
    return line


@pytest.mark.parametrize(("name", "options"), REPLAYS)
def test_a_replay_is_the_commands(command, traces, name, options) -> None:
    line = arguments(traces, options)
    known = command("replay", traces / name, "--format", "json", *line)
    assert known.stdout, known.stderr
    files = {key: traces / value for key, value in options.items() if key in ("image", "cubin")}
    found = wl.Trace(traces / name).replay(**{**options, **files}, threads=2)
    assert found.to_json() == known.stdout
    assert found.to_dict() == json.loads(known.stdout)
    assert found == wl.Replay.from_json(known.stdout)
    as_dict = found.to_dict()
    shard = options.get("shard")
    summary = found.summary
    assert (summary.shard and (summary.shard.index, summary.shard.of)) == shard
    assert summary.digest == as_dict["digest"]
    for kind, plural in KINDS.items():
        counts, known = getattr(summary, plural), as_dict[plural]
        assert counts.accesses == known["accesses"]
        assert counts.global_.sectors.sum == known.get("global", {}).get("sectors", {}).get("sum", 0)
        assert counts.by_space.global_ == known.get("by_space", {}).get("global", 0)
        of_launches = [getattr(launch, plural).accesses for launch in summary.launches]
        assert of_launches == [launch[plural]["accesses"] for launch in as_dict["launches"]]
        rows = pl.DataFrame(found.rows).filter(pl.col("kind") == kind)
        assert sum(of_launches) == rows["accesses"].sum() == counts.accesses
        assert rows["global_sectors_sum"].sum() == counts.global_.sectors.sum
    assert [fault.pc for fault in summary.first_faults] == [
        int(fault["pc"], 16) for fault in as_dict["first_faults"]
    ]
    assert summary.launches and len(found.rows) == len(as_dict["rows"]) > 0
    if shard is None:
        return
    parts = [wl.Trace(traces / name).replay(**{**options, "shard": (i, 3)}) for i in range(3)]
    assert found == parts[shard[0]]
    whole = wl.Trace(traces / name).replay(**{**options, "shard": None})
    for plural in KINDS.values():
        counts = [getattr(part.summary, plural) for part in parts]
        assert sum(one.accesses for one in counts) == getattr(whole.summary, plural).accesses
        assert sum(one.sectors for one in counts) == getattr(whole.summary, plural).sectors


def test_what_a_trace_is(command, traces) -> None:
    for name in ("generic.wlt", "btree-v5-kernel-1.traceg"):
        trace = wl.Trace(traces / name)
        known = json.loads(command("info", "--format", "json", traces / name).stdout)
        assert trace.contents == known
        assert len(trace) == accesses(trace.replay()) > known["loads"] > 0
        assert f": {len(trace)} accesses of {known['instructions']} instructions" in repr(trace) and name in repr(trace)


def test_a_replay_shows_what_matters(traces) -> None:
    found = wl.Trace(traces / "generic.wlt").replay(image=traces / "generic.image.json")
    assert repr(found) == (
        "Replay(473 accesses of 624 instructions, 3123 sectors, ideal 1289, 637 lane faults, "
        "digest 4d7e8a276f5f90ac)"
    )
    assert (found.summary.loads.global_.sectors.sum, found.summary.loads.global_.ideal_sectors) == (861, 303)
    assert (found.summary.loads.sectors, found.summary.loads.ideal_sectors) == (861 + 1594, 303 + 318)
    assert pickle.loads(pickle.dumps(found)) == found
    assert pickle.loads(pickle.dumps(found)).summary == found.summary == pickle.loads(pickle.dumps(found.summary))
    with pytest.raises(AttributeError):
        found.summary.loads = 1  # type: ignore[misc]


def test_an_image_may_be_a_memory(traces) -> None:
    trace = wl.Trace(traces / "generic.wlt")
    machine = wl.Machine.open(traces / "generic.image.json")
    known = trace.replay(image=traces / "generic.image.json")
    assert trace.replay(image=machine) == trace.replay(image=machine.memory) == known
    with pytest.raises(TypeError, match="an image determines"):
        trace.replay(image=machine, fill="zero")


def test_notes_and_the_page(command, traces, tmp_path) -> None:
    trace = wl.Trace(traces / "generic.wlt")
    with pytest.raises(wl.Error, match="no kernel name matches .* the nearest are .*`faults`"):
        trace.replay(kernel="no such kernel")
    (note,) = trace.replay(space="constant", kernel="faults").messages
    assert "no memory access is selected" in note
    page = tmp_path / "page.html"
    command("replay", traces / "generic.wlt", "--fill=zero", "--html", page)
    found = trace.replay(fill="zero")
    assert found.html(tmp_path / "ours.html") == page.read_text()
    assert (tmp_path / "ours.html").read_bytes() == page.read_bytes()
    # Two launches of a kernel.
    twice = tmp_path / "twice.g"
    twice.write_text(f"{traces / 'rows-kernel-1.traceg'}\n" * 2)
    command("replay", twice, "--fill=address", "--html", page, "--by-launch")
    found = wl.Trace(twice).replay(fill="address")
    assert len(found.summary.launches) == 2
    assert found.html(by_launch=True) == page.read_text() != found.html()
    memory = wl.Memory({0x1000: bytes(64)})
    assert "a memory image" in trace.replay(image=memory).html()


@pytest.mark.parametrize("kernel", ["nosuch", "("])
def test_a_name_of_no_kernel_selects_nothing(traces, kernel) -> None:
    with pytest.raises(wl.Error, match="no kernel name matches") as raised:
        wl.Trace(traces / "generic.wlt").replay(kernel=kernel)
    assert raised.value.kind == "selection"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fill": "one"}, "fill: unknown variant `one`, expected `address` or `zero`"),
        ({"shard": (3, 3)}, "shard: expected (i, n), i below n"),
        ({"pc": "1a0"}, "pc: expected LO or LO..HI"),
        ({"pc": -1}, "pc: expected 0 to 2^64 - 1, not -1"),
        ({"address_bits": 5}, "address_bits: expected 32 to 64 bits, not 5"),
        ({"shared_window": (1, 2)}, "kernel 0"),
    ],
)
def test_wrong_options_are_errors(traces, options, message) -> None:
    with pytest.raises(wl.Error) as raised:
        wl.Trace(traces / "generic.wlt").replay(**options)
    assert message in str(raised.value)
    assert raised.value.kind == "argument"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fil": "zero"}, "unknown option `fil`; expected one of `?image"),
        ({"fill": 3}, "fill: expected a str"),
        ({"merge_pairs": "yes"}, "merge_pairs: expected a boolean"),
        ({"image": "generic.image.json", "fill": "zero"}, "an image determines"),
    ],
)
def test_options_of_other_types_are_type_errors(traces, options, message) -> None:
    with pytest.raises(TypeError, match=message):
        wl.Trace(traces / "generic.wlt").replay(**options)


def test_numbers_may_be_words(traces) -> None:
    import numpy as np
    trace = wl.Trace(traces / "generic.wlt")
    known = trace.replay(pc=(0x10, 0x80))
    assert known.to_dict()["selected"]["pc"] == "0x10..0x80"
    for pc in ("0x10..0x80", "16..128", [16, np.uint32(128)]):
        assert trace.replay(pc=pc) == known
    documented = wl.Trace.replay.__doc__
    assert all(f"`{name}`" in documented for name in _types.ReplayOptions.__annotations__)


def test_tables_are_filtered(traces) -> None:
    trace = wl.Trace(traces / "generic.wlt")
    whole = pl.DataFrame(trace)
    chosen = trace.accesses(space="shared", pc="0x10..0x80", opcode="LD.*", threads=2)
    found = trace.replay(space="shared", pc="0x10..0x80", opcode="LD.*")
    assert len(chosen) == chosen.to_polars().height == found.summary.loads.accesses > 0
    assert chosen.to_arrow().num_rows == len(chosen.to_pandas()) == found.summary.loads.accesses
    assert set(chosen.to_polars()["record"]) < set(whole["record"])
    # Accesses of every kind.
    for options in ({"opcode": "ST*"}, {"opcode": "{ATOM,RED}*"}, {"space": "global"}):
        some = trace.accesses(**options)
        assert 0 < len(some) == some.to_polars().height == accesses(trace.replay(**options))
    with pytest.raises(TypeError, match="expected options about the contents of memory"):
        trace.accesses(merge_pairs=True)
    rows = trace.replay(kernel="^", pc="0x10..0x80", opcode="LD.*").rows.to_polars()
    whole = trace.replay().rows.to_polars()
    expected = whole.filter(pl.col("pc").is_between(0x10, 0x80), pl.col("opcode").cast(str).str.starts_with("LD."))
    assert rows.equals(expected) and 0 < rows.height < whole.height


def test_tables_have_the_columns_that_are_asked_for(traces) -> None:
    trace = wl.Trace(traces / "generic.wlt")
    for table in (trace.accesses(), trace.accesses(threads=2), trace.replay().rows):
        some = table.select("opcode", "pc").select("pc")
        assert some.columns == ["pc"] and len(some) == len(table)
        assert some.to_polars()["pc"].equals(table.to_polars()["pc"])
    with pytest.raises(wl.Error, match='no column "no"; there are record, kernel'):
        trace.accesses().select("no")


def test_a_notebook_shows_the_worst_rows(traces) -> None:
    found = wl.Trace(traces / "btree-v5-kernel-1.traceg").replay()
    column = {name: pl.col(name).fill_null(0) for name in found.rows.columns}
    beyond = column["global_sectors_sum"] - column["global_ideal_sectors"]
    beyond += column["local_sectors"] - column["local_ideal_sectors"]
    worst = found.rows.to_polars().with_columns(beyond.alias("excess")).sort("excess", descending=True)
    html = found._repr_html_()
    assert "sectors" in html and html.index(f"{worst['pc'][0]:#x}") < html.index(f"{worst['pc'][1]:#x}")
    assert "<table>" in found.rows._repr_html_() and "<script" not in html
    # What counts nothing is left out, and what a row is never.
    shown = re.findall("<th>(.*?)</th>", html)
    assert {"launch", "kernel", "pc", "opcode", "kind", "space", "accesses"} <= {*shown}
    zeros = [name for name in found.rows.columns if name not in shown]
    assert "values_mismatches" in zeros and set(worst[:10].select(zeros).fill_null(0).row(0)) == {0}


def test_a_trace_is_a_context_manager(traces) -> None:
    with wl.Trace(traces / "generic.wlt", mmap=True) as trace:
        table = trace.accesses()
        assert mapped(traces / "generic.wlt")
    with pytest.raises(ValueError, match="the trace is closed"):
        trace.replay()
    assert table.to_arrow().num_rows == len(table)
    del table
    gc.collect()
    assert not mapped(traces / "generic.wlt")


def test_an_import_is_the_commands(command, traces, tmp_path) -> None:
    source = traces / "rows.kernelslist.g"
    for compression in ("zstd", "none"):
        ours, theirs = tmp_path / "ours.wlt", tmp_path / "theirs.wlt"
        trace = wl.import_(source, ours, compression=compression, threads=1)
        options = ("-o", theirs, "--compression", compression)
        assert command("import", source, *options).returncode == 0
        assert ours.read_bytes() == theirs.read_bytes()
        assert ours.stat().st_mode == theirs.stat().st_mode
        assert trace.replay() == wl.Trace(source).replay()
    with pytest.raises(wl.Error, match="compression: ") as raised:
        wl.import_(source, ours, compression="gzip")
    assert raised.value.kind == "argument"
    text = tmp_path / "bad.traceg"
    text.write_text((traces / "rows-kernel-1.traceg").read_text().replace("LDG.E", "LDG.E oops", 1))
    with pytest.raises(wl.Error) as raised:
        wl.import_(text, tmp_path / "never.wlt")
    assert raised.value.line is not None and sorted(os.listdir(tmp_path)) == ["bad.traceg", "ours.wlt", "theirs.wlt"]
    with pytest.raises(FileNotFoundError):
        wl.import_(source, tmp_path / "missing" / "never.wlt")


def test_an_import_replaces_no_input(traces, tmp_path) -> None:
    names = ["rows.kernelslist.g", "rows-kernel-1.traceg", "rows-kernel-2.traceg"]
    listed, text, _ = (Path(shutil.copy(traces / name, tmp_path)) for name in names)
    os.link(text, tmp_path / "hard")
    (tmp_path / "soft").symlink_to(text.name)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for source, output in [
        (text, text),
        (text, tmp_path / "hard"),
        (text, tmp_path / "soft"),
        (tmp_path / "soft", text),
        (listed, listed),
        (listed, text),
        (listed, tmp_path / "hard"),
    ]:
        with pytest.raises(wl.Error, match=f"{output.name}: is one of the inputs; expected another file to write") as raised:
            wl.import_(source, output)
        assert raised.value.kind == "input" and raised.value.file == str(output)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_an_import_replaces_whole_files(traces, tmp_path) -> None:
    source = traces / "rows.kernelslist.g"
    expected = wl.import_(source, tmp_path / "new").contents["content_hash"]
    old, link = tmp_path / "old", tmp_path / "link"
    old.write_text("old")
    old.chmod(0o640)
    link.symlink_to("old")
    bad = tmp_path / "bad.traceg"
    bad.write_text((traces / "rows-kernel-1.traceg").read_text().replace("LDG.E", "LDG.E oops", 1))
    with pytest.raises(wl.Error, match="bad.traceg:"):
        wl.import_(bad, link)
    assert old.read_text() == "old"
    assert wl.import_(source, link).contents["content_hash"] == expected
    assert link.is_symlink() and old.stat().st_mode & 0o777 == 0o640
    old.chmod(0o440)
    with pytest.raises(wl.Error, match="old: cannot be written: is read-only"):
        wl.import_(source, old)
    with pytest.raises(wl.Error, match="is a folder; expected the name of the file to write"):
        wl.import_(source, tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["bad.traceg", "link", "new", "old"]


def test_an_import_is_on_the_disk_before_it_has_its_name(traces, tmp_path) -> None:
    calls = "fsync,fdatasync,link,linkat,rename,renameat,renameat2"
    tracer = ["strace", "-f", "-qq", "-e", f"trace={calls}", "-o", tmp_path / "calls"]
    if shutil.which("strace") is None:
        pytest.skip("no strace")
    if subprocess.run([*tracer, "true"]).returncode != 0:
        pytest.skip(FORBIDDEN)
    code = "import sys, warpload; warpload.import_(*sys.argv[1:])"
    output = tmp_path / "out.wlt"
    subprocess.run([*tracer, sys.executable, "-c", code, traces / "rows.kernelslist.g", output], check=True)
    called = [line for line in (tmp_path / "calls").read_text().splitlines() if "sync(" in line or str(output) in line]
    assert "sync(" in called[0] and "= 0" in called[0] and str(output) in called[1]


def test_shards_merge_and_replays_compare(command, traces, tmp_path) -> None:
    trace = wl.Trace(traces / "generic.wlt")
    whole = trace.replay(fill="zero", threads=1)
    shards = [trace.replay(fill="zero", shard=(i, 3)) for i in range(3)]
    assert wl.merge(shards) == wl.merge(reversed(shards)) == whole
    for wrong, message in [
        (shards[:2], "shard 2 of 3 is missing"),
        ([*shards, shards[1]], "shard 1 of 3, like another one"),
        ([], "no summaries"),
    ]:
        with pytest.raises(wl.Error, match=message) as raised:
            wl.merge(wrong)
        assert raised.value.kind == "input"
    with pytest.raises(wl.Error, match="expected whole replays"):
        wl.compare(whole, shards[0])
    other = wl.Trace(traces / "btree-v5-kernel-1.traceg").replay(fill="zero")
    for name, replay in (("a", whole), ("b", other)):
        (tmp_path / name).write_bytes(replay.to_json())
    # Whole replays follow each other.
    both = wl.merge([whole, other])
    assert both.to_json() == command("merge", tmp_path / "a", tmp_path / "b", "--format", "json").stdout
    assert wl.merge([*shards, other]) == both and wl.merge([whole]) == whole
    assert both.summary.loads.accesses == whole.summary.loads.accesses + other.summary.loads.accesses
    assert [launch.launch for launch in both.summary.launches] == [*range(len(both.summary.launches))]
    assert len(both.rows) == len(whole.rows) + len(other.rows) and both.summary.footprint is None
    known = command("compare", tmp_path / "a", tmp_path / "b", "--format", "json")
    assert wl.compare(whole, other).details == json.loads(known.stdout)
    assert wl.compare(whole, whole).change == 0
    with pytest.raises(wl.Error, match="counted different accesses: all in the first") as raised:
        wl.compare(whole, trace.replay(fill="zero", pc=0x10))
    assert raised.value.kind == "selection"


def test_errors_are_the_commands(command, tmp_path, traces) -> None:
    text = (traces / "rows-kernel-1.traceg").read_text().replace("LDG.E", "LDG.E oops", 1)
    path = tmp_path / "bad.traceg"
    path.write_text(text)
    with pytest.raises(wl.Error) as raised:
        wl.Trace(path)
    known = command("info", path).stderr.decode()
    assert known == f"error: {raised.value}\n"
    error = raised.value
    assert error.file == str(path) and str(error).startswith(f"{path}:{error.line}:{error.column}:")


def test_a_damaged_block_fails_in_the_stream(tmp_path, traces) -> None:
    import pyarrow as pa
    damaged = bytearray((traces / "generic.wlt").read_bytes())
    # In the last block, after what is read at once.
    at = len(damaged) // 4
    damaged[at] ^= 0xFF
    path = tmp_path / "damaged.wlt"
    path.write_bytes(damaged)
    trace = wl.Trace(path)
    with pytest.raises(wl.Error, match="does not match its checksum"):
        trace.replay()
    with pytest.raises(Exception, match="does not match its checksum"):
        pa.table(trace)


# Arrow.


def test_polars_reads_a_trace(traces) -> None:
    trace = wl.Trace(traces / "btree-v5-kernel-1.traceg")
    table = pl.DataFrame(trace)
    found = trace.replay()
    assert table.height == len(trace) == accesses(found)
    kinds = {kind for kind, plural in KINDS.items() if getattr(found.summary, plural).accesses}
    assert kinds == set(table["kind"].unique()) and {"load", "store"} <= kinds
    rows = pl.DataFrame(found.rows)
    for kind in kinds:
        counts, some = getattr(found.summary, KINDS[kind]), table.filter(pl.col("kind") == kind)
        assert some.height == counts.accesses
        assert some["lanes"].sum() == counts.lanes
        sectors = some.filter(pl.col("space") == "global")["sectors"].sum()
        assert sectors == counts.global_.sectors.sum and counts.by_space.global_ > 0
        assert rows.filter(pl.col("kind") == kind)["accesses"].sum() == counts.accesses
    grouped = table.group_by("kernel", "pc", "opcode").len()
    assert grouped.height == rows.height
    assert pl.DataFrame(trace.accesses(threads=2)).equals(table)


def test_values_are_a_column(traces) -> None:
    trace = wl.Trace(traces / "generic.wlt", values=True)
    table = pl.DataFrame(trace)
    assert table.columns[-1] == "values" and "values" not in trace.accesses(values=False).columns
    assert table["values"][0].len() == 32
    filled = pl.DataFrame(wl.Trace(traces / "btree-v5-kernel-1.traceg").accesses(
        values=True, fill="address"
    ))
    is_load = filled["kind"] == "load"
    assert filled.filter(is_load)["values"].null_count() == 0
    assert filled.filter(~is_load)["values"].null_count() == filled.height - is_load.sum() > 0


def test_pyarrow_reads_a_trace(traces) -> None:
    import pyarrow as pa
    trace = wl.Trace(traces / "generic.wlt")
    table = pa.table(trace)
    assert table.num_rows == len(trace)
    assert pa.schema(trace) == table.schema
    metadata = table.schema.metadata
    assert metadata[b"source"].decode() == trace.contents["source"]
    found = trace.replay(fill="address")
    rows = pa.table(found.rows)
    assert rows.schema.metadata[b"digest"].decode() == found.summary.digest
    assert b"--fill address" in rows.schema.metadata[b"options"]
    assert rows.num_rows == len(found.rows)
    # A batch a block, made when it is asked for.
    batches = pa.RecordBatchReader.from_stream(trace)
    assert sum(batch.num_rows for batch in batches) == len(trace)


def test_pandas_reads_a_trace(traces) -> None:
    import pyarrow as pa
    import pandas as pd
    trace = wl.Trace(traces / "generic.wlt")
    if hasattr(pd.DataFrame, "from_arrow"):
        frame = pd.DataFrame.from_arrow(trace)
    else:
        frame = pa.table(trace).to_pandas()
    assert len(frame) == len(trace)
    assert frame["lanes"].sum() == trace.replay().rows.to_polars()["lanes"].sum()


def test_duckdb_reads_a_trace(traces) -> None:
    import duckdb
    trace = wl.Trace(traces / "generic.wlt")
    found = trace.replay()
    relation = duckdb.from_arrow(trace)
    known = (found.summary.loads.accesses, found.summary.loads.lanes)
    of_loads = relation.filter("kind = 'load'")
    assert of_loads.aggregate("count(*), sum(lanes)").fetchall() == [known]
    rows = duckdb.from_arrow(found.rows).filter("kind = 'load'")
    assert rows.aggregate("sum(accesses), sum(lanes)").fetchall() == [known]
    assert relation.aggregate("count(*)").fetchall() == [(accesses(found),)]


def test_a_stream_that_is_not_read_is_released(traces) -> None:
    path = traces / "generic.wlt"
    trace = wl.Trace(path, mmap=True)
    table = trace.accesses()
    capsules = [table.__arrow_c_stream__() for _ in range(8)]
    assert mapped(path)
    del trace, table
    gc.collect()
    assert mapped(path)
    capsules.clear()
    gc.collect()
    assert not mapped(path)


def test_threads_may_read_one_stream(traces, tmp_path) -> None:
    # A process of its own, which a memory error ends.
    program = f"""if True:
        import threading
        import pyarrow as pa, warpload as wl
        trace = wl.Trace({str(tmp_path / "many.g")!r})
        for threads in (1, 2) * 3:
            reader = pa.RecordBatchReader.from_stream(trace.accesses(threads=threads))
            rows = []
            def read():
                while True:
                    try:
                        rows.append(reader.read_next_batch().num_rows)
                    except StopIteration:
                        return
            readers = [threading.Thread(target=read) for _ in range(8)]
            for thread in readers:
                thread.start()
            for thread in readers:
                thread.join()
            assert sum(rows) == len(trace), (sum(rows), len(trace))
    """
    name = traces / "btree-v5-kernel-1.traceg"
    (tmp_path / "many.g").write_text(f"{name}\n" * 6)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_threads_may_find_one_error(traces, tmp_path) -> None:
    content = bytearray((traces / "generic.wlt").read_bytes())
    # A byte of a block, whose checksum is found wrong when it is read.
    content[len(content) // 3] ^= 1
    path = tmp_path / "damaged.wlt"
    path.write_bytes(content)
    reader = pa.RecordBatchReader.from_stream(wl.Trace(path).accesses())
    found: list[str] = []

    def read() -> None:
        for _ in range(100):
            try:
                reader.read_next_batch()
            except (OSError, ValueError) as error:
                found.append(str(error))

    readers = [threading.Thread(target=read) for _ in range(8)]
    for thread in readers:
        thread.start()
    for thread in readers:
        thread.join()
    assert len(found) == 800 and len(set(found)) == 1 and "damaged" in found[0]


def test_a_file_that_becomes_shorter_ends_no_process(traces, tmp_path) -> None:
    for name in ("generic.wlt", "generic.image.json", "generic.image.bin"):
        shutil.copy(traces / name, tmp_path)
    program = f"""if True:
        import os, warpload as wl
        folder = {str(tmp_path)!r}
        trace = wl.Trace(folder + "/generic.wlt")
        machine = wl.Machine.open(folder + "/generic.image.json")
        known = trace.replay(image=machine)
        for name in ("generic.wlt", "generic.image.bin"):
            os.truncate(folder + "/" + name, 0)
        assert trace.replay(image=machine) == known
        try:
            wl.Trace(folder + "/generic.wlt")
        except wl.Error as error:
            print(error.file == folder + "/generic.wlt")
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_a_trace_is_mapped_if_asked_for(traces) -> None:
    path, image = traces / "generic.wlt", traces / "generic.image.json"
    trace = wl.Trace(path)
    assert not mapped(path)
    again = wl.Trace(path, mmap=True)
    assert mapped(path) and again.replay() == trace.replay()
    machine = wl.Machine.open(image)
    assert not mapped(traces / "generic.image.bin")
    same = wl.Machine.open(image, mmap=True)
    assert mapped(traces / "generic.image.bin")
    assert trace.replay(image=same) == trace.replay(image=machine)


def test_threads_are_as_many_as_can_run(traces) -> None:
    trace = wl.Trace(traces / "btree-v5-kernel-1.traceg")
    with pytest.warns(UserWarning, match=r"threads=10000: \d+ are used, as many as can run at once"):
        table = trace.accesses(threads=10_000)
    assert pa.table(table).num_rows == len(trace)


def mapped(path) -> bool:
    """Whether a file is mapped into this process."""
    with open("/proc/self/maps") as maps:
        return any(str(path.resolve()) in line for line in maps)


# Threads, signals, references.


def test_two_threads_replay_at_once(traces) -> None:
    trace = wl.Trace(traces / "btree-v5-kernel-1.traceg")
    known = trace.replay(fill="address")
    found: list[wl.Replay] = []
    # Each waits in its callback until the other has come there: the lock is free meanwhile.
    together = threading.Barrier(2, timeout=60)

    def replay() -> None:
        met = False

        def progress(done: int, total: int) -> None:
            nonlocal met
            if not met:
                met = True
                together.wait()

        found.append(trace.replay(fill="address", progress=progress))

    threads = [threading.Thread(target=replay) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [known, known]


def test_progress_ends_with_everything(traces) -> None:
    steps: list[tuple[int, int]] = []
    trace = wl.Trace(traces / "btree-v5-kernel-1.traceg")
    trace.replay(progress=lambda done, total: steps.append((done, total)))
    assert steps and steps == sorted(steps) and steps[-1][0] == steps[-1][1] > 0


def test_what_progress_raises_stops_the_replay(traces) -> None:
    class Stop(Exception):
        pass

    def progress(done: int, total: int) -> None:
        raise Stop

    trace = wl.Trace(traces / "generic.wlt")
    with pytest.raises(Stop):
        trace.replay(progress=progress)
    assert accesses(trace.replay()) == len(trace)


def test_references_are_given_back(traces) -> None:
    trace = wl.Trace(traces / "generic.wlt")

    def progress(done: int, total: int) -> None:
        pass

    options = {"fill": "zero", "progress": progress}
    before = sys.getrefcount(progress)
    for _ in range(10):
        trace.replay(**options)
    gc.collect()
    assert sys.getrefcount(progress) == before
    memory = wl.Machine.open(traces / "generic.image.json").memory
    before = sys.getrefcount(memory)
    for _ in range(10):
        trace.replay(image=memory)
    assert sys.getrefcount(memory) == before


def test_open_traces_leave_no_files(traces) -> None:
    def count() -> int:
        gc.collect()
        return len(os.listdir("/proc/self/fd"))

    wl.Trace(traces / "rows.kernelslist.g").replay()
    before = count()
    for _ in range(5):
        wl.Trace(traces / "rows.kernelslist.g").replay()
        wl.Machine.open(traces / "generic.image.json")
        wl.decode_file(traces / "gather.sm_50.cubin")
    assert count() == before


INTERRUPTED = """
import sys, warpload
trace = warpload.Trace(sys.argv[1])
started = False
def progress(done, total):
    global started
    if not started:
        started = True
        print("started", flush=True)
try:
    # More than any machine is done with before the signal.
    while True:
        trace.replay(fill="address", progress=progress)
except KeyboardInterrupt:
    print("interrupted", len(trace), trace.replay().summary.loads.accesses, flush=True)
"""


def test_control_c_stops_a_replay(traces) -> None:
    path = traces / "btree-v5-kernel-1.traceg"
    child = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "started\n"
    child.send_signal(signal.SIGINT)
    output, _ = child.communicate(timeout=120)
    assert output == "interrupted 14664 10408\n" and child.returncode == 0


def test_a_path_is_no_stream(tmp_path: Path, monkeypatch, traces: Path) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError):
        wl.Trace("-")
    shutil.copy(traces / "generic.wlt", "-")
    assert len(wl.Trace("-")) > 0


def test_a_memory_says_its_windows_itself(traces: Path) -> None:
    with pytest.raises(TypeError, match="image"):
        wl.Trace(traces / "generic.wlt").replay(image=wl.Memory(), address_bits=32)


def test_errors_of_tables_say_why(traces: Path) -> None:
    trace = wl.Trace(traces / "generic.wlt")
    with pytest.raises(wl.Error, match="kernel 0 .*: .*window"):
        trace.accesses(shared_window=(1, 3))


@pytest.mark.parametrize("summary", [2**31, None, 1.5, [1, 2]])
def test_a_summary_is_bytes_or_a_text(summary) -> None:
    # `bytes` of a number would be that many zeros.
    with pytest.raises(TypeError, match="bytes-like object is required"):
        wl.Replay.from_json(summary)
