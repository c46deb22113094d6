"""VPP's text of a trace, as packets. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from appliance.state.traces import TracedPacket, TraceStep

_THREAD = re.compile(r"^-+ Start of thread \d+ (\S+) -+$")
_PACKET = re.compile(r"^Packet (\d+)$")
_STEP = re.compile(r"^(\d\d+):(\d\d):(\d\d):(\d{6}): (\S+)$")
_PARTIES = re.compile(r"^([A-Z0-9_]+): ([0-9a-fA-F:.]+) -> ([0-9a-fA-F:.]+)$")
_MAC = re.compile(r"^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$")
_INDEX = re.compile(r"\bhw_if_index (\d+)\b")
_DROPS = re.compile(r"(?:^|-)drop$")


def packets_of(text: str) -> Iterator[TracedPacket]:
    """The packets in what ``show trace`` says, by thread and in their order."""
    thread, number = "", 0
    lines: list[str] = []
    for line in text.splitlines():
        if (found := _THREAD.match(line)) or (found_packet := _PACKET.match(line)):
            if number:
                yield _packet(number, thread, lines)
            lines, number = [], 0
            if found:
                thread = found[1]
            else:
                assert found_packet is not None
                number = int(found_packet[1])
        else:
            lines.append(line.rstrip())
    if number:
        yield _packet(number, thread, lines)


def arrived_on(packet: TracedPacket, indexes: Iterable[int], names: Iterable[str]) -> bool:
    """Whether it arrived on a device with one of these indexes or names of VPP's.

    Drivers say it in words of their own: one that says nothing of the kind is believed.
    """
    first = packet.steps[0].lines if packet.steps else ()
    words = set(" ".join(first).split())
    found = _INDEX.search(" ".join(first))
    if found:
        return int(found[1]) in set(indexes)
    return bool(words & set(names)) or not first


def _packet(number: int, thread: str, lines: list[str]) -> TracedPacket:
    steps: list[TraceStep] = []
    said: list[str] = []
    for line in lines:
        if found := _STEP.match(line):
            if steps:
                steps[-1] = steps[-1].model_copy(update={"lines": tuple(said)})
            hours, minutes, seconds, microseconds, node = found.groups()
            at_s = int(hours) * 3600 + int(minutes) * 60 + int(seconds) + int(microseconds) / 1e6
            steps.append(TraceStep(node=node, at_s=at_s, lines=()))
            said = []
        elif line.strip():
            said.append(line)
    if steps:
        steps[-1] = steps[-1].model_copy(update={"lines": tuple(said)})
    end = steps[-1].node if steps else ""
    return TracedPacket(
        number=number,
        thread=thread,
        summary=_summary(steps),
        end=end,
        dropped=bool(_DROPS.search(end)),
        steps=tuple(steps),
    )


def _summary(steps: Iterable[TraceStep]) -> str:
    """The first parties that have addresses; else those of the frame."""
    frame = ""
    for step in steps:
        for line in step.lines:
            if found := _PARTIES.match(line.strip()):
                if not _MAC.match(found[2]):
                    return f"{found[1]} {found[2]} → {found[3]}"
                frame = frame or f"{found[1]} {found[2]} → {found[3]}"
    return frame
