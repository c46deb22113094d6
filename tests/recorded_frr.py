"""An FRR in memory that answers as a real one was seen to: ``tests/recorded/*.json``, by daemon and command.

``python -m tests.integration.frr.test_neighbor_routes`` records anew, with FRR and BIRD on this machine.
"""

from __future__ import annotations

import json
from pathlib import Path

from frr_config import FakeFrr

_DIRECTORY = Path(__file__).parent / "recorded"


class RecordedFrr(FakeFrr):
    """Answers what was recorded, and writes down what it is asked."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.answers: dict[str, str] = json.loads((_DIRECTORY / f"{name}.json").read_text())
        self.asked: list[str] = []

    def show(self, daemon: str, command: str) -> str:
        """The recorded answer; that of daemons without any state to every other command."""
        self.asked.append(command)
        return self.answers.get(f"{daemon}: {command}") or super().show(daemon, command)


def record(name: str, answers: dict[str, str]) -> None:
    """Keep answers for ``RecordedFrr``."""
    (_DIRECTORY / f"{name}.json").write_text(json.dumps(answers, indent=1, sort_keys=True) + "\n")
