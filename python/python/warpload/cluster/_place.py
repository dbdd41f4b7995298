"""Places of a plan's files: on a file system of the machines, or anywhere that fsspec reaches."""

from __future__ import annotations

import posixpath
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import fsspec
from fsspec.implementations.local import LocalFileSystem

from .._errors import Error

#: The name of the outputs' folder in a plan with staged files.
OUTPUTS = ".warpload-outputs"


@dataclass(frozen=True)
class Place:
    """The input of a plan, and the folder of its outputs."""

    input: str
    folder: str
    #: Whether the plan uses the machines' own file names. If not, files are staged.
    local: bool

    @classmethod
    def of(cls, url: str, folder: str | None, suffix: str) -> Place:
        """The place of `url`. Outputs go to `folder`, or beside `url` to a folder of its name with `suffix`."""
        fs, path = fsspec.url_to_fs(url)
        if not fs.isfile(path):
            raise FileNotFoundError(2, "No such file", url)
        local = isinstance(fs, LocalFileSystem)
        if local:
            url = path
        if folder is None:
            name = posixpath.basename(url)
            for extension in (".set.json", ".wlt", ".g"):
                name = name.removesuffix(extension)
            folder = posixpath.join(parent(url), name + suffix)
        else:
            folder_fs, folder_path = fsspec.url_to_fs(folder)
            if isinstance(folder_fs, LocalFileSystem):
                folder = folder_path
            elif local:
                raise Error(f"{folder}: expected a local folder, as {url} is local")
        return cls(url, folder, local)

    @contextmanager
    def planning(self) -> Iterator[tuple[str, str, str | None]]:
        """The names of the input and the folder in the plan, and the directory to plan in."""
        if self.local:
            yield self.input, self.folder, None
            return
        with tempfile.TemporaryDirectory() as scratch:
            name = posixpath.basename(self.input)
            self.stage(name, scratch)
            yield name, OUTPUTS, scratch

    def url(self, path: str) -> str:
        """The location of the file that the plan calls `path`."""
        if self.local:
            return path
        path = posixpath.normpath(path)
        if posixpath.isabs(path) or path.startswith("../"):
            raise Error(f"{self.input}: {path} is outside its folder and cannot be staged")
        if path.startswith(OUTPUTS + "/"):
            return posixpath.join(self.folder, path.removeprefix(OUTPUTS + "/"))
        return posixpath.join(parent(self.input), path)

    def stage(self, path: str, scratch: str) -> None:
        """Fetches the file that the plan calls `path` into `scratch`, under the same name."""
        fs, at = fsspec.url_to_fs(self.url(path))
        to = Path(scratch, path)
        to.parent.mkdir(parents=True, exist_ok=True)
        fs.get_file(at, str(to))
        # A partial file would be refused as damaged, and not fetched again.
        if (size := to.stat().st_size) != fs.size(at):
            raise OSError(f"{self.url(path)}: {size} bytes of {fs.size(at)} were fetched")

    def publish(self, path: str, scratch: str) -> None:
        """Writes the file `path` of `scratch` to its place, under a temporary name first."""
        fs, to = fsspec.url_to_fs(self.url(path))
        fs.makedirs(posixpath.dirname(to), exist_ok=True)
        temporary = f"{to}.{uuid.uuid4().hex}.temporary"
        try:
            fs.put_file(str(Path(scratch, path)), temporary)
            fs.mv(temporary, to)
        except BaseException:
            if fs.exists(temporary):
                fs.rm(temporary)
            raise

    def holds(self, path: str) -> bool:
        """Whether the file that the plan calls `path` exists. If so, it is complete, because of `publish`."""
        fs, at = fsspec.url_to_fs(self.url(path))
        return bool(fs.isfile(at))

    def read(self, path: str) -> str:
        """The text of the file that the plan calls `path`."""
        fs, at = fsspec.url_to_fs(self.url(path))
        return str(fs.read_text(at, encoding="utf-8"))


def parent(url: str) -> str:
    """The folder of `url`, which may be the root of its file system."""
    scheme, separator, path = url.rpartition("://")
    return scheme + separator + posixpath.dirname(path)
