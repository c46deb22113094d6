"""VPP's startup file on the appliance. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from appliance.dataplane.machine import Machine
from appliance.dataplane.nic_inventory import NicRecord
from appliance.dataplane.vpp import startup
from appliance.dataplane.vpp.startup import StartupSettings
from appliance.platform.nic_table import family_of
from vpp_config.startup_conf import MIB, DpdkDevice, StartupConf

_POLL_SLEEP_US = 100
"""On a machine with one CPU VPP has to let other programs run too."""
_EMULATED_POLL_SLEEP_US = 1000
"""On emulated CPUs polling is wasted, and ten thousand sleeps a second take half a core."""


def dpdk_devices(records: Iterable[NicRecord], workers: int) -> tuple[DpdkDevice, ...]:
    """The NICs DPDK drives, each with a receive queue for every worker as far as the NIC allows."""
    queues = max(workers, 1)
    return tuple(
        DpdkDevice(
            record.pci,
            rx_queues=_rx_queues(record, queues),
            # VPP takes as many as the NIC has.
            tx_queues=queues + 1 if workers else None,
        )
        for record in records
        if record.driver == "dpdk" and record.pci is not None
    )


def _rx_queues(record: NicRecord, wanted: int) -> int:
    family = family_of(record.pci_id or "")
    return wanted if family is None else family.rx_queues(wanted)


def render(
    settings: StartupSettings,
    machine: Machine,
    records: Sequence[NicRecord],
    netns: str,
    *,
    emulated: bool = False,
) -> str:
    """The file's text; the document's part is written as by the agent, which finds no difference."""
    poll_sleep_us = _EMULATED_POLL_SLEEP_US if emulated else _POLL_SLEEP_US if machine.cpus == 1 else None
    conf = StartupConf(
        # That of its unit: naming it here would need a capability that VPP does not have.
        group=None,
        # Standard error, and so the journal, which has limits.
        log_file=None,
        poll_sleep_us=poll_sleep_us,
        main_heap_bytes=settings.main_heap_mb * MIB,
        statseg_bytes=settings.stats_segment_mb * MIB,
        buffers_per_numa=settings.buffers_per_numa,
        lcp_default_netns=netns,
        dpdk_devices=dpdk_devices(records, settings.workers),
    )
    return startup.rewrite(conf.render(), settings)
