"""conform and vectors."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import typing

import pytest
import warpload as wl
from warpload import _types, vectors


@pytest.fixture(scope="session")
def suite(root):
    return root / "vectors" / "v1"


@pytest.fixture(scope="session")
def small(root):
    return root / "cli" / "tests" / "conform" / "suite"


def right(question):
    """What our executors answer, for an emulator that is right."""
    if question["family"] == "decode":
        try:
            load = wl.decode(int(question["word"], 16), sm=question["sm"])
        except wl.Error:
            return {"illegal": True}
        return {"text": load.text} if load else None
    return None


def test_our_executors_answer_the_whole_suite(suite) -> None:
    cases = json.loads((suite / "MANIFEST.json").read_bytes())["cases"]
    report = wl.conform(suite, jobs=2)
    assert report and (report.passed, report.failed, report.skipped) == (cases, 0, 0)
    assert sum(passed for passed, _, _ in report.families.values()) == cases
    assert set(report.families) == set(typing.get_args(_types.Family))
    assert (report.explanations, report.failures) == ([], [])
    assert str(report) == f"{cases} passed, 0 failed, 0 skipped"


def test_a_program_and_our_executors_are_asked_the_same(small) -> None:
    program = [sys.executable, "-m", "warpload", "conform", "--serve"]
    for executor in ("fast", "reference", "both"):
        assert wl.conform(small, executor=executor) == wl.conform(small, program, timeout=60.0), executor
    command = " ".join(f"'{word}'" for word in program)
    assert wl.conform(small / "decode", command) == wl.conform(small / "decode", program)


def test_a_function_is_asked(suite) -> None:
    asked = []

    def emulator(question):
        asked.append(question)
        assert "expect" not in question
        return right(question)

    report = wl.conform([suite / "decode"], emulator, families=["decode"])
    assert report and report.failed == 0
    assert len(asked) == report.passed + report.skipped > 1000
    assert report.skips == ({"no answer": report.skipped} if report.skipped else {})
    # One that is wrong about one thing.
    report = wl.conform(
        suite / "decode",
        lambda question: {"text": right(question)["text"].replace("LDG.E.64", "LDG.E.32")}
        if "text" in (right(question) or {})
        else right(question),
        families=["decode"],
        failures=3,
    )
    assert not report and report.failed > 3 == len(report.failures)
    assert "`LDG` of 64 bits" in report.explanations[0]
    failure = report.failures[0]
    assert failure.kind == "difference" and "LDG.E.32" in failure.differences[0]
    assert failure.id in str(failure) and failure.line > 0
    html = report._repr_html_()
    assert "<table>" in html and f"{report.failed} failed" in html
    assert repr(report) == f"Conformance({report.passed} passed, {report.failed} failed, {report.skipped} skipped)"


def test_what_a_function_raises(small) -> None:
    cases = wl.conform(small / "decode", executor="fast").passed

    def raises(exception):
        def function(question):
            raise exception

        return function

    report = wl.conform(small / "decode", raises(NotImplementedError("not yet")))
    assert report.skips == {"not yet": cases} and not report
    report = wl.conform(small / "decode", raises(KeyError("x")))
    assert {failure.kind for failure in report.failures} == {"crash"}
    assert report.failures[0].differences == ["KeyError: 'x'"]
    assert any("test_conform.py" in line for line in report.failures[0].stderr)
    with pytest.raises(KeyboardInterrupt):
        wl.conform(small / "decode", raises(KeyboardInterrupt()))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
@pytest.mark.parametrize("examinee", ["reference", "sleep 60"])
def test_a_signal_stops_a_run(suite, examinee) -> None:
    def stop(*_) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(TimeoutError):
            if examinee == "reference":
                wl.conform(suite, executor=examinee)
            wl.conform(suite, examinee, timeout=60.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# Notes its number in a folder, and answers nothing.
SLEEPING = "import os, sys, time; open(f'{sys.argv[1]}/{os.getpid()}', 'w').close(); time.sleep(600)"
CONFORM = "import sys, warpload; warpload.conform(sys.argv[1], [sys.executable, *sys.argv[2:]], timeout=600.0)"


def is_running(number: str) -> bool:
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_no_program_outlives_a_run_that_a_signal_ends(small, tmp_path, number) -> None:
    arguments = [sys.executable, "-c", CONFORM, small, "-c", SLEEPING, tmp_path]
    child = subprocess.Popen(arguments, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 120
    while not any(map(is_running, os.listdir(tmp_path))):
        assert child.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    child.send_signal(number)
    _, errors = child.communicate(timeout=120)
    assert child.returncode == -number, errors
    assert (b"KeyboardInterrupt" in errors) == (number == signal.SIGINT)
    assert not any(map(is_running, os.listdir(tmp_path)))


@pytest.mark.skipif(not hasattr(signal, "SIGTERM"), reason="no signals")
def test_a_run_leaves_the_handlers_of_signals_alone(small) -> None:
    before = signal.getsignal(signal.SIGTERM)
    program = [sys.executable, "-m", "warpload", "conform", "--serve"]
    assert wl.conform(small / "decode", program, timeout=60.0)
    assert signal.getsignal(signal.SIGTERM) == before


def test_other_threads_run_while_vectors_are_drawn_and_checked() -> None:
    """No thread has to give the lock up: another one runs only if the call releases it."""
    vector = vectors.generate("LDS", count=1)[0]
    before = sys.getswitchinterval()
    for work in (lambda: vectors.generate("LDS", count=4), vector.check):
        started, gate, ran = threading.Event(), threading.Lock(), []

        def run() -> None:
            started.set()
            with gate:
                ran.append(True)

        gate.acquire()
        thread = threading.Thread(target=run)
        thread.start()
        started.wait()
        sys.setswitchinterval(10_000)
        try:
            gate.release()
            for _ in range(10_000):
                work()
                if ran:
                    break
            ran_meanwhile = list(ran)
        finally:
            sys.setswitchinterval(before)
        thread.join()
        assert ran_meanwhile


@pytest.mark.parametrize("answer", [{"text": 1}, [], "LD", {"text": [[]]}, {"text": object()}, 1.5])
def test_what_is_no_answer(small, answer) -> None:
    report = wl.conform(small / "decode", lambda question: answer)
    assert report.passed == 0 and report.failed > 0
    assert {failure.kind for failure in report.failures} <= {"wrong-line", "crash"}


def test_a_list_in_itself_is_no_answer(small) -> None:
    answer: list = []
    answer.append(answer)
    report = wl.conform(small / "decode", lambda question: {"text": answer})
    assert "64" in report.failures[0].differences[0]


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"timeout": 1.0}, "argument"),
        ({"examinee": "cat", "executor": "fast"}, "argument"),
        ({"executor": "slow"}, "argument"),
        ({"examinee": right, "jobs": 2}, "argument"),
        ({"examinee": "sh -c 'x"}, "argument"),
        ({"examinee": []}, "argument"),
        ({"examinee": "./no-such-program"}, "system"),
        ({"examinee": "true"}, "input"),
        ({"examinee": "cat", "timeout": 0.0}, "argument"),
        ({"families": ["no-such"]}, "argument"),
        ({"flags": ["misalignd"]}, "selection"),
    ],
)
def test_errors_have_a_kind(small, options, kind) -> None:
    with pytest.raises(wl.Error) as raised:
        wl.conform(small, **options)
    assert raised.value.kind == kind, raised.value
    if kind == "selection":
        assert "did you mean `misaligned`?" in str(raised.value)


def test_a_suite_that_is_not_there(small, tmp_path) -> None:
    with pytest.raises(FileNotFoundError):
        wl.conform(tmp_path / "none.jsonl")
    with pytest.raises(wl.Error):
        wl.conform(tmp_path)
    empty = tmp_path / "empty.jsonl"
    empty.write_text("\n")
    with pytest.raises(wl.Error, match="no cases") as raised:
        wl.conform(empty)
    assert raised.value.file == str(empty)
    empty.write_bytes(b"\x7fELF" + bytes(100))
    with pytest.raises(wl.Error):
        wl.conform(empty)


def test_vectors_are_those_of_the_command(command) -> None:
    options = ["--instruction", "LDG", "--sm", "90", "--count", "20", "--seed", "7"]
    known = command("vectors", "generate", *options).stdout.decode().splitlines()
    drawn = vectors.generate("ldg", 90, count=20, seed=7)
    assert [vector.json for vector in drawn] == known
    flagged = vectors.generate("LDG", "90", count=3, flags=["misaligned", "guard"])
    assert all({"misaligned", "guard"} <= set(vector.flags) for vector in flagged)
    assert [vector.flags for vector in drawn] == [vector.to_dict()["flags"] for vector in drawn]
    assert "LDG" in vectors.instructions(90) and "LDTM" not in vectors.instructions(100)
    assert {"misaligned", "guard"} < {flag.name for flag in vectors.flags()}


def test_a_vector_is_executed_by_hand(suite) -> None:
    for vector in vectors.read(suite / "execute" / "ldg-sm90.jsonl"):
        warp = vector.warp
        outcome = wl.execute(vector.instruction, vector.machine, warp)
        final = vector.to_dict()["final"]
        for register, values in final["registers"].items():
            assert [hex(value) for value in warp[int(register[1:])].tolist()] == values
        fault = outcome.warp_fault
        assert (fault.kind if fault else None) == final["fault"]
        assert vector.check() == vector.check("fast") == []


def test_vectors_are_read_and_written(tmp_path) -> None:
    drawn = vectors.generate("LDS", count=5)
    path = tmp_path / "vectors.jsonl"
    vectors.write(path, drawn)
    assert vectors.read(path) == drawn == pickle.loads(pickle.dumps(drawn))
    assert [path.name for path in tmp_path.iterdir()] == ["vectors.jsonl"]
    assert wl.conform(path).passed == 5
    path.write_text(path.read_text() + "\n{}\n")
    with pytest.raises(wl.Error, match="missing key `instruction`") as raised:
        vectors.read(path)
    assert (raised.value.line, raised.value.file) == (7, str(path))
    with pytest.raises(wl.Error) as raised:
        vectors.Vector("{}")
    assert raised.value.kind == "syntax"
    with pytest.raises(wl.Error) as raised:
        vectors.generate("LDG", flags=["nosuch"])
    assert raised.value.kind == "argument"
    with pytest.raises(wl.Error, match="expected one of .*LDG"):
        vectors.generate("MOV")
    (first, *_) = (vector for vector in drawn if vector.to_dict()["final"]["fault"] is None)
    wrong = first.json.replace('"fault":null', '"fault":"misaligned_register"')
    assert vectors.Vector(wrong).check("fast") == ["fast: fault: expected misaligned_register, got none"]


def test_words_are_those_of_the_stubs(root) -> None:
    """Each `Literal` that is taken is taken, and no other word."""
    memory = wl.Memory()
    for word in typing.get_args(_types.Misaligned):
        assert wl.Machine(memory, misaligned=word).misaligned == word
    with pytest.raises(wl.Error, match='misaligned: expected "force", "report" or "fault", not "x"'):
        wl.Machine(memory, misaligned="x")
    vector = vectors.generate("LDS", count=1)[0]
    for word in typing.get_args(_types.Executor):
        assert vector.check(word) == []
    with pytest.raises(wl.Error, match="executor: expected"):
        vector.check("slow")
    load = "tcgen05.ld.sync.aligned.32x32b.x2.b32 {r0, r1}, [taddr];"
    for word in typing.get_args(_types.LaneMode):
        wl.tmem.run(load, lane_mode=word)
    with pytest.raises(wl.Error, match="lane_mode: expected"):
        wl.tmem.run(load, lane_mode="x")
    texts = ["LD R0, [R2]", "LDS R0, [R2]", "LDL R0, [R2]", "LDG R0, [R2]", "LDC R0, c[0x3][R2]"]
    spaces = {wl.Instruction(text).space for text in texts}
    assert spaces == set(typing.get_args(_types.InstructionSpace)) - {"tensor"}


def test_control_characters_of_an_examinee_do_not_reach_a_terminal(small) -> None:
    def answers(question):
        # Not a KeyError, whose text is escaped by Python.
        raise RuntimeError("\x1b[2J\x07\u202e")

    report = wl.conform(small / "decode", answers)
    shown = str(report) + repr(report) + "".join(str(f) + repr(f) for f in report.failures)
    assert "\\u{1b}[2J" in shown
    assert not any(mark in shown for mark in "\x1b\x07\u202e")


def test_control_characters_of_an_answer_do_not_reach_a_terminal(small) -> None:
    report = wl.conform(small / "decode", lambda question: {"illegal": "\x1b]0;title\x07"})
    shown = str(report) + "".join(str(failure) for failure in report.failures)
    assert report.failures and not any(mark in shown for mark in "\x1b\x07")
