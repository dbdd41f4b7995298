"""Import and replay on many machines, with `Dask <https://distributed.dask.org>`_.

``warpload plan`` makes tasks, each a command with the files that it reads and the file that it writes. They are
submitted to a ``distributed.Client``. Only paths go through the scheduler. A task with a complete output is skipped, so
an interrupted run continues where it stopped, and a task may run twice because its machine was lost.

Files are on a file system that all machines share, or anywhere that fsspec reads and writes
(``s3://bucket/traces/trace.set.json``). Remote files are staged to the worker's own folder for the duration of a task::

    from distributed import Client
    client = Client("tcp://scheduler:8786")
    trace_set = warpload.cluster.import_("traces/kernelslist.g", client)
    result = warpload.cluster.replay(trace_set, client, shards=1000, fill="address")

``python -m warpload.cluster --help`` is the same for a shell. It needs the package's extra ``cluster``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from .._native import replay_arguments
from .._trace import Replay, shows
from .._types import Path, PlannedOptions

if TYPE_CHECKING:
    from distributed import Client
    from typing_extensions import Unpack

__all__ = ["import_", "replay"]

Progress: TypeAlias = Callable[[int, int], object]


@shows(PlannedOptions)
def replay(
    trace_set: Path,
    client: Client,
    *,
    shards: int | None = None,
    fan_in: int = 16,
    folder: Path | None = None,
    retries: int = 3,
    progress: Progress | None = None,
    image: Path | None = None,
    **options: Unpack[PlannedOptions],
) -> Replay:
    """Replays a trace set, or one binary trace, in shards and merges the results in a tree.

    Returns what ``Trace(trace_set).replay(**options)`` returns, byte for byte.

    Parameters
    ----------
    trace_set
        A path that every worker has, or a URL that fsspec reads.
    shards
        The number of pieces, of about equally many records. If it is not given, one for each thread of the workers. A
        later run continues an earlier one only if the number is the same.
    fan_in
        How many results one task merges.
    folder
        The folder for outputs; by default ``NAME.replay`` beside the set.
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
        With the command's message if a task refuses its input. ``FileNotFoundError`` if there is no such set, and
        Dask's ``KilledWorker`` if a task loses one worker after the other.
    """
    # Imported here, because Dask and fsspec are optional and ``--help`` works without them.
    from . import _tasks

    options.setdefault("threads", 1)
    given = replay_arguments(image=image and os.path.abspath(image), **absolute(options))
    merged = _tasks.replay(
        trace_set, folder, [f"--fan-in={fan_in}", *given], client, shards, retries, progress
    )
    return Replay.from_json(merged)


def import_(
    kernels_list: Path,
    client: Client,
    *,
    folder: Path | None = None,
    retries: int = 3,
    progress: Progress | None = None,
) -> str:
    """Imports the traces that an Accel-Sim ``kernelslist.g`` lists, one a task.

    Returns the path or URL of the trace set. Outputs are written to ``NAME.traces`` beside the list, or to ``folder``.
    The other parameters and exceptions are the same as for :func:`replay`.
    """
    from . import _tasks

    place, trace_set = _tasks.run(
        _tasks.IMPORT, kernels_list, folder, [], client, retries, progress
    )
    return place.url(trace_set)


def absolute(options: PlannedOptions) -> PlannedOptions:
    """The options with absolute file names, because tasks run in other folders."""
    cubins = options.get("cubin", ())
    cubins = (cubins,) if isinstance(cubins, (str, os.PathLike)) else cubins
    return {**options, "cubin": [os.path.abspath(cubin) for cubin in cubins]}
