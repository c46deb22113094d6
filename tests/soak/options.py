"""What a campaign is told by its environment.

::

    MILLRACE_SEED=7          everything random comes from it; without it, a new one that is printed
    MILLRACE_ROUNDS=200      how many rounds (default 20)
    MILLRACE_ROUND=12,40     these rounds alone, as the campaign of that seed had them
    MILLRACE_DATAPLANE=vpp   linux, vpp, or both where it is not set
    MILLRACE_DATABASE=sqlite postgres (the default) or sqlite
    MILLRACE_FAULTS=a,b      only these faults; -a,-b all but these
    MILLRACE_LABS=2          labs side by side, among which the rounds of a data plane are shared out
    MILLRACE_REPORT=a.jsonl  where a campaign writes each round, besides printing it
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

DATAPLANES = ("linux", "vpp")
_LARGEST_SEED = 10**9


@dataclass(frozen=True)
class Options:
    """The campaign asked for."""

    seed: int
    rounds: tuple[int, ...]
    dataplanes: tuple[str, ...]
    database: str
    faults: tuple[str, ...]
    labs: int = 1
    report: Path | None = None

    def chosen(self, names: Iterable[str]) -> list[str]:
        """Those of ``names`` that were asked for. Raises ValueError for a name that is none of them."""
        known = list(names)
        only = [name for name in self.faults if not name.startswith("-")]
        never = [name.removeprefix("-") for name in self.faults if name.startswith("-")]
        if unknown := sorted({*only, *never} - set(known)):
            raise ValueError(f"MILLRACE_FAULTS: there is no fault {', '.join(unknown)}; there are {known}")
        return [name for name in known if (not only or name in only) and name not in never]

    def replay(self, test: str, dataplane: str, number: int) -> str:
        """The command that runs one round again."""
        faults = f"MILLRACE_FAULTS={','.join(self.faults)} " if self.faults else ""
        return (
            f"MILLRACE_SEED={self.seed} MILLRACE_ROUND={number} MILLRACE_DATAPLANE={dataplane} "
            f'MILLRACE_DATABASE={self.database} {faults}make soak PYTEST="-k {test}"'
        )


def options(default_rounds: int = 20) -> Options:
    """What the environment asks for."""
    seed = os.environ.get("MILLRACE_SEED", "")
    one, dataplane = os.environ.get("MILLRACE_ROUND", ""), os.environ.get("MILLRACE_DATAPLANE", "")
    count = int(os.environ.get("MILLRACE_ROUNDS", "") or default_rounds)
    return Options(
        seed=int(seed) if seed else random.SystemRandom().randrange(_LARGEST_SEED),
        rounds=tuple(map(int, one.split(","))) if one else tuple(range(1, count + 1)),
        dataplanes=(dataplane,) if dataplane else DATAPLANES,
        database=os.environ.get("MILLRACE_DATABASE", "") or "postgres",
        faults=tuple(name for name in os.environ.get("MILLRACE_FAULTS", "").split(",") if name),
        labs=int(os.environ.get("MILLRACE_LABS", "") or 1),
        report=Path(report) if (report := os.environ.get("MILLRACE_REPORT", "")) else None,
    )
