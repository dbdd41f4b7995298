"""What every bit of a word means."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import SupportsIndex

from . import _native
from ._native import Instruction


@dataclass(frozen=True)
class Field:
    """A field of a word."""

    bits: str
    """The bits, as ``63:61``."""
    name: str
    raw: int
    """The number in these bits."""
    meaning: str
    purpose: str


@dataclass(frozen=True)
class Explanation:
    """What every bit of a word means, and what executing it does.

    ``str()`` is the text that the command prints; a notebook shows a table.
    """

    word: int
    sm: str
    text: str
    """The instruction."""
    fields: tuple[Field, ...]
    """The most significant first."""
    remarks: tuple[str, ...]
    effect: str
    """What executing the instruction does."""

    @cached_property
    def drawing(self) -> str:
        """What the command prints."""
        return _explained(hex(self.word), self.sm, "text").rstrip("\n")

    def __str__(self) -> str:
        return self.drawing

    def _repr_html_(self) -> str:
        heads = ("bits", "raw", "field", "meaning", "")
        head = "".join(f"<th>{name}</th>" for name in heads)
        rows = "".join(
            "<tr>"
            + "".join(
                f'<td style="text-align:left">{escape(cell)}</td>'
                for cell in (one.bits, hex(one.raw), one.name, one.meaning, one.purpose)
            )
            + "</tr>"
            for one in self.fields
        )
        remarks = "".join(f"<li>{escape(remark)}</li>" for remark in self.remarks)
        return (
            f"<p><code>{self.word:#x}</code> <strong><code>{escape(self.text)}</code></strong></p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
            f"<ul>{remarks}</ul><p>{escape(self.effect)}</p>"
        )


def explain(
    instruction: SupportsIndex | str | Instruction, sm: str | SupportsIndex = "50"
) -> Explanation:
    """Explains a word, a text or an :class:`Instruction`, which has its own SM.

    >>> print(warpload.explain(0x80d0000000070404).effect)  # doctest: +SKIP
    """
    if isinstance(instruction, Instruction):
        sm = instruction.sm
        instruction = instruction.word
    if isinstance(instruction, str):
        given = instruction
    else:
        # The word has to be one of the SM; it need not be a load.
        _native.decode(instruction, sm)
        given = hex(instruction)
    known = json.loads(_explained(given, str(sm), "json"))
    return Explanation(
        word=int(known["word"], 16),
        sm=str(sm),
        text=known["text"],
        fields=tuple(
            Field(one["bits"], one["name"], int(one["raw"], 16), one["meaning"], one["purpose"])
            for one in known["fields"]
        ),
        remarks=tuple(known["remarks"]),
        effect=known["effect"],
    )


def _explained(instruction: str, sm: str, form: str) -> str:
    """Returns what the command prints."""
    # The default is that of the command, whose messages then name no SM.
    options = [] if sm == "50" else [f"--sm={sm}"]
    # To the command, the text `-` is standard input, which then has it.
    arguments = ["explain", *options, f"--format={form}", "--", instruction]
    answer = _native.call(arguments, instruction.encode())
    answer.check()
    return answer.output.decode()
