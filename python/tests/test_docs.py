"""What is documented is so."""

from __future__ import annotations

import contextlib
import dataclasses
import doctest
import io
import re
import typing
from collections.abc import Iterator
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


def counters(kind: object, path: str = "") -> Iterator[str]:
    """The paths of the fields of a class, as docs/counters.md has them. The first fault is a counter as a whole."""
    for name, hint in typing.get_type_hints(kind).items():
        inner = (typing.get_args(hint) or (hint,))[0]
        yield path + name.rstrip("_")
        if dataclasses.is_dataclass(inner) and inner not in (_summary.Accesses, _summary.FirstFault):
            yield from counters(inner, f"{path}{name.rstrip('_')}.")


def test_the_counters_are_the_fields(root: Path) -> None:
    """The tables of the page are derived from the list of counters, so a field without a counter fails, too."""
    page = (root / "docs" / "counters.md").read_text()
    tables = re.findall(r"<!-- counters.*?-->\n(.*?)<!-- end -->", page, re.DOTALL)
    assert len(tables) == 2
    for table, kind in zip(tables, (_summary.Counts, _summary.Accesses)):
        assert sorted(re.findall(r"^\| `(.*?)`", table, re.MULTILINE)) == sorted(counters(kind))
