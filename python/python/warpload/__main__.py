"""The command ``warpload``: ``python -m warpload --help``."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

from . import _native


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command in this process, which does nothing else from here on."""
    if sys.stdout is not None:
        sys.stdout.flush()
    # Python's handler would only note Ctrl-C until the command is done.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.run(list(sys.argv[1:] if arguments is None else arguments), own_process=True)


if __name__ == "__main__":
    sys.exit(main())
