"""`make test QUICK=1`, and the table of where the time goes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests import quick_run
from tests.time_table import TimeTable

ROOT = Path(__file__).resolve().parents[2]


def _report(nodeid: str, when: str, seconds: float, features: str) -> pytest.TestReport:
    found = SimpleNamespace(
        nodeid=nodeid, when=when, duration=seconds, user_properties=[("features", features)]
    )
    return cast(pytest.TestReport, found)


def test_seconds_are_added_up_by_file_feature_and_lab() -> None:
    table = TimeTable()
    lab = "tests/integration/router/test_nat.py::test_a[vpp]"
    for nodeid, features in (
        (lab, "nat"),
        ("tests/unit/x.py::test_a", "nat bgp"),
        ("tests/unit/x.py::b", ""),
    ):
        for when in ("setup", "call", "teardown"):
            table.pytest_runtest_logreport(_report(nodeid, when, 0.5, features))
    assert list(table.lines()) == [
        "     4.5 s in 3 tests of 2 files",
        "the 2 slowest files:",
        "     3.0 s  tests/unit/x.py (2 tests)",
        "     1.5 s  tests/integration/router/test_nat.py (1 tests)",
        "labs:",
        "     1.5 s  vpp",
        "features:",
        "     3.0 s  nat",
        "     1.5 s  bgp",
    ]


def test_of_many_files_the_slowest_ten_are_shown() -> None:
    table = TimeTable()
    for number in range(12):
        table.pytest_runtest_logreport(_report(f"tests/unit/f{number}.py::test", "teardown", number, ""))
    assert [line.split()[2] for line in table.lines() if " s  tests/" in line] == [
        f"tests/unit/f{number}.py" for number in range(11, 1, -1)
    ]


@pytest.mark.parametrize(
    ("nodeid", "fixtures", "marks", "kept"),
    [
        ("tests/unit/config/test_load.py::test", (), (), True),
        ("tests/api/test_pages.py::test", ("db", "router"), (), True),
        ("tests/api/test_x.py::test", ("redis_url",), (), False),
        ("tests/unit/x.py::test", (), ("root",), False),
        ("tests/golden/x.py::test", (), ("vpp",), False),
        ("tests/integration/frr/test_fpm.py::test", (), (), False),
        ("tests/lab/test_records.py::test", (), (), False),
        ("tests/unit/test_features_taken_out.py::test", (), (), False),
    ],
)
def test_a_quick_run_needs_neither_root_nor_a_server(
    nodeid: str, fixtures: tuple[str, ...], marks: tuple[str, ...], kept: bool
) -> None:
    item: Any = SimpleNamespace(
        nodeid=nodeid,
        fixturenames=fixtures,
        iter_markers=lambda: [SimpleNamespace(name=name) for name in marks],
    )
    assert quick_run.is_kept(item) is kept


def test_what_it_leaves_out_exists() -> None:
    assert [path for path in quick_run.LEFT_OUT if not (ROOT / path).is_file()] == []
