"""Replays on many machines, with `Dask <https://distributed.dask.org>`_.

A trace is replayed in shards, and one task merges their summaries. Each task runs ``warpload replay --shard`` or
``warpload merge`` in a process of its own. Summaries go from worker to worker; the trace is read where it is.

It is on a file system that all machines share, or anywhere that fsspec reads (``s3://bucket/app.wlt``). A remote trace
is fetched once by each worker, for the duration of the replay::

    from distributed import Client
    client = Client("tcp://scheduler:8786")
    result = warpload.cluster.replay("traces/app.wlt", client, shards=1000, fill="address")

``python -m warpload.cluster --help`` is the same for a shell. It needs the package's extra ``cluster``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from .._native import Replay, replay_arguments
from .._types import CountingOptions, Path

if TYPE_CHECKING:
    from distributed import Client
    from typing_extensions import Unpack

__all__ = ["replay"]

Progress: TypeAlias = Callable[[int, int], object]


def replay(
    trace: Path,
    client: Client,
    *,
    shards: int | None = None,
    retries: int = 3,
    progress: Progress | None = None,
    image: Path | None = None,
    **options: Unpack[CountingOptions],
) -> Replay:
    """Replays a binary trace in shards and merges the results.

    Returns what ``Trace(trace).replay(**options)`` returns, byte for byte.

    Parameters
    ----------
    trace
        A path that every worker has, or a URL that fsspec reads.
    shards
        The number of pieces, of about equally many records. If it is not given, one for each thread of the workers.
    retries
        How often to retry a task after a failure of the system (``kind`` is ``"system"``). Input that the command
        refuses is not retried. Tasks of a lost worker run elsewhere in any case (Dask's
        ``distributed.scheduler.allowed-failures`` limits how often).
    progress
        Called with the number of tasks done and of all tasks.
    image, **options
        The options of :meth:`warpload.Trace.replay` that decide the results: ``fill``, ``merge_pairs``, ``kernel``. Files
        among them must be on a file system that all machines share. ``threads`` replay one shard, one if not given.

    Raises
    ------
    Error
        With the command's message if a task refuses its input. ``FileNotFoundError`` if there is no such trace, and
        Dask's ``KilledWorker`` if a task loses one worker after the other.
    """
    # Imported here, because Dask and fsspec are optional and ``--help`` works without them.
    from . import _tasks

    options.setdefault("threads", 1)
    given = replay_arguments(image=image and os.path.abspath(image), **absolute(options))
    merged = _tasks.replay(os.fspath(trace), given, client, shards, retries, progress)
    return Replay.from_json(merged)


def absolute(options: CountingOptions) -> CountingOptions:
    """The options with absolute file names, because tasks run in other folders."""
    cubins = options.get("cubin", ())
    cubins = (cubins,) if isinstance(cubins, (str, os.PathLike)) else cubins
    return {**options, "cubin": [os.path.abspath(cubin) for cubin in cubins]}
