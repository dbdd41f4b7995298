"""The command in the package, and how the package is made."""

from __future__ import annotations

import ast
import os
import shutil
import signal
import subprocess
import sys

import pytest
import warpload as wl


@pytest.mark.parametrize(
    "line",
    [
        ["--version"],
        ["--help"],
        ["decode", "--help"],
        ["decode", "--word", "0x80d0000000070404", "0x0"],
        ["decode", "traces/gather.sm_50.cubin", "--control", "maxas"],
        ["encode", "LD.E.64 R4, [R2 - -4]"],
        ["explain", "0x80d0000000070404"],
        ["info", "traces/generic.wlt"],
        ["info", "missing"],
        ["replay", "traces/rows.kernelslist.g", "--fill=address", "--format=json"],
        ["replay"],
        ["ptx", "check", "tests/data/ptx/illegal.ptx"],
        ["tmem", "map", "16x256b", "x1", "--svg", "-"],
    ],
)
def test_the_module_is_the_command(command, module, root, line) -> None:
    ours, theirs = module(*line, cwd=root), command(*line, cwd=root)
    assert (ours.returncode, ours.stdout, ours.stderr) == (
        theirs.returncode,
        theirs.stdout,
        theirs.stderr,
    )


def test_standard_input_is_read(module) -> None:
    answer = module("encode", input=b"LD.E.128 R4, [R4], P0\n")
    assert answer.stdout == b"0x80d0000000070404\n" and answer.returncode == 0


def test_files_are_written(command, module, traces, tmp_path) -> None:
    ours, theirs = tmp_path / "ours.wlt", tmp_path / "theirs.wlt"
    assert module("import", traces / "rows.kernelslist.g", "-o", ours).returncode == 0
    assert command("import", traces / "rows.kernelslist.g", "-o", theirs).returncode == 0
    assert ours.read_bytes() == theirs.read_bytes()
    text = traces / "rows-kernel-1.traceg"
    copy = tmp_path / "copy.traceg"
    copy.write_bytes(text.read_bytes())
    over = module("import", copy, "-o", copy)
    assert over.returncode == 2 and b"is one of the inputs" in over.stderr


def test_the_script_is_the_command(command) -> None:
    script = shutil.which("warpload", path=os.path.dirname(sys.executable))
    assert script is not None
    ours = subprocess.run([script, "--version"], capture_output=True)
    assert ours.stdout == command("--version").stdout


def test_control_c_ends_the_command() -> None:
    # Reading standard input lasts until it ends, which it does not.
    child = subprocess.Popen(
        [sys.executable, "-m", "warpload", "encode"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdin is not None and child.stdout is not None
    # More than is buffered, and less than a pipe holds.
    child.stdin.write(b"LD.E R0, [R2]\n" * 1_000)
    child.stdin.flush()
    word = b"%#018x\n" % wl.encode("LD.E R0, [R2]")
    # The command is at work once it has written something.
    assert child.stdout.read(len(word)) == word
    child.send_signal(signal.SIGINT)
    child.stdout.close()
    assert child.wait(timeout=60) == -signal.SIGINT
    child.stdin.close()


def test_a_closed_pipe_is_no_error(traces) -> None:
    line = [sys.executable, "-m", "warpload", "tmem", "map", "32x32b", "x128", "--format", "json"]
    child = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None and child.stderr is not None
    child.stdout.read(1)
    child.stdout.close()
    assert child.stderr.read() == b"" and child.wait(timeout=60) == 0
    child.stderr.close()


def test_importing_takes_no_other_package() -> None:
    script = "import sys, warpload; warpload.decode(0); print(*sorted(sys.modules))"
    names = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"numpy", "json", "polars", "pyarrow", "distributed"} & set(names.stdout.split())


def test_everything_that_is_named_is_there() -> None:
    for name in wl.__all__:
        if name != "cluster":
            assert getattr(wl, name) is not None
    assert set(wl.__all__) <= set(dir(wl))
    with pytest.raises(AttributeError):
        wl.nothing  # type: ignore[attr-defined]


def test_the_stubs_name_what_the_module_has() -> None:
    from warpload import _native

    path = os.path.join(os.path.dirname(wl.__file__), "_native.pyi")
    tree = ast.parse(open(path).read())
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            kind = getattr(_native, node.name)
            members = {
                one.name
                for one in node.body
                if isinstance(one, ast.FunctionDef) and not one.name.startswith("__")
            }
            ours = {name for name in vars(kind) if not name.startswith("__")}
            assert members == ours, node.name
        elif isinstance(node, ast.FunctionDef):
            assert callable(getattr(_native, node.name))


def test_the_package_is_typed(root) -> None:
    folder = root / "python"
    options = ["--config-file", folder / "pyproject.toml", "--cache-dir", os.devnull]
    line = [sys.executable, "-m", "mypy", *map(str, options), os.path.dirname(wl.__file__)]
    checked = subprocess.run(line, capture_output=True, text=True, cwd=folder)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="a shell closes standard output")
@pytest.mark.parametrize("closed", [">&-", "<&- >&-"])
def test_standard_output_that_is_closed_is_an_error(traces, tmp_path, closed: str) -> None:
    # A file that is opened does not get the place of standard output.
    path = tmp_path / "out.jsonl"
    for arguments in (["info", traces / "generic.wlt"], ["export", traces / "generic.wlt", "-o", path]):
        line = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-m", "warpload"]
        done = subprocess.run([*line, *map(str, arguments)], stderr=subprocess.PIPE, text=True)
        assert done.returncode == 2
        assert done.stderr.startswith("error: standard output cannot be written: ")
    assert all(line.startswith("{") for line in path.read_text().splitlines())


def test_a_cluster_without_its_extra() -> None:
    run = "import runpy, sys; sys.modules[{!r}] = None; runpy.run_module('warpload.cluster', run_name='__main__')"
    for missing in ["distributed", "fsspec"]:
        ran = subprocess.run(
            [sys.executable, "-c", run.format(missing), "app.wlt"], capture_output=True, text=True
        )
        assert ran.returncode == 2, ran.stderr
        assert ran.stderr.startswith("error: ") and "pip install 'warpload[cluster]'" in ran.stderr
