"""Damaged files: each is an error that names the file, or read as what it is."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
import warpload as wl


def damaged(content: bytes, *, flips: int = 6) -> Iterator[bytes]:
    """An empty file, one that is cut in half, and some with a byte that has other bits."""
    yield b""
    yield content[: len(content) // 2]
    chance = random.Random(17)
    for _ in range(flips):
        at, bits = chance.randrange(len(content)), chance.randrange(1, 256)
        yield content[:at] + bytes([content[at] ^ bits]) + content[at + 1 :]


def outcome(use, path: Path):
    """What a use of a file returns, or its error, which has to name the file."""
    try:
        return use(path)
    except wl.Error as error:
        assert error.file is not None and Path(error.file) == path, repr(error)
        return error


@pytest.mark.parametrize(
    "name",
    ["generic.wlt", "btree-v5-kernel-1.traceg", "rows.kernelslist.g"],
)
def test_a_damaged_trace(traces: Path, tmp_path: Path, name: str) -> None:
    for file in traces.glob("rows-*.traceg"):
        shutil.copy(file, tmp_path)
    path = tmp_path / name
    whole = (traces / name).read_bytes()
    refused = 0
    for content in damaged(whole):
        path.write_bytes(content)
        found = outcome(wl.Trace, path)
        if isinstance(found, wl.Error):
            refused += 1
            continue
        replay = outcome(lambda _: found.replay(fill="zero"), path)
        if isinstance(replay, wl.Error):
            refused += 1
            with pytest.raises(Exception, match=r"damaged|malformed"):
                pl.DataFrame(found)
        else:
            accesses = replay.rows.to_polars()["accesses"].sum()
            assert accesses == len(found) == pl.DataFrame(found).height
    # A binary trace has a checksum for every byte.
    assert refused == 8 if name.endswith(".wlt") else refused >= 2, refused


def test_damaged_code(traces: Path, data: Path, tmp_path: Path) -> None:
    for file in (traces / "gather.sm_50.cubin", data / "listings" / "chase.sm_50.nvdisasm.txt"):
        path = tmp_path / file.name
        for content in damaged(file.read_bytes()):
            path.write_bytes(content)
            found = outcome(wl.decode_file, path)
            assert isinstance(found, wl.Error) or all(str(load) for load in found)


def test_one_damaged_image_hides_no_other(data: Path, tmp_path: Path) -> None:
    path = data / "fatbins" / "lib.a"
    whole = wl.decode_file(path)
    content = bytearray(path.read_bytes())
    # The offset of a section's name, in the first image.
    content[366] ^= 0xFF
    damaged = tmp_path / "lib.a"
    damaged.write_bytes(content)
    with pytest.warns(UserWarning) as warned:
        found = wl.decode_file(damaged)
    assert found == [load for load in whole if load.image != 1] != whole
    (message,) = [str(one.message) for one in warned]
    assert message.startswith(f"{damaged}: image 1: section ")
    assert warned[0].filename == __file__
    # If there is no other, nothing is left.
    single = tmp_path / "one.cubin"
    single.write_bytes((data / "listings" / "chase.sm_50.cubin").read_bytes()[:200])
    for path, sm in ((damaged, "90"), (single, None)):
        with pytest.raises(wl.Error):
            wl.decode_file(path, sm=sm)


def test_a_damaged_image(traces: Path, tmp_path: Path) -> None:
    manifest = tmp_path / "generic.image.json"
    files = [file.name for file in traces.glob("generic.image*")]
    assert len(files) > 1
    trace = wl.Trace(traces / "generic.wlt")
    for name in files:
        for file in files:
            shutil.copy(traces / file, tmp_path)
        path = tmp_path / name
        for content in damaged(path.read_bytes()):
            path.write_bytes(content)
            found = outcome(lambda _: wl.Machine.open(manifest), manifest)
            if not isinstance(found, wl.Error):
                # The bytes of memory are any bytes: values then differ from the expected ones.
                assert trace.replay(image=found).rows.to_polars()["accesses"].sum() == len(trace)
            else:
                assert found.line is None or path == manifest


def test_a_damaged_module(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.ptx"
    for content in damaged((data / "ptx" / "run.ptx").read_bytes(), flips=20):
        path.write_bytes(content)
        for use in (wl.ptx.check, wl.ptx.lower, wl.ptx.run):
            outcome(use, path)


def test_a_damaged_summary(traces: Path) -> None:
    whole = wl.Trace(traces / "generic.wlt").replay(fill="zero").to_json()
    for content in damaged(whole, flips=40):
        try:
            found = wl.Replay.from_json(content)
        except wl.Error:
            continue
        assert isinstance(found.summary.loads.accesses, int) and len(found.rows) > 0 and repr(found)


def test_a_damaged_shard(traces: Path, tmp_path: Path, command) -> None:
    paths = [tmp_path / f"{shard}.json" for shard in range(3)]
    for shard, path in enumerate(paths):
        replay = ["replay", traces / "generic.wlt", f"--shard={shard}/3", "--format=json", "-o", path]
        assert command(*replay).returncode == 0
    known = command("merge", *paths, "--format=json").stdout
    whole = paths[1].read_bytes()
    for content in damaged(whole):
        paths[1].write_bytes(content)
        done = command("merge", *paths, "--format=json")
        assert done.returncode == 2 and not done.stdout
        with pytest.raises(wl.Error):
            wl.Replay.from_json(content)
    paths[1].write_bytes(whole)
    assert command("merge", *paths, "--format=json").stdout == known
