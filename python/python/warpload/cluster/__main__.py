"""``python -m warpload.cluster``: `warpload.cluster` for a shell."""

from __future__ import annotations

import argparse
import os
import sys

from . import import_

#: Options of ``warpload plan`` with a value, those that are paths, and those without a value.
VALUES = (
    "fan-in fill threads address-bits shared-window local-window kernel pc opcode space".split()
)
PATHS = ("image", "cubin")
FLAGS = ("reuse", "merge-pairs", "no-demangle")


def main() -> int:
    arguments = parser().parse_args()
    try:
        print(do(arguments))
    except KeyboardInterrupt:
        return 130
    except ModuleNotFoundError as error:
        print(f"error: {error}; install it with `pip install 'warpload[cluster]'`", file=sys.stderr)
        return 2
    except Exception as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m warpload.cluster",
        description="Import and replay on many machines, with Dask.",
        epilog="Example: python -m warpload.cluster replay trace.set.json --shards 64 --fill address",
    )
    steps = parser.add_subparsers(dest="step", required=True, metavar="import|replay")
    one = steps.add_parser("import", help="import the traces that a kernelslist.g lists, one a task")
    one.description = "Imports the traces that a kernelslist.g lists and prints the path of their set."
    one.add_argument("input", metavar="LIST", help="a path that all workers have, or a URL")
    add_options(one)
    one = steps.add_parser("replay", help="replay a trace set in shards, and merge the results")
    one.description = (
        "Replays a trace set in shards and prints what `warpload replay --format json` prints of all."
    )
    one.add_argument("input", metavar="SET", help="a path that all workers have, or a URL")
    add_options(one)
    one.add_argument("--shards", type=int, metavar="N", help="default: one for each thread")
    same = one.add_argument_group("options of `warpload replay` and `warpload plan`")
    for name in VALUES:
        same.add_argument(f"--{name}", default="1" if name == "threads" else None)
    for name in PATHS:
        same.add_argument(f"--{name}", action="append", default=[], metavar="FILE")
    for name in FLAGS:
        same.add_argument(f"--{name}", action="store_true")
    return parser


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scheduler", metavar="ADDRESS", help="the cluster's, as tcp://host:8786")
    parser.add_argument("--workers", type=int, metavar="N", help="without a scheduler: N processes here")
    parser.add_argument("-o", "--folder", help="where outputs are written; default: beside the input")
    parser.add_argument("--retries", type=int, default=3, metavar="N", help="default: %(default)s")


def do(arguments: argparse.Namespace) -> str:
    """Does what the arguments say and returns what is to be printed."""
    from distributed import Client

    from . import _tasks

    if arguments.scheduler is None:
        client = Client(n_workers=arguments.workers, threads_per_worker=1, dashboard_address=":0")
    else:
        client = Client(arguments.scheduler)
    with client:
        source, folder, retries = arguments.input, arguments.folder, arguments.retries
        progress = show_progress if sys.stderr.isatty() else None
        if arguments.step == "import":
            return import_(source, client, folder=folder, retries=retries, progress=progress)
        given, shards = options(arguments), arguments.shards
        merged = _tasks.replay(source, folder, given, client, shards, retries, progress)
        return merged.rstrip("\n")


def options(arguments: argparse.Namespace) -> list[str]:
    """The options of a replay as the command takes them."""
    given = {name: getattr(arguments, name.replace("-", "_")) for name in (*VALUES, *PATHS, *FLAGS)}
    found = [f"--{name}={given[name]}" for name in VALUES if given[name] is not None]
    found += [f"--{name}={os.path.abspath(file)}" for name in PATHS for file in given[name]]
    return found + [f"--{name}" for name in FLAGS if given[name]]


def show_progress(done: int, tasks: int) -> None:
    end = "\n" if done == tasks else ""
    print(f"\r{done} of {tasks} tasks", end=end, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
