"""The scheduler of pytest-xdist. Loaded only where pytest-xdist asks for it: a guest has none."""

from __future__ import annotations

from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

from tests.worker_groups import group_of


class ByGroup(LoadScopeScheduling):  # type: ignore[misc]
    """Gives workers whole groups, in the order in which they were collected."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


def scheduler(config: pytest.Config, log: Any) -> ByGroup:
    """For pytest-xdist."""
    config.option.loadscopereorder = False
    return ByGroup(config, log)
