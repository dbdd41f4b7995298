"""What is documented is so."""

from __future__ import annotations

import contextlib
import dataclasses
import doctest
import io
import re
from pathlib import Path

import pytest
from warpload import _summary


@pytest.mark.parametrize(("page", "count"), [("python.md", 45), ("book/triton.md", 18)])
def test_examples_of_the_documentation(root: Path, monkeypatch, page: str, count: int) -> None:
    monkeypatch.chdir(root)
    text = (root / "docs" / page).read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page, None, 0)
    assert len(examples.examples) > count
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    failed = runner.run(examples, out=report.write).failed
    assert not failed, report.getvalue()


def test_the_example_of_the_readme(root: Path, monkeypatch) -> None:
    monkeypatch.chdir(root)
    section = (root / "README.md").read_text().split("\n## Python\n")[1].split("\n## ")[0]
    found = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", section, re.DOTALL)
    assert found is not None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(found[1], "README.md", "exec"), {})
    assert printed.getvalue() == found[2]


def test_every_counter_is_a_field(root: Path) -> None:
    page = (root / "docs" / "counters.md").read_text()
    of_trace, of_accesses = re.findall(r"<!-- counters.*?-->\n(.*?)<!-- end -->", page, re.DOTALL)
    for table, kind in ((of_trace, _summary.Counts), (of_accesses, _summary.Accesses)):
        paths = re.findall(r"^\| `(.*?)`", table, re.MULTILINE)
        assert len(paths) > 15
        for path in paths:
            of = kind
            for key in path.split("."):
                assert key in {field.name.rstrip("_") for field in dataclasses.fields(of)}, path
                of = _summary._NESTED.get(key)
