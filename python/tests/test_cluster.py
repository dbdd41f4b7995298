"""Replays on a cluster of two worker processes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import fsspec
import pytest
import warpload as wl
from distributed import Client, LocalCluster

TRACES = Path(__file__).parents[2] / "traces"
OPTIONS = {"fill": "address", "merge_pairs": True}
SHARDS = 7


def command(*arguments, **keywords):
    """What the command prints."""
    argv = [sys.executable, "-m", "warpload", *map(str, arguments)]
    return subprocess.run(argv, check=True, capture_output=True, encoding="utf-8", **keywords).stdout


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def trace(tmp_path):
    command("import", TRACES / "samples.kernelslist.g", "-o", tmp_path / "samples.wlt")
    return tmp_path / "samples.wlt"


@pytest.fixture
def whole(trace):
    """The bytes of a replay of everything in one process."""
    return command("replay", trace, "--fill=address", "--merge-pairs", "--format=json")


def damage(trace):
    content = bytearray(trace.read_bytes())
    # In a block: the footer is read by every task.
    content[60] ^= 1
    trace.write_bytes(content)


def test_replay_equals_one_process(client, trace, whole):
    seen = []
    result = wl.cluster.replay(
        trace, client, shards=SHARDS, progress=lambda *at: seen.append(at), **OPTIONS
    )
    assert result.to_json().decode() == whole
    assert seen == [(done, len(seen)) for done in range(1, len(seen) + 1)]
    assert len(seen) == SHARDS + 1


def test_any_number_of_shards_has_the_same_bytes(client, trace, whole):
    for shards in (1, 2, 3, 20, None):
        found = wl.cluster.replay(str(trace), client, shards=shards, **OPTIONS)
        assert found.to_json().decode() == whole and found.summary.shard is None


def start_a_task_and_die():
    """Makes the worker that runs this die in its next task, after the command has started."""
    from warpload.cluster import _tasks

    def command(arguments, folder):
        subprocess.Popen([sys.executable, "-m", "warpload", *arguments], cwd=folder)
        os._exit(1)

    _tasks.command = command


def test_worker_that_dies_in_a_task(client, trace, whole):
    before = client.run(os.getpid)
    victim = next(iter(before))
    client.run(start_a_task_and_die, workers=[victim])
    result = wl.cluster.replay(str(trace), client, shards=SHARDS, **OPTIONS)
    assert result.to_json().decode() == whole
    client.wait_for_workers(2)
    assert before[victim] not in client.run(os.getpid).values()


def test_what_a_task_refuses(client, trace):
    with pytest.raises(wl.Error, match="no kernel") as raised:
        wl.cluster.replay(str(trace), client, kernel="no such kernel", shards=2)
    assert raised.value.kind == "selection"
    with pytest.raises(wl.Error, match="fill: unknown variant `nothing`"):
        wl.cluster.replay(str(trace), client, shards=SHARDS, fill="nothing")
    with pytest.raises(FileNotFoundError):
        wl.cluster.replay(str(trace.with_name("none.wlt")), client)
    with pytest.raises(wl.Error, match="expected at least") as raised:
        wl.cluster.replay(str(trace), client, shards=0)
    assert raised.value.kind == "argument"
    with pytest.raises(wl.Error, match="expected a binary trace"):
        wl.cluster.replay(TRACES / "samples.kernelslist.g", client, shards=2)


def test_what_is_refused_is_not_tried_again(client, trace, tmp_path):
    tried = tmp_path / "tried"

    def write_down(path):
        from warpload.cluster import _tasks

        def command(arguments, folder, run=_tasks.command):
            with open(path, "a") as file:
                file.write(arguments[-1] + "\n")
            return run(arguments, folder)

        _tasks.command = command

    def undo():
        import importlib

        from warpload.cluster import _tasks

        importlib.reload(_tasks)

    good = trace.read_bytes()
    damage(trace)
    client.run(write_down, str(tried))
    try:
        with pytest.raises(wl.Error, match=f"{trace.name}.*checksum") as raised:
            wl.cluster.replay(str(trace), client, shards=1, **OPTIONS)
        assert raised.value.kind == "input"
        assert len(tried.read_text().splitlines()) == 1
        tried.unlink()
        trace.write_bytes(good)
        with pytest.raises(wl.Error, match="os error") as raised:
            missing = str(tmp_path / "missing.json")
            wl.cluster.replay(str(trace), client, shards=1, retries=2, image=missing)
        assert raised.value.kind == "system"
        assert len(tried.read_text().splitlines()) == 3
    finally:
        client.run(undo)


def test_a_worker_without_the_command(client, trace):
    """Exit status 1 of Python itself is no result."""

    def break_it():
        from warpload.cluster import _tasks

        _tasks.sys = type("Broken", (), {"executable": shutil.which("false")})

    def mend_it():
        from warpload.cluster import _tasks

        _tasks.sys = sys

    client.run(break_it)
    try:
        with pytest.raises(wl.Error, match="exit status 1"):
            wl.cluster.replay(str(trace), client, shards=2, retries=0)
    finally:
        client.run(mend_it)


def test_files_beside_a_task_are_no_modules(client, trace, tmp_path, monkeypatch, whole):
    (tmp_path / "json.py").write_text("raise SystemExit('imported')")
    client.run(os.chdir, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    result = wl.cluster.replay(str(trace), client, shards=2, **OPTIONS)
    assert result.to_json().decode() == whole


def test_relative_names(client, tmp_path, monkeypatch):
    for path in TRACES.glob("generic.*"):
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    result = wl.cluster.replay(
        Path("generic.wlt"), client, shards=2, image="generic.image.json"
    )
    whole = wl.Trace("generic.wlt").replay(image="generic.image.json")
    assert result.to_json() == whole.to_json()


#: `memory://` is a process's own, so that the worker is a thread; one, because all readers of a file share
#: its position.
THREAD = {"processes": False, "n_workers": 1, "threads_per_worker": 1}


def test_other_storage(trace, whole, monkeypatch):
    storage = fsspec.filesystem("memory")
    fetch, fetched = type(storage).get_file, []

    def count(self, path, to, **options):
        fetched.append(Path(to))
        return fetch(self, path, to, **options)

    monkeypatch.setattr(type(storage), "get_file", count)
    # The root of a file system is a folder like others.
    for name in ("samples.wlt", "bucket/traces/samples.wlt"):
        storage.pipe_file(f"/{name}", trace.read_bytes())
        fetched.clear()
        with Client(**THREAD, dashboard_address=":0") as client:
            result = wl.cluster.replay(f"memory://{name}", client, shards=SHARDS, **OPTIONS)
            assert result.to_json().decode() == whole
            # Once for all shards, and it does not stay.
            assert len(fetched) == 1 and not fetched[0].parent.exists()


def test_what_was_fetched_in_part_is_fetched_again(monkeypatch):
    storage = fsspec.filesystem("memory")
    trace = TRACES / "generic.wlt"
    storage.pipe_file("/cut/generic.wlt", trace.read_bytes())
    fetch, fetched = type(storage).get_file, []

    def cut(self, path, to, **options):
        fetch(self, path, to, **options)
        fetched.append(path)
        if len(fetched) == 1:
            os.truncate(to, 1000)

    monkeypatch.setattr(type(storage), "get_file", cut)
    with Client(**THREAD, dashboard_address=":0") as client:
        result = wl.cluster.replay("memory://cut/generic.wlt", client, shards=1, fill="zero")
    assert len(fetched) == 2
    assert result.to_json() == wl.Trace(trace).replay(fill="zero").to_json()


def test_shell(trace, whole):
    argv = [sys.executable, "-m", "warpload.cluster", "--workers=2", f"--shards={SHARDS}"]
    argv += ["--fill", "address", "--merge-pairs", str(trace)]
    done = subprocess.run(argv, capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stdout) == (0, whole), done.stderr
    argv[-1] = "no-such-trace.wlt"
    done = subprocess.run(argv, capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no-such-trace.wlt" in done.stderr
