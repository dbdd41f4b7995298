#!/usr/bin/env python3
"""Answers a conformance suite's questions by the models in tests/independent, one JSON object a line.

    warpload conform --command 'python3 examples/conform/adapter.py' vectors/v1
"""

import json
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "independent"))

import sm70.model  # noqa: E402
import spa50.model  # noqa: E402
from warp import Refused  # noqa: E402
from warptrace.answers import cost, replayed  # noqa: E402


def answer(question):
    """Returns the `final` of an execute case, the `expect` of another, or why there is none."""
    family, initial = question.get("family", "execute"), question.get("initial", {})
    sm = question.get("sm") or initial.get("sm", "50")
    model = sm70.model if int(sm.rstrip("af")) >= 70 else spa50.model
    answers = {
        "execute": lambda: model.run(question["instruction"], initial),
        "decode": lambda: model.listed(sm, question["word"]),
        "encode": lambda: model.assembled(sm, question["text"]),
        "coalescing": lambda: cost(question),
        "traces": lambda: replayed(question),
    }
    try:
        return answers[family]() if family in answers else {"skip": f"no model of {family}"}
    except Refused as reason:
        return {"skip": str(reason)}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
