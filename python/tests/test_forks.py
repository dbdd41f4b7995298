"""A process that is forked, as `multiprocessing` does on Linux before CPython 3.14."""

from __future__ import annotations

import os
import signal
import threading
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
    reader = pa.RecordBatchReader.from_stream(trace.accesses(threads=2))
    first = reader.read_next_batch().num_rows

    def read() -> None:
        with pytest.raises(Exception, match="before the process was forked"):
            reader.read_all()

    in_child(read)
    assert first + reader.read_all().num_rows == len(trace)


def test_a_stream_of_the_parents_is_an_error_without_threads_too(traces) -> None:
    trace = wl.Trace(traces / "btree-v5-kernel-1.traceg")
    reader = pa.RecordBatchReader.from_stream(trace.accesses())

    def read() -> None:
        # Another thread could have been reading when the process was forked.
        for _ in range(2):
            with pytest.raises(Exception, match="before the process was forked"):
                reader.read_next_batch()
        assert pa.table(trace.accesses()).num_rows == len(trace)

    in_child(read)
    assert reader.read_all().num_rows == len(trace)


def test_a_child_can_do_all_while_other_threads_do(traces) -> None:
    path = traces / "rows.kernelslist.g"
    known = wl.Trace(path).replay(fill="address")
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            with pytest.raises(FileNotFoundError):
                wl.Trace("/no such file")
            wl.Trace(path).replay()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()

    def again() -> None:
        assert wl.Trace(path).replay(fill="address") == known

    try:
        for _ in range(50):
            in_child(again)
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_a_child_that_returns_from_a_callback_raises(traces) -> None:
    trace = wl.Trace(traces / "btree-v5-kernel-1.traceg")
    known = trace.replay(fill="address")
    children = []

    def progress(done: int, total: int) -> None:
        if not children:
            children.append(os.fork())

    parent = os.getpid()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            found = trace.replay(fill="address", progress=progress)
        except RuntimeError as error:
            assert os.getpid() != parent and "forked" in str(error)
            os._exit(3)
        except BaseException:
            os._exit(4)
    if os.getpid() != parent:
        os._exit(5)
    assert found == known
    for _ in range(LIMIT * 20):
        done, status = os.waitpid(children[0], os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 3
            return
        time.sleep(0.05)
    os.kill(children[0], signal.SIGKILL)
    os.waitpid(children[0], 0)
    pytest.fail("the child hangs")


def test_a_child_can_do_all_again(traces) -> None:
    path = traces / "btree-v5-kernel-1.traceg"
    trace = wl.Trace(path, threads=2)
    known = trace.replay(fill="address", threads=2)
    pa.table(trace.accesses(threads=2))

    def again() -> None:
        assert trace.replay(fill="address", threads=2) == known
        rows = pa.RecordBatchReader.from_stream(trace.accesses(threads=2))
        assert sum(batch.num_rows for batch in rows) == len(trace)
        assert len(wl.Trace(path, threads=2)) == len(trace)

    in_child(again)
