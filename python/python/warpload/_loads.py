"""The loads of files with GPU code."""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import dataclass
from typing import Any

from . import _native
from ._errors import Error
from ._native import Instruction


@dataclass(frozen=True)
class Control:
    """How an instruction is scheduled."""

    stall: int
    """Cycles to wait after it."""
    yields: bool
    """Whether another warp may come first."""
    write_barrier: int | None
    read_barrier: int | None
    wait_mask: int
    """The barriers to wait for, bit n for barrier n."""
    reuse: int
    """The operands that stay in the reuse cache."""
    batch: int | None = None
    """From SM 7.0 on."""
    pm: int | None = None
    """From SM 7.0 on."""


@dataclass(frozen=True)
class Load:
    """A load in a file."""

    function: str | None
    """The function's name; ``None`` if the file does not say."""
    offset: int | None
    """In bytes from the beginning of the function."""
    word: int | None
    """``None`` in a listing without words."""
    instruction: Instruction | None
    """``None`` if the word is illegal."""
    text: str | None
    """The text as the file has it or, of a word, as it is decoded."""
    control: Control | None
    sm: str | None
    image: int | None
    """The number of the cubin in the file, from 1; ``None`` if the file is the cubin."""
    source: str | None
    """The line of the source, ``file:line``, if the cubin has line information."""

    def __str__(self) -> str:
        return str(self.instruction or self.text or "illegal")


def loads(path: str | os.PathLike[str], *, sm: str | int | None = None) -> list[Load]:
    """Returns every load of a cubin, of a listing, or of a file that holds cubins.

    ``sm`` chooses the cubins of that SM, or says whose code it is if the file does not.

    Of a file that holds several images, each one that cannot be read is a :class:`UserWarning` if others can.
    """
    name = os.fspath(path)
    options = [] if sm is None else [f"--sm={sm}"]
    answer = _native.call(["decode", "--format=json", *options, "--", name])
    lines = map(json.loads, answer.output.splitlines())
    found = [_load(line) for line in lines if not line.get("error")]
    if all(load.image is None for load in found):
        answer.check()
    for message in answer.errors:
        warnings.warn(message, stacklevel=2)
    return found


def _load(line: dict[str, Any]) -> Load:
    word, sm = line.get("word"), line.get("sm")
    number = None if word is None else int(word, 16)
    control = line.get("control")
    if control is not None:
        control = dict(control)
        control["yields"] = control.pop("yield")
        control = Control(**control)
    offset, source = line.get("offset"), line.get("source")
    if isinstance(source, dict):
        source = f"{source['file']}:{source['line']}"
    text = line.get("text")
    return Load(
        function=line.get("function"),
        offset=None if offset is None else int(offset, 16),
        word=number,
        instruction=None if line.get("illegal") else _instruction(number, text, sm or "50"),
        text=text,
        control=control,
        sm=sm,
        image=line.get("image"),
        source=source,
    )


def _instruction(word: int | None, text: str | None, sm: str) -> Instruction | None:
    """Returns the instruction of a word or, in a listing without words, of a text."""
    if word is None and text is not None:
        try:
            word = _native.encode(text, sm)
        except Error:
            # An operand that the linker fills in, for example.
            return None
    return None if word is None else _native.decode(word, sm)
