"""Import and replay on a cluster of two worker processes."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import warpload as wl

pytest.importorskip("distributed")
from distributed import Client, LocalCluster  # noqa: E402

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
def kernels_list(tmp_path):
    """A folder with a list of traces of its own, and what they name."""
    folder = tmp_path / "traces"
    folder.mkdir()
    for path in TRACES.iterdir():
        if path.suffix in {".traceg", ".g"}:
            shutil.copy(path, folder)
    return folder / "samples.kernelslist.g"


@pytest.fixture
def trace_set(kernels_list):
    command("import", kernels_list, "--split", "-o", kernels_list.parent / "parts")
    return kernels_list.parent / "parts" / "trace.set.json"


@pytest.fixture
def whole(kernels_list):
    """The bytes of a replay of everything in one process."""
    return command("replay", kernels_list, "--fill=address", "--merge-pairs", "--format=json")


def merged(folder):
    """The bytes of the merged result: the only output that is no partial one."""
    [path] = [path for path in outputs(folder) if b'"partial"' not in path.read_bytes()]
    return path.read_text(encoding="utf-8")


def outputs(folder):
    return sorted(path for path in folder.iterdir() if path.is_file())


def states(folder):
    """What changes if a file is written again."""
    return {path.name: (path.stat().st_mtime_ns, path.stat().st_ino) for path in outputs(folder)}


def test_import_and_replay_equal_one_process(client, kernels_list, whole):
    seen = []
    trace_set = wl.cluster.import_(str(kernels_list), client)
    result = wl.cluster.replay(
        trace_set, client, shards=SHARDS, progress=lambda *at: seen.append(at), **OPTIONS
    )
    assert result.to_dict() == json.loads(whole)
    folder = Path(trace_set).with_name("trace.replay")
    assert merged(folder) == whole
    assert seen == [(done, len(seen)) for done in range(1, len(seen) + 1)]
    assert len(seen) == SHARDS + 1


def test_set_of_the_cluster_is_that_of_split(client, kernels_list, trace_set):
    by_tasks = Path(wl.cluster.import_(str(kernels_list), client))
    assert by_tasks.read_bytes() == trace_set.read_bytes()
    for path in outputs(trace_set.parent):
        assert by_tasks.with_name(path.name).read_bytes() == path.read_bytes()


def test_fan_in_makes_a_deeper_tree_with_the_same_bytes(client, trace_set, whole):
    for fan_in in (2, 3):
        folder = trace_set.with_name(f"fan-in-{fan_in}")
        wl.cluster.replay(
            str(trace_set), client, shards=SHARDS, fan_in=fan_in, folder=str(folder), **OPTIONS
        )
        assert merged(folder) == whole


def start_a_task_and_die():
    """Makes the worker that runs this die in its next task, after the command has started."""
    from warpload.cluster import _tasks

    def command(argv, directory):
        subprocess.Popen([sys.executable, "-m", *argv], cwd=directory)
        os._exit(1)

    _tasks.command = command


def test_worker_that_dies_in_a_task(client, trace_set, whole):
    before = client.run(os.getpid)
    victim = next(iter(before))
    client.run(start_a_task_and_die, workers=[victim])
    result = wl.cluster.replay(str(trace_set), client, shards=SHARDS, **OPTIONS)
    assert result.to_dict() == json.loads(whole)
    assert merged(trace_set.with_name("trace.replay")) == whole
    client.wait_for_workers(2)
    assert before[victim] not in client.run(os.getpid).values()


def test_done_work_is_skipped_and_damage_mended(client, trace_set, whole):
    folder = trace_set.with_name("trace.replay")

    def again():
        wl.cluster.replay(str(trace_set), client, shards=SHARDS, **OPTIONS)
        assert merged(folder) == whole
        return states(folder)

    first = again()
    assert again() == first

    [damaged, *_] = [path for path in outputs(folder) if b'"partial"' in path.read_bytes()]
    content = damaged.read_bytes()
    damaged.write_bytes(content[: len(content) // 2])
    mended = again()
    assert damaged.read_bytes() == content
    assert {name for name in first if first[name] != mended[name]} == {damaged.name}


def test_what_a_task_refuses(client, trace_set):
    part = next(path for path in outputs(trace_set.parent) if path.suffix == ".wlt")
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    part.write_bytes(content)
    with pytest.raises(wl.Error, match=part.name):
        wl.cluster.replay(str(trace_set), client, shards=SHARDS, retries=0, **OPTIONS)
    with pytest.raises(FileNotFoundError):
        wl.cluster.replay(str(trace_set.with_name("none.json")), client)
    with pytest.raises(wl.Error, match="fill: unknown variant `nothing`"):
        wl.cluster.replay(str(trace_set), client, shards=SHARDS, fill="nothing")


def test_what_is_refused_is_not_tried_again(client, trace_set, tmp_path):
    tried = tmp_path / "tried"

    def write_down(path):
        from warpload.cluster import _tasks

        def command(argv, directory, run=_tasks.command):
            with open(path, "a") as file:
                file.write(argv[-1] + "\n")
            return run(argv, directory)

        _tasks.command = command

    def undo():
        import importlib

        from warpload.cluster import _tasks

        importlib.reload(_tasks)

    part = next(path for path in outputs(trace_set.parent) if path.suffix == ".wlt")
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    part.write_bytes(content)
    client.run(write_down, str(tried))
    try:
        with pytest.raises(wl.Error, match="checksum") as raised:
            wl.cluster.replay(str(trace_set), client, shards=1, **OPTIONS)
        assert raised.value.kind == "input"
        assert len(tried.read_text().splitlines()) == 1
        tried.unlink()
        part.unlink()
        with pytest.raises(wl.Error, match="os error") as raised:
            wl.cluster.replay(str(trace_set), client, shards=1, retries=2, **OPTIONS)
        assert raised.value.kind == "system"
        assert len(tried.read_text().splitlines()) == 3
    finally:
        client.run(undo)


def test_what_is_planned_is_what_is_asked_for(client, kernels_list, trace_set):
    with pytest.raises(wl.Error, match="expected a trace set"):
        wl.cluster.replay(str(kernels_list), client, shards=2)
    with pytest.raises(wl.Error, match="expected|shards"):
        wl.cluster.import_(str(trace_set), client)


def test_a_worker_without_the_command(client, trace_set):
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
            wl.cluster.replay(str(trace_set), client, shards=2, retries=0)
    finally:
        client.run(mend_it)


def test_files_beside_a_task_are_no_modules(client, trace_set, tmp_path, monkeypatch, whole):
    (tmp_path / "json.py").write_text("raise SystemExit('imported')")
    client.run(os.chdir, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    result = wl.cluster.replay(str(trace_set), client, shards=2, **OPTIONS)
    assert result.to_dict() == json.loads(whole)


def test_relative_names(client, tmp_path, monkeypatch):
    for path in TRACES.glob("generic.*"):
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    result = wl.cluster.replay(
        Path("generic.wlt"), client, shards=2, folder="out", image="generic.image.json"
    )
    whole = wl.Trace("generic.wlt").replay(image="generic.image.json")
    assert result.to_json() == whole.to_json()


#: `memory://` is a process's own, so that the worker is a thread; one, because all readers of a file share
#: its position.
THREAD = {"processes": False, "n_workers": 1, "threads_per_worker": 1}


def test_other_storage(kernels_list, whole):
    fsspec = pytest.importorskip("fsspec")
    storage = fsspec.filesystem("memory")
    for path in outputs(kernels_list.parent):
        storage.pipe_file(f"/bucket/traces/{path.name}", path.read_bytes())
    with Client(**THREAD, dashboard_address=":0") as client:
        # The root of a file system is a folder like others.
        storage.pipe_file("/generic.wlt", (TRACES / "generic.wlt").read_bytes())
        wl.cluster.replay("memory://generic.wlt", client, shards=2)
        assert len(storage.find("/generic.replay")) == 3
        url = wl.cluster.import_(f"memory://bucket/traces/{kernels_list.name}", client)
        result = wl.cluster.replay(url, client, shards=SHARDS, **OPTIONS)
        assert result.to_dict() == json.loads(whole)
        folder = "/bucket/traces/samples.kernelslist.traces/trace.replay"
        first = {path: storage.created(path) for path in storage.find(folder)}
        wl.cluster.replay(url, client, shards=SHARDS, **OPTIONS)
        assert {path: storage.created(path) for path in storage.find(folder)} == first
        assert not [path for path in storage.find("/bucket") if path.endswith(".temporary")]


def test_what_was_fetched_in_part_is_fetched_again(monkeypatch):
    fsspec = pytest.importorskip("fsspec")
    storage = fsspec.filesystem("memory")
    trace = TRACES / "generic.wlt"
    storage.pipe_file("/cut/generic.wlt", trace.read_bytes())
    fetch, fetched = type(storage).get_file, []

    def cut(self, path, to, **options):
        fetch(self, path, to, **options)
        fetched.append(path)
        # The first one is for the plan.
        if len(fetched) == 2:
            os.truncate(to, 1000)

    monkeypatch.setattr(type(storage), "get_file", cut)
    with Client(**THREAD, dashboard_address=":0") as client:
        result = wl.cluster.replay("memory://cut/generic.wlt", client, shards=1, fill="zero")
    assert len(fetched) > 2
    assert result.to_json() == wl.Trace(trace).replay(fill="zero").to_json()


def test_shell(trace_set, whole):
    argv = [sys.executable, "-m", "warpload.cluster", "replay", str(trace_set), "--workers=2"]
    argv += [f"--shards={SHARDS}", "--fill", "address", "--merge-pairs"]
    argv[4:] = argv[5:] + argv[4:5]
    done = subprocess.run(argv, capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stdout) == (0, whole), done.stderr
    argv[-1] = "no-such-set.json"
    done = subprocess.run(argv, capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no-such-set.json" in done.stderr


def test_plan_run_by_xargs(trace_set, whole, tmp_path):
    """The plan's text is enough for a shell: no Python runs the tasks."""
    plan = ["plan", trace_set, f"--shards={SHARDS}", "--fan-in=3", "--fill=address", "--merge-pairs"]
    plan += ["-o", tmp_path / "tasks"]
    tasks = [json.loads(line) for line in command(*plan, "--format=json").splitlines()]
    programs = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    for level in range(tasks[-1]["level"] + 1):
        lines = command(*plan, "--format=text", f"--level={level}")
        subprocess.run(
            ["xargs", "-d", "\n", "-P", "2", "-I", "{}", "sh", "-c", "{}"],
            input=lines,
            encoding="utf-8",
            check=True,
            env={**os.environ, "PATH": programs},
        )
    assert Path(tasks[-1]["output"]).read_text(encoding="utf-8") == whole
