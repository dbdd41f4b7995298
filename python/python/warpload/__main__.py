"""The command ``warpload``: ``python -m warpload --help``."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

from . import _native


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command in this process, which should do nothing else afterwards."""
    return run(arguments)[0]


def run(arguments: Sequence[str] | None = None) -> tuple[int, str | None]:
    """Like `main`. Also returns the kind of the error behind status 2."""
    if sys.stdout is not None:
        sys.stdout.flush()
    # Python's own handler would only take note of Ctrl-C until the command is done.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.run(
        list(sys.argv[1:] if arguments is None else arguments),
        stdout_is_closed=_replace_closed_stdout(),
    )


def _replace_closed_stdout() -> bool:
    """Whether standard output is closed. If so, its place is taken, so that no file opened later becomes it."""
    try:
        os.fstat(1)
    except OSError:
        while os.open(os.devnull, os.O_RDWR) < 1:
            pass
        return True
    return False


if __name__ == "__main__":
    sys.exit(main())
