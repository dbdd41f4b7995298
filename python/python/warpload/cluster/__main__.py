"""``python -m warpload.cluster``: `warpload.cluster` for a shell."""

from __future__ import annotations

import argparse
import sys

from .._types import CountingOptions
from . import replay

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
        description="Replays a trace on many machines, with Dask, and prints the same as `warpload replay --format json`.",
        epilog="Example: python -m warpload.cluster app.wlt --shards 64 --fill address",
    )
    parser.add_argument("trace", metavar="TRACE", help="a path that all workers have, or a URL")
    parser.add_argument("--shards", type=int, metavar="N", help="default: one for each thread")
    parser.add_argument("--retries", type=int, default=3, metavar="N", help="default: %(default)s")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="the cluster's scheduler, as tcp://host:8786")
    parser.add_argument("--workers", type=int, metavar="N", help="local processes, without a scheduler")
    same = parser.add_argument_group("options of `warpload replay`")
    same.add_argument("--image", metavar="FILE")
    for name, kind in CountingOptions.__annotations__.items():
        option = name.replace("_", "-")
        if "bool" in str(kind):
            same.add_argument(f"--{option}", action=argparse.BooleanOptionalAction)
        elif name == "cubin":
            same.add_argument("--cubin", action="append", metavar="FILE")
        else:
            same.add_argument(f"--{option}", type=int if name in NUMBERS else str)
    return parser


def do(arguments: argparse.Namespace) -> str:
    """Does what the arguments say, and returns the text to print."""
    from distributed import Client

    if arguments.scheduler is None:
        client = Client(n_workers=arguments.workers, threads_per_worker=1, dashboard_address=":0")
    else:
        client = Client(arguments.scheduler)
    with client:
        given = {name: getattr(arguments, name) for name in (*CountingOptions.__annotations__, "image")}
        given = {name: value for name, value in given.items() if value is not None}
        found = replay(
            arguments.trace,
            client,
            shards=arguments.shards,
            retries=arguments.retries,
            progress=show_progress if sys.stderr.isatty() else None,
            **given,
        )
        return found.to_json().decode().rstrip("\n")


def show_progress(done: int, tasks: int) -> None:
    end = "\n" if done == tasks else ""
    print(f"\r{done} of {tasks} tasks", end=end, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
