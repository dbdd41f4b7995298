"""A plan's tasks: made, submitted, run."""

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
    """What a plan can be for."""

    #: The last part of the name of the outputs' folder.
    suffix: str
    #: What the last task can be, and what it is planned from.
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

    Returns where the files are, and what the plan calls the last one.
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
    """One for each thread of the workers."""
    threads: int = sum(client.nthreads().values())
    if threads == 0:
        raise Error("the cluster has no workers yet; expected the number of shards", kind="argument")
    return threads


def plan(place: Place, options: list[str]) -> list[Task]:
    """The tasks for what is in `place`, in an order that works, the final one last."""
    with place.planning() as (source, folder, directory):
        argv = ["warpload", "plan", "-o", folder, "--format=json", *options, "--", source]
        status, output, messages = command(argv, directory)
        if status != 0:
            raise Error(messages, kind="input" if status == REFUSED else "system")
        return [json.loads(line) for line in output.splitlines()]


def wait_for(
    futures: list[Future[str | Refused]], progress: Callable[[int, int], object] | None
) -> None:
    """Waits for all, or for the first that fails, which is raised after the others are cancelled."""
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
    """Why a task cannot be done: a result, not an exception, because Dask would try again."""

    message: str


def run_task(task: Task, place: Place, before: list[str | Refused]) -> str | Refused:
    """Runs `task` on a worker after `before`, whose outputs are there then. Returns its output."""
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


#: How a task's process ends if the command refuses its input (`EX_DATAERR`). Any other end than the command's own may
#: be another one the next time: the system's errors, and a signal.
REFUSED = 65


def do(task: Task, directory: str | None) -> Refused | None:
    """Runs the command of `task`, in `directory` if there is one.

    Returns why the command refuses its input, if it does; raises what can be tried again.
    """
    status, _, messages = command(task["argv"], directory)
    # 1 is a result, which has been written, with values that are not the expected ones.
    if status == 0 or (status == 1 and Path(directory or "", task["output"]).is_file()):
        return None
    if status == REFUSED:
        return Refused(messages)
    raise Error(messages or f"{' '.join(task['argv'])}: exit status {status}", kind="system")


def end() -> int:
    """Runs the command and returns how the process is to end."""
    from ..__main__ import run

    status, is_system_error = run()
    return REFUSED if status == 2 and not is_system_error else status


def command(argv: list[str], directory: str | None) -> tuple[int, str, str]:
    """Runs the command and returns its exit status, what it printed, and its messages.

    It is a process of its own, because one whose mapped trace becomes shorter ends.
    """
    # Not `-m`, with which files in the directory could take the place of modules.
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
