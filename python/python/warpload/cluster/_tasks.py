"""The tasks of a replay: submitting and running them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .._errors import Error
from ._source import Source, remove

if TYPE_CHECKING:
    from distributed import Client, Future

    from .._types import ErrorKind


def replay(
    trace: str,
    options: list[str],
    client: Client,
    shards: int | None,
    retries: int,
    progress: Callable[[int, int], object] | None,
) -> bytes:
    """Replays `trace` in shards on the workers of `client`, and returns the merged summary."""
    shards = default_shards(client) if shards is None else shards
    if shards < 1:
        raise Error(f"shards: {shards}; expected at least 1", kind="argument")
    source = Source.of(trace)
    # Dask answers from memory if it still holds a key, so each run has keys of its own.
    run = uuid.uuid4().hex
    tasks: list[Future[bytes | Refused]] = []

    def submit(work: Callable[..., bytes | Refused], *arguments: object) -> Future[bytes | Refused]:
        key = f"warpload-{work.__name__}-{run}-{len(tasks)}"
        tasks.append(client.submit(work, *arguments, key=key, retries=retries))
        return tasks[-1]

    parts = [submit(replay_shard, source, run, f"{i}/{shards}", options) for i in range(shards)]
    result = submit(merge, parts)
    try:
        wait_for(tasks, progress)
        return taken(result.result())
    finally:
        if not source.local:
            client.run(remove, run, on_error="ignore")


def default_shards(client: Client) -> int:
    """One shard for each thread of the workers."""
    threads: int = sum(client.nthreads().values())
    if threads == 0:
        raise Error("the cluster has no workers yet; expected the number of shards", kind="argument")
    return threads


def wait_for(
    futures: list[Future[bytes | Refused]], progress: Callable[[int, int], object] | None
) -> None:
    """Waits for all futures. If one fails, cancels the others and raises its exception."""
    from distributed import as_completed

    try:
        for done, future in enumerate(as_completed(futures), 1):
            # Summaries stay on the workers.
            if future.type is not bytes:
                taken(future.result())
            if progress is not None:
                progress(done, len(futures))
    except BaseException:
        futures[0].client.cancel(futures)
        raise


@dataclass(frozen=True)
class Refused:
    """Why a task was refused. It is a result rather than an exception, because Dask would try again after one."""

    message: str
    kind: ErrorKind


def taken(result: bytes | Refused) -> bytes:
    """The summary of a task that was not refused."""
    if isinstance(result, Refused):
        raise Error(result.message, kind=result.kind)
    return result


def replay_shard(source: Source, run: str, shard: str, options: list[str]) -> bytes | Refused:
    """Replays a shard on a worker, and returns its summary."""
    return do(["replay", f"--shard={shard}", "--format=json", *options, "--", source.file(run)])


def merge(summaries: list[bytes | Refused]) -> bytes | Refused:
    """Merges the summaries of all shards on a worker."""
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for number, summary in enumerate(summaries):
            if isinstance(summary, Refused):
                return summary
            Path(folder, f"{number}.json").write_bytes(summary)
            names.append(f"{number}.json")
        return do(["merge", "--format=json", *names], folder)


#: The exit statuses of a task's process if the command ends with status 1, if it refuses its input (`EX_DATAERR`), and if
#: nothing is selected. Other failures, such as errors of the system and signals, may not happen on the next try.
FAILED, REFUSED, UNSELECTED = 64, 65, 66


def do(arguments: list[str], folder: str | None = None) -> bytes | Refused:
    """Runs the command, in `folder` if there is one, and returns its output.

    Returns the reason if the command refuses its input. Raises if trying again may succeed.
    """
    status, output, messages = command(arguments, folder)
    # Status 1 with an output is a result: some values are not the expected ones.
    if status == 0 or (status == FAILED and output):
        return output
    if status in (FAILED, REFUSED, UNSELECTED):
        return Refused(messages, "selection" if status == UNSELECTED else "input")
    raise Error(messages or f"warpload {' '.join(arguments)}: exit status {status}", kind="system")


def end() -> int:
    """Runs the command and returns the exit status of the process."""
    from ..__main__ import run

    status, kind = run()
    if kind == "system":
        return status
    return {0: 0, 1: FAILED, 2: UNSELECTED if kind == "selection" else REFUSED}.get(status, status)


def command(arguments: list[str], folder: str | None) -> tuple[int, bytes, str]:
    """Runs the command and returns its exit status, its output, and its messages.

    It runs in a process of its own, because a mapped trace that becomes shorter ends the process.
    """
    # Not `-m`, because files in the folder could then take the place of modules.
    start = "import sys; sys.path.pop(0); from warpload.cluster._tasks import end; sys.exit(end())"
    done = subprocess.run(
        [sys.executable, "-c", start, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONSAFEPATH": ""},
        capture_output=True,
    )
    messages = done.stderr.decode(errors="replace")
    return done.returncode, done.stdout, messages.strip().removeprefix("error: ")
