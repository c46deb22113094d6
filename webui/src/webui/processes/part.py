"""A child of the web half's parent, as it is declared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """``run`` returns when the process was told to end. It begins in a process without threads."""

    name: str
    run: Callable[[], None]
    nice: int = 0
    """How far it stands behind others where the CPUs do not suffice."""
    oom_score_adj: int = 550
    """Which process the kernel ends first where memory does not suffice: see proc_pid_oom_score_adj(5)."""
    vital: bool = False
    """Whether nothing is worth running without it: the parent ends where it does not stay up."""
