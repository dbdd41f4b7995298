"""A process that is forked, as `multiprocessing` does on Linux before CPython 3.14."""

from __future__ import annotations

import os
import signal
import time
import warnings

import pyarrow as pa
import pytest
import warpload as wl

# How long a child may take until it counts as hanging.
LIMIT = 120


def in_child(function) -> None:
    """Calls a function in a forked child, and fails if it raises or does not end."""
    with warnings.catch_warnings():
        # Of threads, which a child does not have.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        status = 1
        try:
            function()
            status = 0
        finally:
            os._exit(status)
    for _ in range(LIMIT * 20):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert status == 0
            return
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("the child hangs")


def test_a_stream_of_the_parents_threads_is_an_error(traces) -> None:
    trace = wl.Trace(traces / "btree-v5-kernel-1.traceg")
    reader = pa.RecordBatchReader.from_stream(trace.loads(threads=2))
    first = reader.read_next_batch().num_rows

    def read() -> None:
        with pytest.raises(Exception, match="before the process was forked"):
            reader.read_all()

    in_child(read)
    assert first + reader.read_all().num_rows == len(trace)


def test_a_child_can_do_all_again(traces) -> None:
    path = traces / "btree-v5-kernel-1.traceg"
    trace = wl.Trace(path, threads=2)
    known = trace.replay(fill="address", threads=2)
    pa.table(trace.loads(threads=2))

    def again() -> None:
        assert trace.replay(fill="address", threads=2) == known
        rows = pa.RecordBatchReader.from_stream(trace.loads(threads=2))
        assert sum(batch.num_rows for batch in rows) == len(trace)
        assert len(wl.Trace(path, threads=2)) == len(trace)

    in_child(again)
