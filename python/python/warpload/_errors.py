"""Exceptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._types import ErrorKind


class Error(ValueError):
    """An error that the command would report, with its kind, and the place at fault if there is one.

    A missing file is a :class:`FileNotFoundError` instead.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: ErrorKind = "input",
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        span: tuple[int, int] | None = None,
        rule: str | None = None,
        help: str | None = None,
        drawing: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kind: ErrorKind = kind
        """``argument``: an argument is wrong; ``syntax``: a text cannot be parsed; ``illegal``: an instruction breaks a
        rule; ``input``: a file is malformed or of another kind than expected; ``selection``: no access is selected;
        ``fault``: a kernel has faults, or does not end; ``system``: the system refused something, and trying again may
        succeed."""
        self.file = file
        """The file's name; ``<argument>`` for a text that was passed as an argument."""
        self.line = line
        """From 1."""
        self.column = column
        """In characters, from 1."""
        self.span = span
        """The first byte at fault and the one after the last: in the line, or in the module of PTX."""
        self.rule = rule
        """The name of the broken rule."""
        self.help = help
        """A suggestion."""
        self.drawing = drawing
        """The message as the command draws it. Tracebacks show it."""
        if drawing and file and hasattr(self, "add_note"):
            self.add_note(drawing)

    def __reduce__(self) -> tuple[object, ...]:
        details = {
            name: getattr(self, name)
            for name in ("kind", "file", "line", "column", "span", "rule", "help", "drawing")
        }
        return _restore, (type(self), self.message, details)


def _restore(kind: type[Error], message: str, details: dict[str, object]) -> Error:
    return kind(message, **details)  # type: ignore[arg-type]
