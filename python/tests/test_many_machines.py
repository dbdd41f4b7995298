"""What docs/many-machines.md tells a shell to do."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# `sbatch` that runs the tasks of an array, one after another, and prints a number.
SBATCH = """#!/bin/sh
set -eu
echo "sbatch $*" >> "$JOBS"
first=0 last=0
while [ $# -gt 0 ]; do
    case $1 in
        --array=*) range=${1#--array=} first=${range%-*} last=${range#*-} ;;
        --wrap=*) wrap=${1#--wrap=} ;;
    esac
    shift
done
for i in $(seq "$first" "$last"); do
    SLURM_ARRAY_TASK_ID=$i sh -c "$wrap" > /dev/null
done
wc -l < "$JOBS"
"""


@pytest.fixture
def shell(tmp_path: Path, traces: Path):
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

    def run(script: str) -> str:
        done = subprocess.run(
            ["sh", "-euc", script], cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8"
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.mark.parametrize("start", ["warpload import", "job="])
def test_the_scripts_of_the_page(root: Path, shell, tmp_path: Path, start: str) -> None:
    page = (root / "docs" / "many-machines.md").read_text()
    [script] = re.findall(rf"```sh\n({start}.*?)```", page, re.DOTALL)
    if start == "job=":
        shell("warpload import kernelslist.g -o app.wlt && mkdir shards")
    shell(script)
    whole = shell("warpload replay kernelslist.g --fill address --format json")
    assert (tmp_path / "app.json").read_text() == whole
