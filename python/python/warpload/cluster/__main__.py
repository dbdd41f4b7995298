"""``python -m warpload.cluster``: `warpload.cluster` for a shell."""

from __future__ import annotations

import argparse
import sys

from .. import Error
from ._tasks import default_shards, run


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m warpload.cluster",
        description="Import and replay on many machines, with Dask.",
        epilog="Example: python -m warpload.cluster replay trace.set.json --shards 64 --fill address",
    )
    steps = parser.add_subparsers(dest="step", required=True, metavar="import|replay")
    one = steps.add_parser("import", help="import the traces that a kernelslist.g lists, one a task")
    one.description = "Imports the traces that a kernelslist.g lists and prints the path of their set."
    add_options(one, "LIST")
    one = steps.add_parser("replay", help="replay a trace set in shards, and merge the results")
    one.description = (
        "Replays a trace set in shards and prints what `warpload replay --format json` prints of all."
    )
    add_options(one, "SET")
    one.add_argument("--shards", type=int, metavar="N", help="default: one for each thread")
    one.epilog = "Other options are those of `warpload plan`: --fan-in, --fill, --reuse …"
    arguments, options = parser.parse_known_args()
    if arguments.step == "import" and options:
        parser.error(f"unrecognized arguments: {' '.join(options)}")
    try:
        print(do(arguments, options))
    except (Error, FileNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def add_options(parser: argparse.ArgumentParser, what: str) -> None:
    parser.allow_abbrev = False
    parser.add_argument("input", metavar=what, help="a path that all workers have, or a URL")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="the cluster's, as tcp://host:8786")
    parser.add_argument("--workers", type=int, metavar="N", help="without a scheduler: N processes here")
    parser.add_argument("-o", "--folder", help="where outputs are written; default: beside the input")
    parser.add_argument("--retries", type=int, default=3, metavar="N", help="default: %(default)s")


def do(arguments: argparse.Namespace, options: list[str]) -> str:
    """Does what the arguments say and returns what is to be printed."""
    from distributed import Client

    if arguments.scheduler is None:
        client = Client(n_workers=arguments.workers, threads_per_worker=1, dashboard_address=":0")
    else:
        client = Client(arguments.scheduler)
    is_replay = arguments.step == "replay"
    with client:
        if is_replay:
            shards = default_shards(client) if arguments.shards is None else arguments.shards
            options = [f"--shards={shards}", *options]
            if not any(option.split("=")[0] == "--threads" for option in options):
                options.append("--threads=1")
        place, output = run(
            arguments.input,
            arguments.folder,
            ".replay" if is_replay else ".traces",
            options,
            client,
            arguments.retries,
            show_progress if sys.stderr.isatty() else None,
        )
        return place.read(output).rstrip("\n") if is_replay else place.url(output)


def show_progress(done: int, tasks: int) -> None:
    end = "\n" if done == tasks else ""
    print(f"\r{done} of {tasks} tasks", end=end, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
