"""``trace``: the path of single packets through VPP's graph."""

from __future__ import annotations

from appliance.cli import text
from appliance.cli.errors import CommandError
from appliance.cli.output import Output, number
from appliance.cli.questions import fields, told_by_field
from appliance.client import AgentClient
from appliance.state.traces import TRACES, TracedPacket, TraceState, TraceWanted

USAGE = (
    "trace start INTERFACE [packets N] [seconds N] [source PREFIX] [destination PREFIX]"
    " | trace show ID [PACKET] | trace stop ID | trace remove ID"
)
_VALUED = {word: word for word in ("packets", "seconds", "source", "destination")}


def trace(agent: AgentClient, author: str, words: list[str]) -> Output:
    """Start, stop, show or remove a packet trace."""
    match words:
        case ["start", interface, *rest]:
            return _state(agent.start_trace(_wanted(interface, rest), author=author))
        case ["stop", name]:
            return _state(agent.stop_trace(name))
        case ["show", name, *which] if len(which) < 2:
            return _show(agent, name, number(which[0], "packet") if which else None)
        case ["remove", name]:
            agent.remove_trace(name)
            return Output({"removed": name}, f"packet trace {name} is removed")
    raise CommandError(USAGE)


def show_traces(agent: AgentClient, words: list[str]) -> Output:
    """Packet traces that are running or kept."""
    if words:
        raise CommandError(f"{words[0]!r} is not expected here")
    answer = agent.state(TRACES)
    rows = [{**one.model_dump(mode="json"), "interface": one.interface} for one in answer.traces]
    columns = ("id", "state", "interface", "packets", "ran_s", "author", "ended")
    return Output(answer.model_dump(mode="json")["traces"], text.table(rows, columns))


def _wanted(interface: str, words: list[str]) -> TraceWanted:
    given = fields(words, {}, _VALUED, usage=USAGE)
    with told_by_field():
        return TraceWanted.model_validate({"interface": interface, **given})


def _state(state: TraceState) -> Output:
    what = f"packet trace {state.id} on {state.interface}: {state.state}"
    if state.state == "running":
        said = f"{what}; `trace show {state.id}` shows its packets, `trace stop {state.id}` stops it"
    else:
        said = f"{what}, {state.packets} packets, {state.ended}; `trace show {state.id}` shows them"
    return Output(state.model_dump(mode="json"), text.clean(said))


def _show(agent: AgentClient, name: str, which: int | None) -> Output:
    result = agent.trace(name)
    packets = [one for one in result.packets if which in (None, one.number)]
    if which is not None and not packets:
        raise CommandError(f"packet trace {name} has no packet {which}")
    parts = [_state(result.trace).shown] if which is None else []
    parts += [_packet(one) for one in packets]
    data = result.model_dump(mode="json") if which is None else packets[0].model_dump(mode="json")
    return Output(data, "\n\n".join(parts))


def _packet(packet: TracedPacket) -> str:
    lines = [f"packet {packet.number}: {packet.summary or 'no addresses'}, {packet.thread}"]
    for step in packet.steps:
        lines.append(f"{step.at_s:.6f} {step.node}")
        lines += step.lines
    return "\n".join(map(text.clean, lines))
