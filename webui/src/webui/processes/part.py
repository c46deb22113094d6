"""The declaration of a child of the web half's parent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """``run`` returns when the process was told to end. It begins in a process without threads."""

    name: str
    run: Callable[[], None]
    nice: int = 0
    """Its nice value: how far others go before it where CPU time is short."""
    oom_score_adj: int = 550
    """Which process the kernel kills first where memory is short: see proc_pid_oom_score_adj(5)."""
    vital: bool = False
    """Whether the others are useless without it: the parent ends where it does not stay up."""
