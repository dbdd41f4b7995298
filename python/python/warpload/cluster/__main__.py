"""``python -m warpload.cluster``: `warpload.cluster` for a shell."""

from __future__ import annotations

import argparse
import sys

from .._types import PlannedOptions
from . import import_, replay

#: Options that are numbers. Windows and program counters stay text, which the command parses.
NUMBERS = ("threads", "address_bits")


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
    one = steps.add_parser("import", help="import the traces of a kernelslist.g, one per task")
    one.description = "Imports the traces of a kernelslist.g and prints the path of their set."
    one.add_argument("input", metavar="LIST", help="a path that all workers have, or a URL")
    add_options(one)
    one = steps.add_parser("replay", help="replay a trace set in shards, and merge the results")
    one.description = (
        "Replays a trace set in shards and prints the same as `warpload replay --format json` of the set."
    )
    one.add_argument("input", metavar="SET", help="a path that all workers have, or a URL")
    add_options(one)
    one.add_argument("--shards", type=int, metavar="N", help="default: one for each thread")
    same = one.add_argument_group("options of `warpload replay` and `warpload plan`")
    same.add_argument("--fan-in", type=int, default=16)
    same.add_argument("--image", metavar="FILE")
    for name, kind in PlannedOptions.__annotations__.items():
        option = name.replace("_", "-")
        if "bool" in str(kind):
            same.add_argument(f"--{option}", action=argparse.BooleanOptionalAction)
        elif name == "cubin":
            same.add_argument("--cubin", action="append", metavar="FILE")
        else:
            same.add_argument(f"--{option}", type=int if name in NUMBERS else str)
    return parser


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scheduler", metavar="ADDRESS", help="the cluster's scheduler, as tcp://host:8786")
    parser.add_argument("--workers", type=int, metavar="N", help="local processes, without a scheduler")
    parser.add_argument("-o", "--folder", help="folder of the outputs; default: beside the input")
    parser.add_argument("--retries", type=int, default=3, metavar="N", help="default: %(default)s")


def do(arguments: argparse.Namespace) -> str:
    """Does what the arguments say, and returns the text to print."""
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
        given = {name: getattr(arguments, name) for name in (*PlannedOptions.__annotations__, "image")}
        given = {name: value for name, value in given.items() if value is not None}
        found = replay(
            source,
            client,
            shards=arguments.shards,
            fan_in=arguments.fan_in,
            folder=folder,
            retries=retries,
            progress=progress,
            **given,
        )
        return found.to_json().decode().rstrip("\n")


def show_progress(done: int, tasks: int) -> None:
    end = "\n" if done == tasks else ""
    print(f"\r{done} of {tasks} tasks", end=end, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
