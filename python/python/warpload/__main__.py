"""The command ``warpload``: ``python -m warpload --help``."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

from . import _native


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command in this process, which does nothing else from here on."""
    return run(arguments)[0]


def run(arguments: Sequence[str] | None = None) -> tuple[int, bool]:
    """Does the same, and also returns whether the system refused something, which it may not the next time."""
    if sys.stdout is not None:
        sys.stdout.flush()
    # Python's handler would only note Ctrl-C until the command is done.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.run(
        list(sys.argv[1:] if arguments is None else arguments),
        stdout_is_closed=_replace_closed_stdout(),
    )


def _replace_closed_stdout() -> bool:
    """Returns whether standard output is closed. No file that is opened later gets its place."""
    try:
        os.fstat(1)
    except OSError:
        while os.open(os.devnull, os.O_RDWR) < 1:
            pass
        return True
    return False


if __name__ == "__main__":
    sys.exit(main())
