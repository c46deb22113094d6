"""The written startup.conf.

``GOLDEN=write pytest tests/golden/vpp_config`` rewrites the files; read the difference before committing it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vpp_config import DpdkDevice, StartupConf
from vpp_config.startup_conf import MIB

_HERE = Path(__file__).resolve().parent

_CASES = {
    "default": StartupConf(),
    "workers_and_dpdk": StartupConf(
        main_core=0,
        worker_cores=(1, 2, 3),
        main_heap_bytes=2048 * MIB,
        statseg_bytes=512 * MIB,
        buffers_per_numa=65536,
        buffer_page_size="default-hugepage",
        dpdk_devices=(
            DpdkDevice("0000:03:00.0", rx_queues=3),
            DpdkDevice("0000:0b:00.0", rx_descriptors=1024, tx_descriptors=1024),
        ),
    ),
    "bare": StartupConf(
        log_file=None,
        group=None,
        poll_sleep_us=500,
        main_heap_bytes=None,
        enable_plugins=("af_packet", "acl"),
        other_plugins="enable",
    ),
}


@pytest.mark.parametrize("name", _CASES)
def test_startup_conf(name: str) -> None:
    file = _HERE / f"{name}.conf"
    text = _CASES[name].render()
    if os.environ.get("GOLDEN") == "write":
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"worker_cores": (1,)}, "main_core"),
        ({"main_core": 1, "worker_cores": (1,)}, "both"),
        ({"main_core": 0, "worker_cores": (1, 1)}, "twice"),
    ],
)
def test_cores_are_not_shared(fields: dict[str, int | tuple[int, ...]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        StartupConf(**fields)  # type: ignore[arg-type]  # by name
