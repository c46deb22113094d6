"""The foretold result of a commit, as shared by agent, API, pages and command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Grade = Literal["certain", "possible"]
Kind = Literal["management", "session", "traffic", "routes"]
GRADES: tuple[Grade, ...] = ("certain", "possible")
KINDS: tuple[Kind, ...] = ("management", "session", "traffic", "routes")
"""Both in the order in which findings are listed."""
MOST_FINDINGS = 200


class Finding(BaseModel):
    """One thing that the result does. Texts hold no secret; names in them may come from other routers."""

    model_config = ConfigDict(frozen=True)

    grade: Grade = Field(description="possible: it happens if `depends_on` is so.")
    kind: Kind = Field(
        description="What is lost: the way to manage the router, a session, packets or routes."
    )
    path: str = Field(description="JSON pointer of the object it is about.")
    text: str = Field(description="A plain sentence.")
    depends_on: str = Field("", description="Of a possible one: what decides whether it happens.")
    evidence: str = Field("", description="What the router shows now that it was concluded from.")


class Cost(BaseModel):
    """What a packet costs at the most expensive place of the router, before and after."""

    model_config = ConfigDict(frozen=True)

    clocks_before: int = Field(description="Clocks of the forwarding CPU for a packet, now.")
    clocks_after: int = Field(description="The same with the change.")
    capacity: float = Field(description="Packets a second the router takes afterwards, as a share of now's.")
    features: tuple[str, ...] = Field((), description="What is new and costs something.")
    source: str = Field(description="Where the figures come from.")

    def sentence(self) -> str:
        """For the summary."""
        new = f" for {', '.join(self.features)}" if self.features else ""
        return (
            f"A packet costs about {self.clocks_after} clocks instead of {self.clocks_before}{new}: a worker"
            f" that is full takes {self.capacity:.0%} of the packets it takes now ({self.source})."
        )


class Result(BaseModel):
    """What was found, and what was looked at: nothing is claimed of anything else."""

    model_config = ConfigDict(frozen=True)

    findings: tuple[Finding, ...] = Field((), description="Certain ones first.")
    left_off: int = Field(0, description="Findings beyond those that are listed.")
    looked_at: tuple[str, ...] = Field((), description="What was looked at to its end.")
    not_looked_at: tuple[str, ...] = Field(
        (), description="What was not, or not to its end, with the reason."
    )

    cost: Cost | None = Field(None, description="Where the change makes packets dearer or cheaper.")

    @property
    def certain(self) -> tuple[Finding, ...]:
        """The findings that happen."""
        return tuple(finding for finding in self.findings if finding.grade == "certain")


def in_order(findings: Sequence[Finding]) -> list[Finding]:
    """Certain ones first, then by kind, else in the order found. Each once."""
    return sorted(dict.fromkeys(findings), key=lambda one: (GRADES.index(one.grade), KINDS.index(one.kind)))


_STEPS_ALONE = (
    "The steps themselves reset no session and lose no packet: what is found comes of their result."
)


def summary(result: Result, impacts: Sequence[str]) -> list[str]:
    """Sentences on what the steps disturb and what was found, never claiming more than was analysed."""
    sentences = [
        f"While it is applied it {'; '.join(impacts)}."
        if impacts
        else _STEPS_ALONE
        if result.findings
        else "No step resets a session or loses a packet."
    ]
    looked = f"Looked at: {', '.join(result.looked_at)}" if result.looked_at else "Nothing was looked at"
    if result.findings:
        counts = {grade: sum(one.grade == grade for one in result.findings) for grade in GRADES}
        told = " and ".join(f"{count} {grade}" for grade, count in counts.items() if count)
        more = f", and {result.left_off} more that are not listed" if result.left_off else ""
        sentences.append(f"Afterwards: {told}{more}.")
        sentences.append(f"{looked}.")
    elif result.looked_at:
        sentences.append(f"{looked}; found nothing that closes a session or drops traffic.")
    else:
        sentences.append(f"{looked}.")
    if result.cost is not None:
        sentences.append(result.cost.sentence())
    if result.not_looked_at:
        sentences.append(f"Not looked at: {'; '.join(result.not_looked_at)}.")
    return sentences
