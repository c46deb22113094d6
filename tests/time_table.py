"""``make test`` ends with a table of where the time goes: by file, by feature, and by live lab.

A feature's seconds are those of the tests that ``make test FEATURE=`` runs for it, without those that cover
every feature; a test that names two features counts for both. Seconds are of one process: tests of a lab run
one after another, and no run is shorter than its longest lab.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests import feature_selection, worker_groups

_SLOWEST = 10
"""Files in the table."""
_FEATURES = "features"
"""Name of the property by which a report says which features its test concerns."""


def add_option(parser: pytest.Parser) -> None:
    """``--time-table``."""
    parser.addoption("--time-table", action="store_true", help="end with a table of where the time goes")


def register(config: pytest.Config) -> None:
    """Count this run, if it is asked for: in each worker which features a test concerns, then all reports."""
    if config.getoption("--time-table"):
        config.pluginmanager.register(TimeTable(), "time-table")


class TimeTable:
    """Adds up the reports of all workers."""

    def __init__(self) -> None:
        self.tests: Counter[str] = Counter()
        self._seconds_of: dict[str, float] = defaultdict(float)
        self._features_of: dict[str, list[str]] = {}

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Note in the test's reports which features it concerns: who prints the table may have no items."""
        item.user_properties.append((_FEATURES, " ".join(feature_selection.features_of(item))))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a report; where work is shared out, those of the workers come here."""
        self._seconds_of[report.nodeid] += report.duration
        if report.when == "teardown":
            self.tests[_file_of(report.nodeid)] += 1
            properties: dict[str, Any] = dict(report.user_properties)
            self._features_of[report.nodeid] = str(properties.get(_FEATURES, "")).split()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table."""
        terminalreporter.section("where the time goes")
        for line in self.lines():
            terminalreporter.write_line(line)

    def lines(self) -> Iterator[str]:
        """The table."""
        files = self._sums(lambda nodeid: [_file_of(nodeid)])
        labs = self._sums(lambda nodeid: [worker_groups.live_group_of(nodeid)])
        features = self._sums(lambda nodeid: self._features_of.get(nodeid, []))
        total = sum(self._seconds_of.values())
        yield f"{total:8.1f} s in {self.tests.total()} tests of {len(files)} files"
        yield f"the {min(_SLOWEST, len(files))} slowest files:"
        for file, seconds in _largest_first(files)[:_SLOWEST]:
            yield f"{seconds:8.1f} s  {file} ({self.tests[file]} tests)"
        for title, sums in (("labs:", labs), ("features:", features)):
            if sums:
                yield title
            for name, seconds in _largest_first(sums):
                yield f"{seconds:8.1f} s  {name}"

    def _sums(self, names_of: Callable[[str], list[str]]) -> dict[str, float]:
        sums: dict[str, float] = defaultdict(float)
        for nodeid, seconds in self._seconds_of.items():
            for name in filter(None, names_of(nodeid)):
                sums[name] += seconds
        return sums


def _largest_first(sums: dict[str, float]) -> list[tuple[str, float]]:
    return sorted(sums.items(), key=lambda item: -item[1])


def _file_of(nodeid: str) -> str:
    return nodeid.partition("::")[0]
