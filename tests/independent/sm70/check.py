#!/usr/bin/env python3
"""Checks the model and the committed vectors; exits with 1 if anything differs.

    check.py [CORPUS]    CORPUS: nvdisasm-sm70.tsv.xz, rows of an SM, a word and nvdisasm's text

Generates both files of vectors again and compares them with those in `tests/data/`. With CORPUS,
also decodes each of its words, compares texts and refusals, and encodes the loads again.
"""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path[0] = str(pathlib.Path(__file__).resolve().parents[1])

from sm70 import corpus  # noqa: E402
from sm70.generate import FILES, generate  # noqa: E402
from sm70.model import run  # noqa: E402
from warp.vectors import read, vectors_in  # noqa: E402

DATA = pathlib.Path(__file__).resolve().parents[2] / "data"


def check_vectors():
    """Returns whether the committed vectors are those that are generated, and hold."""
    good = True
    for name, (seed, rows) in FILES.items():
        vectors = list(vectors_in(DATA / name))
        same = read(DATA / name) == generate(seed, rows)
        failed = [v["name"] for v in vectors if run(v["instruction"], v["initial"]) != v["final"]]
        print(f"{name}: {len(vectors)} vectors, {len(failed)} fail,", "same" if same else "NOT the same")
        good = good and same and not failed
    return good


def check_corpus(path):
    """Returns whether all texts and refusals agree."""
    counts, differences = corpus.compare(path)
    print("\n".join(differences[:20]))
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())), end="")
    print(f", {len(differences)} differences")
    return not differences


if __name__ == "__main__":
    results = [check_vectors()] + [check_corpus(path) for path in sys.argv[1:]]
    sys.exit(not all(results))
