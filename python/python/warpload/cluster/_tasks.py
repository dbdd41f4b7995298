"""The tasks of a plan: making, submitting and running them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Work:
    """A kind of work that can be planned."""

    #: The suffix of the name of the outputs' folder.
    suffix: str
    #: The possible last steps of a plan, and its source.
    steps: tuple[str, ...]
    source: str


IMPORT = Work(".traces", ("set",), "a kernelslist.g")
REPLAY = Work(".replay", ("replay", "merge"), "a trace set or a binary trace")


def run(
    work: Work,
    source: str | os.PathLike[str],
    folder: str | os.PathLike[str] | None,
    options: list[str],
    client: Client,
    retries: int,
    progress: Callable[[int, int], object] | None,
) -> tuple[Place, str]:
    """Plans `work` on `source` and has `client` do it.

    Returns the place of the files, and the plan's name for the last one.
    """
    place = Place.of(os.fspath(source), None if folder is None else os.fspath(folder), work.suffix)
    tasks = plan(place, options)
    if not tasks or tasks[-1]["step"] not in work.steps:
        raise Error(f"{place.input}: expected {work.source}", kind="input")
    for task in tasks:
        for path in task["inputs"]:
            place.url(path)
    # Dask answers from memory if it still holds a key, so each run has keys of its own.
    name = uuid.uuid4().hex
    futures: dict[str, Future[str | Refused]] = {}
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


def replay(
    source: str | os.PathLike[str],
    folder: str | os.PathLike[str] | None,
    options: list[str],
    client: Client,
    shards: int | None,
    retries: int,
    progress: Callable[[int, int], object] | None,
) -> str:
    """Replays `source` in shards, and returns the merged summary."""
    shards = default_shards(client) if shards is None else shards
    options = [f"--shards={shards}", *options]
    place, merged = run(REPLAY, source, folder, options, client, retries, progress)
    return place.read(merged)


def default_shards(client: Client) -> int:
    """One shard for each thread of the workers."""
    threads: int = sum(client.nthreads().values())
    if threads == 0:
        raise Error("the cluster has no workers yet; expected the number of shards", kind="argument")
    return threads


def plan(place: Place, options: list[str]) -> list[Task]:
    """The tasks for the input of `place`, in an order that works, the final one last."""
    with place.planning() as (source, folder, directory):
        argv = ["warpload", "plan", "-o", folder, "--format=json", *options, "--", source]
        status, output, messages = command(argv, directory)
        if status != 0:
            raise Error(messages, kind="input" if status == REFUSED else "system")
        return [json.loads(line) for line in output.splitlines()]


def wait_for(
    futures: list[Future[str | Refused]], progress: Callable[[int, int], object] | None
) -> None:
    """Waits for all futures. If one fails, cancels the others and raises its exception."""
    from distributed import as_completed

    try:
        for done, future in enumerate(as_completed(futures), 1):
            result = future.result()
            if isinstance(result, Refused):
                raise Error(result.message, kind="input")
            if progress is not None:
                progress(done, len(futures))
    except BaseException:
        futures[0].client.cancel(futures)
        raise


@dataclass(frozen=True)
class Refused:
    """Why a task was refused. It is a result rather than an exception, because Dask would try again after one."""

    message: str


def run_task(task: Task, place: Place, before: list[str | Refused]) -> str | Refused:
    """Runs `task` on a worker after `before`, when their outputs exist. Returns its output."""
    for result in before:
        if isinstance(result, Refused):
            return result
    if place.local:
        return do(task, None) or task["output"]
    if not place.holds(task["output"]):
        from distributed import get_worker

        with tempfile.TemporaryDirectory(dir=get_worker().local_directory) as scratch:
            for path in task["inputs"]:
                place.stage(path, scratch)
            Path(scratch, task["output"]).parent.mkdir(exist_ok=True)
            if refused := do(task, scratch):
                return refused
            place.publish(task["output"], scratch)
    return task["output"]


#: The exit status of a task's process if the command refuses its input (`EX_DATAERR`). Other failures, such as errors
#: of the system and signals, may not happen on the next try.
REFUSED = 65


def do(task: Task, directory: str | None) -> Refused | None:
    """Runs the command of `task`, in `directory` if there is one.

    Returns the reason if the command refuses its input. Raises if trying again may succeed.
    """
    status, _, messages = command(task["argv"], directory)
    # Status 1 with an output is a result: some values are not the expected ones.
    if status == 0 or (status == 1 and Path(directory or "", task["output"]).is_file()):
        return None
    if status == REFUSED:
        return Refused(messages)
    raise Error(messages or f"{' '.join(task['argv'])}: exit status {status}", kind="system")


def end() -> int:
    """Runs the command and returns the exit status of the process."""
    from ..__main__ import run

    status, is_system_error = run()
    return REFUSED if status == 2 and not is_system_error else status


def command(argv: list[str], directory: str | None) -> tuple[int, str, str]:
    """Runs the command and returns its exit status, its output, and its messages.

    It runs in a process of its own, because a mapped trace that becomes shorter ends the process.
    """
    # Not `-m`, because files in the directory could then take the place of modules.
    start = "import sys; sys.path.pop(0); from warpload.cluster._tasks import end; sys.exit(end())"
    done = subprocess.run(
        [sys.executable, "-c", start, *argv[1:]],
        cwd=directory,
        env={**os.environ, "PYTHONSAFEPATH": ""},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
    )
    return done.returncode, done.stdout, done.stderr.strip().removeprefix("error: ")
