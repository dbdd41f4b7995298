"""What docs/many-machines.md tells a shell to do."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# `sbatch` that runs a job at once, an array's one after another, and prints a number.
SBATCH = """#!/bin/sh
set -eu
echo "sbatch $*" >> "$JOBS"
number=$(wc -l < "$JOBS")
while [ $# -gt 0 ]; do
    case $1 in
        --array=1-*) last=${1#--array=1-} ;;
        --wrap=*) sh -c "${1#--wrap=}"; echo "$number"; exit ;;
        --dependency=afterok:*) [ "${1#--dependency=afterok:}" = $((number - 1)) ] ;;
        --*) ;;
        *) break ;;
    esac
    shift
done
for i in $(seq "$last"); do
    SLURM_ARRAY_TASK_ID=$i "$@" > /dev/null
done
echo "$number"
"""


@pytest.fixture
def shell(tmp_path: Path, traces: Path, monkeypatch):
    """Runs a script in a folder with traces, with the command and `sbatch` of this file."""
    for path in traces.iterdir():
        if path.suffix in {".traceg", ".g"}:
            shutil.copy(path, tmp_path)
    (tmp_path / "samples.kernelslist.g").rename(tmp_path / "kernelslist.g")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sbatch").write_text(SBATCH)
    (tmp_path / "bin" / "sbatch").chmod(0o755)
    folders = [str(tmp_path / "bin"), os.path.dirname(sys.executable), os.environ["PATH"]]
    environment = {**os.environ, "PATH": os.pathsep.join(folders), "JOBS": str(tmp_path / "jobs")}

    def run(script: str, *arguments: object) -> str:
        argv = ["sh", "-euc", script, "sh", *map(str, arguments)]
        done = subprocess.run(
            argv, cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8"
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def whole(shell) -> str:
    return shell("warpload replay kernelslist.g --fill address --format json")


def test_one_machine(root: Path, shell, whole: str, tmp_path: Path) -> None:
    page = (root / "docs" / "many-machines.md").read_text()
    [script] = re.findall(r"```sh\n(warpload import.*?)```", page, re.DOTALL)
    shell(script)
    last = shell("warpload plan parts/trace.set.json --shards 16 --fill address -o tasks | tail -n 1")
    output = re.search(r"-o (\S+)", last)
    assert output is not None
    assert (tmp_path / output[1]).read_text() == whole


def test_slurm(root: Path, shell, whole: str, tmp_path: Path) -> None:
    shell("warpload import kernelslist.g --split -o parts")
    submit = root / "docs" / "many-machines" / "submit.sh"
    arguments = [submit, "parts/trace.set.json", 5, "tasks", "--fill", "address", "--fan-in", 2]
    shell('"$@"', *arguments)
    assert (tmp_path / "tasks" / "result.json").read_text() == whole
    jobs = (tmp_path / "jobs").read_text().splitlines()
    arrays = [found[1] for job in jobs if (found := re.search(r"--array=1-(\d+)", job))]
    assert arrays == ["5", "2", "1", "1"]
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "tasks").glob("*[0-9a-f].json")}
    shell('"$@"', *arguments)
    assert {path: path.stat().st_mtime_ns for path in before} == before
