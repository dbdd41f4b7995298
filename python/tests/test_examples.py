"""The examples do what they say, within one process and without a detour over JSON."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import FORBIDDEN

EXAMPLES = Path(__file__).parents[1] / "examples"

# Starting a program is an error, and so is JSON as text that our package or an example makes.
GUARD = """
import json, runpy, sys
def guard(event, arguments):
    if event in ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "os.fork"):
        raise RuntimeError(f"{event}: {arguments}")
def ours(function):
    def guarded(*arguments, **options):
        name = sys._getframe(1).f_globals.get("__name__", "")
        assert name != "__main__" and not name.startswith("warpload"), f"JSON in {name}"
        return function(*arguments, **options)
    return guarded
for name in ("load", "loads", "dump", "dumps"):
    setattr(json, name, ours(getattr(json, name)))
sys.argv = sys.argv[1:]
sys.addaudithook(guard)
runpy.run_path(sys.argv[0], run_name="__main__")
"""

SAID = {
    "decode_dump": ["14 of 416 words are loads, 0 are refused", "LD.E.128", "the first is at byte 0x6e8: LD.E.U8 R0, [R6], P1"],
    "explain_and_execute": [
        "31 lanes, R4 of the first ones: [2, 18, 34, 50]",
        "lane 28: outside_allocation at 0x10808",
    ],
    "loads_of_a_cubin": ["3 of 16 bytes  gather_sizes: LD.E.128"],
    "replay_a_trace": [
        "14664 accesses",
        "103019 sectors, 18803 would do; digest 5dcd53a2139626e8",
        "sectors too many",
    ],
    "ptx_and_tensor_memory": [
        "ld.global.v3.u32 {%r1, %r2, %r3}, [%rd1]: unknown-qualifier",
        "becomes LDG.E.128 R4",
        "as the map says: True",
    ],
    "conform_an_emulator": [
        "where the flag `misaligned` is shown: 11 of",
        "sectors: expected 28, got 56",
    ],
}


def arguments(name: str, root: Path, folder: Path) -> list[str]:
    return {
        "decode_dump": [str(root / "traces/gather.sm_50.cubin")],
        "loads_of_a_cubin": [str(root / "traces/gather.sm_50.cubin")],
        "replay_a_trace": [
            str(root / "traces/btree-v5-kernel-1.traceg"),
            str(folder / "page.html"),
        ],
        "conform_an_emulator": [str(root / "vectors/v1/coalescing")],
    }.get(name, [])


def test_every_example_is_run() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == SAID.keys()


@pytest.mark.parametrize("name", SAID)
def test_an_example_runs_in_one_process(root: Path, tmp_path: Path, name: str) -> None:
    example = [str(EXAMPLES / f"{name}.py"), *arguments(name, root, tmp_path)]
    ran = subprocess.run([sys.executable, "-c", GUARD, *example], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    for text in SAID[name]:
        assert text in ran.stdout, ran.stdout


@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace")
@pytest.mark.parametrize("name", SAID)
def test_the_system_sees_one_program(root: Path, tmp_path: Path, name: str) -> None:
    """Whatever starts a program, Python's audit events or not."""
    example = [str(EXAMPLES / f"{name}.py"), *arguments(name, root, tmp_path)]
    log = tmp_path / "strace"
    strace = ["strace", "-f", "-e", "trace=execve", "-o", str(log), sys.executable, *example]
    ran = subprocess.run(strace, capture_output=True, text=True)
    if ran.returncode != 0 and "ptrace" in ran.stderr:
        pytest.skip(FORBIDDEN)
    assert ran.returncode == 0, ran.stderr
    started = [line for line in log.read_text().splitlines() if "execve(" in line]
    assert len([line for line in started if line.rstrip().endswith("= 0")]) == 1, started
