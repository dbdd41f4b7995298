"""Files of the repository, and the command as another process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

#: Why a test may be skipped even where every judge must be there: the system forbids it.
FORBIDDEN = "processes may not be traced here"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Makes a skipped test one that fails, with ``WARPLOAD_REQUIRE=1``."""
    report = yield
    if report.skipped and os.environ.get("WARPLOAD_REQUIRE") == "1" and FORBIDDEN not in str(report.longrepr):
        report.outcome = "failed"
        report.longrepr = f"{report.longrepr}, and WARPLOAD_REQUIRE=1 requires it"
    return report


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def traces() -> Path:
    return ROOT / "traces"


@pytest.fixture(scope="session")
def data() -> Path:
    return ROOT / "tests" / "data"


Command = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture(scope="session")
def command() -> Command:
    """The command as cargo builds it; ``WARPLOAD`` names another one."""
    program = os.environ.get("WARPLOAD", str(ROOT / "target" / "debug" / "warpload"))
    if not Path(program).exists():
        pytest.fail(f"{program} is missing: run `cargo build -p warpload-cli`")

    def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([program, *map(str, arguments)], capture_output=True, **options)

    return run


@pytest.fixture(scope="session")
def module() -> Command:
    """The command as ``python -m warpload``."""

    def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[bytes]:
        line = [sys.executable, "-m", "warpload", *map(str, arguments)]
        return subprocess.run(line, capture_output=True, **options)

    return run
