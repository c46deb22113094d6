"""How busy and full the machine is: arithmetic on the kernel's text, and the same on this machine."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from appliance.agent.machine_use import (
    MachineUse,
    Processors,
    Versions,
    file_systems,
    parse_meminfo,
    parse_stat,
)

STAT = """cpu  0 0 0 0 0 0 0 0 0 0
cpu0 {user} 100 200 {idle} 50 5 {softirq} 20 0 0
cpu1 0 0 0 1000 0 0 0 0 0 0
intr 12345
ctxt 1
"""
MEMINFO = """MemTotal:        2000000 kB
MemFree:          100000 kB
MemAvailable:     500000 kB
SwapTotal:          1000 kB
SwapFree:            400 kB
HugePages_Total:      64
HugePages_Free:       10
Hugepagesize:       2048 kB
DirectMap4k:      169976 kB
"""


def _stat(user: int, idle: int, softirq: int) -> str:
    return STAT.format(user=user, idle=idle, softirq=softirq)


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    (tmp_path / "stat").write_text(_stat(1000, 5000, 10))
    (tmp_path / "loadavg").write_text("0.50 1.25 2.00 1/200 3333\n")
    (tmp_path / "meminfo").write_text(MEMINFO)
    (tmp_path / "uptime").write_text("93784.21 1000.00\n")
    return tmp_path


def test_ticks_become_seconds_by_mode() -> None:
    hertz = os.sysconf("SC_CLK_TCK")
    found = parse_stat(_stat(1000, 5000, 15))
    assert list(found) == [0, 1]
    assert found[0] == pytest.approx(
        {
            "user": 1100 / hertz,
            "system": 200 / hertz,
            "interrupts": 20 / hertz,
            "io_wait": 50 / hertz,
            "steal": 20 / hertz,
            "idle": 5000 / hertz,
        }
    )


def test_shares_are_of_the_time_between_two_readings(proc: Path) -> None:
    clock = iter((100.0, 100.25, 104.0)).__next__
    pauses: list[float] = []
    processors = Processors(proc, clock, pauses.append)
    first = processors.state()
    assert (pauses, first.busy, first.over_s) == ([0.25], 0.0, 0.25)
    (proc / "stat").write_text(_stat(1060, 5020, 30))
    now = processors.state()
    assert (now.over_s, now.load_1m, now.load_5m, now.load_15m) == (3.75, 0.5, 1.25, 2.0)
    busy, idle = now.cpus
    assert (busy.user, busy.interrupts, busy.busy) == pytest.approx((0.6, 0.2, 0.8))
    assert (idle.cpu, idle.busy) == (1, 0.0)
    assert now.busy == pytest.approx(0.4)


def test_after_a_long_silence_shares_are_of_now(proc: Path) -> None:
    clock = iter((0.0, 0.25, 1000.0, 1000.25)).__next__
    processors = Processors(proc, clock, lambda _: None)
    assert processors.state().over_s == 0.25
    (proc / "stat").write_text(_stat(99_000, 5020, 30))
    now = processors.state()
    assert (now.over_s, now.busy) == (0.25, 0.0)


def test_whoever_asks_at_once_again_gets_the_same_answer_without_waiting(proc: Path) -> None:
    clock = iter((0.0, 0.25, 0.26, 0.3, 0.6)).__next__
    pauses: list[float] = []
    processors = Processors(proc, clock, pauses.append)
    first = processors.state()
    assert (processors.state(), processors.state()) == (first, first)
    assert pauses == [0.25]
    assert processors.state().over_s == pytest.approx(0.35)


def test_a_counter_that_goes_back_gives_no_negative_share(proc: Path) -> None:
    processors = Processors(proc)
    processors.state()
    (proc / "stat").write_text(_stat(1010, 4990, 10))
    time.sleep(0.3)
    cpu = processors.state().cpus[0]
    assert (cpu.user, cpu.busy) == (1.0, 1.0)


def test_memory() -> None:
    memory = parse_meminfo(MEMINFO)
    assert (memory.total_bytes, memory.available_bytes) == (2_048_000_000, 512_000_000)
    assert (memory.used_bytes, memory.share) == (1_536_000_000, 0.75)
    assert (memory.swap_used_bytes, memory.huge_pages_free, memory.huge_page_bytes) == (
        614_400,
        10,
        2_097_152,
    )


def test_a_file_system_is_listed_once_with_all_it_holds(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    found = file_systems(
        {"a": tmp_path / "a", "b": tmp_path, "gone": tmp_path / "gone", "proc": Path("/proc")}
    )
    assert [one.holds for one in found] == [("a", "b"), ("proc",)]
    assert Path(found[0].mount).is_mount()
    assert found[0].total_bytes == os.statvfs(tmp_path).f_blocks * os.statvfs(tmp_path).f_frsize
    assert 0 < found[0].share < 1


def test_this_machine_is_seen_to_be_busy() -> None:
    use = MachineUse({"system": Path("/")}, lambda: {"reserve": {"used_bytes": 1, "quota_bytes": 2}}, {})
    before = use.state()
    stop = threading.Event()

    def spin() -> None:
        while not stop.is_set():
            pass

    thread = threading.Thread(target=spin)
    thread.start()
    time.sleep(1.0)
    stop.set()
    thread.join()
    after = use.state()
    spent = sum(
        later.seconds[mode] - cpu.seconds[mode]
        for cpu, later in zip(before.processor.cpus, after.processor.cpus, strict=True)
        for mode in ("user", "system", "steal")
    )
    assert spent > 0.3
    assert after.processor.busy > 0.3 / len(after.processor.cpus)
    assert len(after.processor.cpus) == os.cpu_count()
    assert after.uptime_s > after.agent_uptime_s > 1
    assert after.kept[0].kind == "reserve"
    assert after.versions["kernel"] == os.uname().release


def test_a_program_that_hangs_holds_nobody() -> None:
    go_on = threading.Event()
    asked: list[str] = []

    def hangs() -> str:
        asked.append("frr")
        go_on.wait(120)
        return "10.3"

    versions = Versions({"vpp": lambda: "26.06", "frr": hangs, "down": lambda: ""})
    # If one waited for the program, it would know its version.
    assert versions.known() == {"vpp": "26.06"}
    assert versions.known() == {"vpp": "26.06"}
    assert asked == ["frr"]
    go_on.set()
    end = time.monotonic() + 10
    while versions.known().get("frr") != "10.3" and time.monotonic() < end:
        time.sleep(0.01)
    assert versions.known() == {"vpp": "26.06", "frr": "10.3"}
    versions.close()
