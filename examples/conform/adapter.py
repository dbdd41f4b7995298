#!/usr/bin/env python3
"""Answers a conformance suite's questions with the models in tests/independent, one JSON object a line.

    warpload conform --command 'python3 examples/conform/adapter.py' vectors/v1
"""

import json
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "independent"))

import ptx.model  # noqa: E402
import sm70.model  # noqa: E402
import spa50.model  # noqa: E402
from warp import Refused  # noqa: E402
from warptrace.answers import cost, replayed  # noqa: E402


def answer(question):
    """Returns the `final` of an execute case, the `expect` of another case, or the reason to skip it."""
    family, initial = question.get("family", "execute"), question.get("initial", {})
    sm = question.get("sm") or initial.get("sm", "50")
    model = sm70.model if int(sm.rstrip("af")) >= 70 else spa50.model
    whole = {"ptx-execute": ptx.model.run, "coalescing": cost, "traces": replayed}
    answers = whole | {
        "execute": lambda case: model.run(case["instruction"], initial),
        "decode": lambda case: model.listed(sm, case["word"]),
        "encode": lambda case: model.assembled(sm, case["text"]),
    }
    try:
        return answers[family](question) if family in answers else {"skip": f"no model of {family}"}
    except Refused as reason:
        return {"skip": str(reason)}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
