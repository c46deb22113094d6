"""``bench``: how fast this router forwards."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

from pydantic import ValidationError

from appliance.cli import text
from appliance.cli.errors import CommandError
from appliance.cli.output import Output
from appliance.client import AgentClient
from appliance.errors import MillraceError
from appliance.state.benches import (
    BENCHES,
    NOT_HERE,
    SCENARIO_NAMES,
    BenchResult,
    BenchState,
    BenchWanted,
    mpps,
)

USAGE = f"bench {'|'.join(SCENARIO_NAMES)} [SIZE] [--anyway] | bench cancel [ID]"
_POLL_S = 0.3
_ANYWAY = ("anyway", "--anyway")


def bench(agent: AgentClient, author: str, words: list[str]) -> Output:
    """Start a bench and wait for its result, or cancel the running one."""
    match words:
        case ["cancel", *which] if len(which) < 2:
            return _shown(agent.cancel_bench(which[0] if which else _running(agent)))
        case [scenario, *_] if scenario in NOT_HERE:
            raise CommandError(f"{scenario} is not measured on a router: {NOT_HERE[scenario]}")
        case [scenario, *rest] if scenario in SCENARIO_NAMES:
            wanted = _wanted(scenario, rest)
            return _measured(agent, agent.start_bench(wanted, author=author))
    raise CommandError(USAGE)


def _wanted(scenario: str, rest: list[str]) -> BenchWanted:
    sizes = [word for word in rest if word not in _ANYWAY]
    if len(rest) > len(set(rest)) or len(rest) - len(sizes) > 1 or len(sizes) > 1:
        raise CommandError(USAGE)
    size = sizes[0].replace(",", "") if sizes else None
    if size is not None and not (size.isascii() and size.isdigit()):
        raise CommandError(USAGE)
    said = {"scenario": scenario, "size": size, "anyway": len(rest) > len(sizes)}
    try:
        return BenchWanted.model_validate(said)
    except ValidationError as error:
        raise CommandError("; ".join(text.clean(one["msg"]) for one in error.errors())) from None


def show_benches(agent: AgentClient, words: list[str]) -> Output:
    """All benches of this router, or one in detail: ``benches [ID]``."""
    answer = agent.state(BENCHES)
    if len(words) > 1:
        raise CommandError(f"{words[1]!r} is not expected here")
    if words:
        found = next((one for one in answer.benches if one.id == words[0]), None)
        if found is None:
            raise CommandError(f"there is no bench {words[0]}")
        return _shown(found)
    assert BENCHES.table is not None
    shown = text.table(BENCHES.table.cells(answer), BENCHES.table.columns)
    return Output(answer.model_dump(mode="json")["benches"], shown)


def _running(agent: AgentClient) -> str:
    found = next((one.id for one in agent.state(BENCHES).benches if one.state == "running"), None)
    if found is None:
        raise CommandError("no bench is running")
    return found


class BenchFailed(MillraceError):
    """The bench ended without a result; the message says why."""


def _measured(agent: AgentClient, begun: BenchState) -> Output:
    """Wait until the bench ends. Control-C cancels it."""
    state = begun
    try:
        while state.state == "running":
            _tell(f"{state.doing}, {state.trials} trials, {state.ran_s:.0f} s")
            time.sleep(_POLL_S)
            state = next((one for one in agent.state(BENCHES).benches if one.id == begun.id), state)
    except KeyboardInterrupt:
        state = agent.cancel_bench(begun.id)
    finally:
        _tell("")
    if state.state != "done":
        raise BenchFailed(f"bench {state.id}: {state.state}: {state.ended}")
    return _shown(state)


def _tell(line: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text.clean(line)[:100]}")
        sys.stderr.flush()


def _shown(state: BenchState) -> Output:
    said = [f"bench {state.id}: {state.state}" + (f": {text.clean(state.ended)}" if state.ended else "")]
    if state.result is not None:
        said += _lines(state.result)
    return Output(state.model_dump(mode="json"), "\n".join(said))


def _lines(result: BenchResult) -> Iterator[str]:
    yield f"{result.title}; frames of {result.frames}"
    yield text.table(
        [
            {
                "": "offered at overload",
                "mpps": mpps(result.offered_pps),
                "how": f"median of {result.rounds} trials of {result.trial_s:g} s, both directions together",
            },
            {
                "": "received at overload (MRR)",
                "mpps": mpps(result.mrr_pps),
                "how": f"median; {mpps(result.least_pps)} to {mpps(result.most_pps)}",
            },
            {
                "": f"with at most {result.loss:.1%} lost (PDR)",
                "mpps": mpps(result.pdr_pps) or "-",
                "how": "found by binary search" if result.pdr_pps else "none found in time",
            },
        ],
        ("", "mpps", "how"),
    )
    if result.clocks:
        yield text.table([one.model_dump() for one in result.clocks], ("node", "clocks"))
        yield "clocks a packet over all trials; without receiving, whose clocks include empty polls"
    where = "a CPU that VPP shares" if result.generator_cpu is None else f"CPU {result.generator_cpu}"
    yield (
        f"{text.clean(result.cpu) or 'unknown processor'}, {result.cpus} CPUs; VPP forwards on CPU "
        f"{', '.join(map(str, result.forwarding_cpus))}, the generator ran on {where}"
    )
    yield ", ".join(f"{name} {text.clean(version)}" for name, version in result.versions.items())
    if result.foreign:
        yield "other traffic was passing when the bench began, and may have used some of the capacity"
    yield "Not shown by these figures:"
    for one in result.unknown:
        yield f"  {one}"
