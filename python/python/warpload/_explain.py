"""What every bit of a word means."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html import escape

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
    text: str
    """The instruction."""
    fields: tuple[Field, ...]
    """The most significant first."""
    remarks: tuple[str, ...]
    effect: str
    """What executing the instruction does."""
    drawing: str = field(repr=False)
    """What the command prints."""

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


def explain(instruction: int | str | Instruction, sm: str | int = "50") -> Explanation:
    """Explains a word, a text or an :class:`Instruction`, which has its own SM.

    >>> print(warpload.explain(0x80d0000000070404).effect)  # doctest: +SKIP
    """
    if isinstance(instruction, Instruction):
        instruction, sm = instruction.word, instruction.sm
    # A word that is a text is one of the command's; a number is checked first.
    given = instruction if isinstance(instruction, str) else hex(_checked(instruction, sm))
    # The default is that of the command, whose messages then name no SM.
    options = [] if str(sm) == "50" else ["--sm", str(sm)]
    answers = {}
    # To the command, the text `-` is standard input, which then has it.
    for form in ("json", "text"):
        answer = _native.call(["explain", *options, "--format", form, "--", given], given.encode())
        answer.check()
        answers[form] = answer.output.decode()
    known = json.loads(answers["json"])
    return Explanation(
        word=int(known["word"], 16),
        text=known["text"],
        fields=tuple(
            Field(one["bits"], one["name"], int(one["raw"], 16), one["meaning"], one["purpose"])
            for one in known["fields"]
        ),
        remarks=tuple(known["remarks"]),
        effect=known["effect"],
        drawing=answers["text"].rstrip("\n"),
    )


def _checked(word: int, sm: str | int) -> int:
    """Returns the word if it is one of the SM; it need not be a load."""
    _native.decode(word, sm)
    return word
