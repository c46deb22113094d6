"""The machine on which the numbers were measured."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def machine() -> dict[str, str | int | float]:
    """Processor and its clock, CPUs, memory, kernel, whether it is virtual, and its other load."""
    about = Path("/proc/cpuinfo").read_text()
    fields = dict(line.split(":", 1) for line in about.splitlines() if ":" in line)
    cpu = {name.strip(): value.strip() for name, value in fields.items()}
    memory_kb = int(Path("/proc/meminfo").read_text().split()[1])
    return {
        "processor": cpu.get("model name", platform.processor()),
        "clock_hz": round(float(cpu.get("cpu MHz", "0")) * 1e6),
        "cpus": os.cpu_count() or 0,
        "cache": cpu.get("cache size", ""),
        "memory_gb": round(memory_kb / 1e6),
        "kernel": platform.release().split("-")[0],
        "virtual": "hypervisor" in cpu.get("flags", ""),
        "load_1_minute": os.getloadavg()[0],
    }
