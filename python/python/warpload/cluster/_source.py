"""The trace of a replay: on a file system of the machines, or anywhere that fsspec reaches."""

from __future__ import annotations

import os
import posixpath
import shutil
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import fsspec
from fsspec.implementations.local import LocalFileSystem

from .._errors import Error

if TYPE_CHECKING:
    from distributed import Worker

#: The first bytes of a binary trace.
MAGIC = b"WARPLOAD"

#: Held while a process fetches a trace, so that its other tasks wait for the file.
FETCHING = threading.Lock()


@dataclass(frozen=True)
class Source:
    """A binary trace."""

    url: str
    #: Whether it is a path that all machines have. If not, each worker fetches the file.
    local: bool

    @classmethod
    def of(cls, url: str) -> Source:
        fs, path = fsspec.url_to_fs(url)
        if not fs.isfile(path):
            raise FileNotFoundError(2, "No such file", url)
        with fs.open(path, "rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                message = f"{url}: expected a binary trace; `warpload import` makes one"
                raise Error(message, kind="input")
        local = isinstance(fs, LocalFileSystem)
        return cls(path if local else url, local)

    def file(self, run: str) -> str:
        """The path of the trace on this worker, which fetches it once in a `run`."""
        from distributed import get_worker

        if self.local:
            return self.url
        fs, at = fsspec.url_to_fs(self.url)
        path = folder(get_worker(), run) / posixpath.basename(at)
        with FETCHING:
            if not path.is_file():
                path.parent.mkdir(exist_ok=True)
                part = path.with_name(path.name + ".part")
                fs.get_file(at, str(part))
                # A partial file would be refused as damaged, and not fetched again.
                if (size := part.stat().st_size) != fs.size(at):
                    raise OSError(f"{self.url}: {size} bytes of {fs.size(at)} were fetched")
                os.replace(part, path)
        return str(path)


def folder(worker: Worker, run: str) -> Path:
    """The folder of a worker for the fetched trace of a `run`."""
    return Path(worker.local_directory, f"warpload-{run}")


def remove(run: str, dask_worker: Worker) -> None:
    """Removes what a worker has fetched for a `run`. Dask passes the worker to an argument of this name; outside of a
    task it has no other."""
    shutil.rmtree(folder(dask_worker, run), ignore_errors=True)
