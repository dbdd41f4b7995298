"""A plan's tasks: made, submitted, run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from .._errors import Error
from ._place import Place

if TYPE_CHECKING:
    from distributed import Client, Future


class Task(TypedDict):
    """One line of ``warpload plan``."""

    step: str
    argv: list[str]
    inputs: list[str]
    output: str
    level: int


def run(
    source: str | os.PathLike[str],
    folder: str | os.PathLike[str] | None,
    suffix: str,
    options: list[str],
    client: Client,
    retries: int,
    progress: Callable[[int, int], object] | None,
) -> tuple[Place, str]:
    """Plans what is to be done with `source` and has `client` do it.

    Returns where the files are, and what the plan calls the last one.
    """
    place = Place.of(os.fspath(source), None if folder is None else os.fspath(folder), suffix)
    tasks = plan(place, options)
    # Dask answers from memory if it still holds a key, so each run has keys of its own.
    name = uuid.uuid4().hex
    futures: dict[str, Future] = {}
    for number, task in enumerate(tasks):
        futures[task["output"]] = client.submit(
            run_task,
            task,
            place,
            [futures[path] for path in task["inputs"] if path in futures],
            key=f"warpload-{task['step']}-{name}-{number}",
            retries=retries,
        )
    wait_for(list(futures.values()), progress)
    return place, tasks[-1]["output"]


def default_shards(client: Client) -> int:
    """One for each thread of the workers."""
    return max(1, sum(client.nthreads().values()))


def plan(place: Place, options: list[str]) -> list[Task]:
    """The tasks for what is in `place`, in an order that works, the final one last."""
    with place.planning() as (source, folder, directory):
        argv = ["warpload", "plan", "-o", folder, "--format=json", *options, "--", source]
        try:
            return [json.loads(line) for line in command(argv, directory).splitlines()]
        except Refused as refused:
            raise Error(str(refused)) from None


def wait_for(futures: list[Future], progress: Callable[[int, int], object] | None) -> None:
    """Waits for all, or for the first that fails, which is raised after the others are cancelled."""
    from distributed import as_completed

    try:
        for done, future in enumerate(as_completed(futures), 1):
            future.result()
            if progress is not None:
                progress(done, len(futures))
    except BaseException as error:
        for future in futures:
            future.cancel()
        if isinstance(error, Refused):
            raise Error(str(error)) from None
        raise


def run_task(task: Task, place: Place, before: list[str]) -> str:
    """Runs `task` on a worker after `before`, whose outputs are there then. Returns its output."""
    del before
    if place.local:
        command(task["argv"], None)
    elif not place.holds(task["output"]):
        from distributed import get_worker

        with tempfile.TemporaryDirectory(dir=get_worker().local_directory) as scratch:
            for path in task["inputs"]:
                place.stage(path, scratch)
            Path(scratch, task["output"]).parent.mkdir(exist_ok=True)
            command(task["argv"], scratch)
            place.publish(task["output"], scratch)
    return task["output"]


def command(argv: list[str], directory: str | None) -> str:
    """Runs the command and returns what it printed.

    It is a process of its own, because one whose mapped trace becomes shorter ends.
    """
    arguments = [sys.executable, "-m", *argv]
    done = subprocess.run(arguments, cwd=directory, capture_output=True, encoding="utf-8")
    # 1 is a result, which has been written, with values that are not the expected ones.
    if done.returncode not in (0, 1):
        said = done.stderr.strip().removeprefix("error: ")
        raise Refused(said or f"{' '.join(argv)}: exit status {done.returncode}")
    return done.stdout


class Refused(Exception):
    """What the command said about what it did not do."""
