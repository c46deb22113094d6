"""Benches: how fast this router forwards, as it was measured with ``millrace bench``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from appliance.bench.load import loads
from appliance.state.part import Answer, Everything, Part, Question, Table

MOST_KEPT = 20
"""Benches that are kept; the oldest goes when another ends."""
LONGEST_S = 20.0
"""A bench that takes longer is ended: a commit waits for it."""

BENCH_ID = r"^[0-9a-f]{12}$"
BenchId = Annotated[str, StringConstraints(pattern=BENCH_ID)]
SCENARIO_NAMES = ("fwd", "imix", *loads())
if TYPE_CHECKING:
    ScenarioName = str
else:
    ScenarioName = Literal[SCENARIO_NAMES]
NOT_HERE = {
    "l2": "bridging is not a feature of this router",
    "chain": "routers in series need a CPU each and a VPP each, and this router has one VPP",
    "churn": "commits wait while a bench runs, so changes under load cannot be measured by one; `make bench` "
    "does it in a lab",
}
"""Scenarios that a router does not measure, and why."""


class BenchWanted(Question):
    """What is to be measured."""

    scenario: ScenarioName = Field(
        description="`fwd`: IPv4, 64-byte frames, a flow each way. `imix`: 64, 570 and 1,518 as 7:4:1. "
        + " ".join(f"`{name}`: {load.packets}." for name, load in loads().items())
    )
    size: int | None = Field(
        None,
        ge=1,
        description="; ".join(
            f"{load.units.capitalize()} of `{name}`: usually {load.usual:,}, at most {load.most:,}"
            for name, load in loads().items()
        )
        + ".",
    )
    anyway: bool = Field(
        False,
        description="Also while traffic passes, which it disturbs, and where no CPU is free.",
    )

    @model_validator(mode="after")
    def _has_that_size(self) -> Self:
        load = loads().get(self.scenario)
        if self.size is None:
            return self
        if load is None:
            raise ValueError(f"size: {self.scenario} has none; leave it out")
        if self.size > load.most:
            raise ValueError(f"size: {self.scenario} takes at most {load.most:,} {load.units}")
        return self

    @property
    def sized(self) -> int:
        """Its size, or the usual one; 0 for a scenario that has none."""
        load = loads().get(self.scenario)
        return self.size or (0 if load is None else load.usual)


class NodeCost(Answer):
    """A node of VPP's graph that each packet passes."""

    node: str
    clocks: float = Field(description="Clocks a packet, over all trials.")


class BenchResult(Answer):
    """Rates are packets a second of both directions together."""

    title: str
    frames: str = Field(description="Sizes of the frames, with check sequence.")
    offered_pps: float = Field(description="At overload; the median of the rounds.")
    mrr_pps: float = Field(description="Maximum receive rate: received at overload, median of the rounds.")
    least_pps: float = Field(description="Of the rounds.")
    most_pps: float = Field(description="Of the rounds.")
    rounds: int
    pdr_pps: float | None = Field(
        description="Partial drop rate: the highest with at most `loss` lost; null: none found in time."
    )
    loss: float = Field(description="The share that may be lost at the PDR.")
    trial_s: float = Field(description="Seconds of each trial.")
    clocks: tuple[NodeCost, ...] = Field(description="By node; empty where VPP did not tell in time.")
    cpu: str = Field(description="The processor's model.")
    cpus: int = Field(description="That the machine has.")
    forwarding_cpus: tuple[int, ...] = Field(description="CPUs of the VPP threads that forward.")
    generator_cpu: int | None = Field(description="CPU of the generator alone; null: it shared theirs.")
    versions: dict[str, str]
    stalled: float = Field(
        description="Share of the time at overload in which the generator itself did not run, for others did."
    )
    foreign: bool = Field(description="Other traffic passed when it began.")
    unknown: tuple[str, ...] = Field(description="What these figures do not tell.")


class BenchState(Answer):
    """A bench that runs, or one that ended."""

    id: str
    wanted: BenchWanted
    author: str
    started_at: str = Field(description="By the router's clock, ISO 8601.")
    state: Literal["running", "done", "cancelled", "failed"]
    doing: str = Field("", description="What it does now.")
    ended: str = Field("", description="Why it ended without a result.")
    ran_s: float = Field(description="Seconds it has run, or ran.")
    trials: int = Field(description="So far.")
    result: BenchResult | None = None

    @property
    def scenario(self) -> str:
        """Its scenario, with its size where it has one."""
        return f"{self.wanted.scenario} {self.wanted.sized or ''}".rstrip()


class Benches(Answer):
    """Every bench, the newest first."""

    benches: tuple[BenchState, ...]


class Bench(Question):
    """Which bench."""

    bench: BenchId = Field(description="Its id.")


class BenchRow(Answer):
    """A bench in a table."""

    id: str
    state: str
    scenario: str
    mrr_mpps: str
    pdr_mpps: str
    author: str
    started_at: str
    ended: str


def mpps(rate_pps: float | None) -> str:
    """In millions, for people."""
    return "" if rate_pps is None else f"{rate_pps / 1e6:.2f}"


def _row(one: BenchState) -> BenchRow:
    result = one.result
    return BenchRow(
        id=one.id,
        state=one.state,
        scenario=one.scenario,
        mrr_mpps="" if result is None else mpps(result.mrr_pps),
        pdr_mpps="" if result is None else mpps(result.pdr_pps),
        author=one.author,
        started_at=one.started_at,
        ended=one.ended or one.doing,
    )


BENCHES = Part(
    "benches",
    "How fast this router forwards, as benches measured it.",
    Everything,
    Benches,
    lambda router, _: Benches(benches=router.benches.all()),
    table=Table(
        ("id", "state", "scenario", "mrr_mpps", "pdr_mpps", "author", "started_at", "ended"),
        lambda answer: map(_row, answer.benches),
    ),
)
