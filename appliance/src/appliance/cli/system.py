"""``show system``."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.cli import text
from appliance.cli.errors import CommandError
from appliance.cli.output import Output
from appliance.client import AgentClient
from appliance.state.system import SYSTEM, SystemState


def show_system(agent: AgentClient, words: list[str]) -> Output:
    """Processors, memory, disks, uptime and versions of the router."""
    if words:
        raise CommandError(f"{words[0]!r} is not expected here")
    answer = agent.state(SYSTEM)
    return Output(answer.model_dump(mode="json"), "\n".join(_lines(answer)))


def _lines(answer: SystemState) -> Iterator[str]:
    processor, memory = answer.processor, answer.memory
    load = (processor.load_1m, processor.load_5m, processor.load_15m)
    huge_pages_used = memory.huge_pages_total - memory.huge_pages_free
    facts = {
        "host name": answer.hostname,
        "time": answer.time,
        "uptime": f"{_time(answer.uptime_s)}, agent {_time(answer.agent_uptime_s)}",
        "versions": ", ".join(f"{name} {version}" for name, version in answer.versions.items()),
        "load": " ".join(f"{mean:.2f}" for mean in load) + " (1, 5 and 15 minutes)",
        "processors": f"{_percent(processor.busy)} busy in the last {processor.over_s:.1f} s",
        "memory": f"{_size(memory.used_bytes)} of {_size(memory.total_bytes)} used, "
        f"{_size(memory.available_bytes)} available",
        "swap": f"{_size(memory.swap_used_bytes)} of {_size(memory.swap_total_bytes)} used",
        "huge pages": f"{huge_pages_used} of {memory.huge_pages_total} used, "
        f"{_size(memory.huge_page_bytes)} each",
    }
    width = max(map(len, facts))
    yield from (f"{name.ljust(width)}  {text.clean(fact)}" for name, fact in facts.items())
    shares = ("busy", "user", "system", "interrupts", "io_wait", "steal")
    cpus = [
        {"cpu": cpu.cpu, **{name: _percent(getattr(cpu, name)) for name in shares}} for cpu in processor.cpus
    ]
    yield "\n" + text.table(cpus, ("cpu", *shares))
    disks = [
        {
            "disk": disk.mount,
            "holds": disk.holds,
            "size": _size(disk.total_bytes),
            "used": _percent(disk.share),
            "available": _size(disk.available_bytes),
            "inodes_free": disk.inodes_free if disk.inodes_total else None,
        }
        for disk in answer.file_systems
    ]
    yield "\n" + text.table(disks, ("disk", "holds", "size", "used", "available", "inodes_free"))
    kept = [
        {"kept": kept.kind, "used": _size(kept.used_bytes), "at_most": _size(kept.quota_bytes)}
        for kept in answer.kept
    ]
    yield "\n" + text.table(kept, ("kept", "used", "at_most"))


def _percent(share: float) -> str:
    return f"{share:.0%}"


def _time(seconds: float) -> str:
    days, rest = divmod(int(seconds), 86400)
    hours, rest = divmod(rest, 3600)
    return (f"{days} d " if days else "") + f"{hours:02}:{rest // 60:02}:{rest % 60:02}"


def _size(number_bytes: int) -> str:
    size = float(number_bytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"
