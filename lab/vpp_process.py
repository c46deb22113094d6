"""VPP in the lab: its startup configuration and its process, with the stand-in for vhost-net where needed."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from appliance.dataplane.machine import Machine
from lab import confined, feeder
from lab.dataplane_choice import VPP_BINARY
from lab.layout import Layout
from lab.namespaces import Namespaces, enter
from lab.precedence import LAB_NICE
from lab.supervision import Program
from tests.lab_support import vhost_net_stand_in

_PRIORITY = 10
# Before the lab's other programs, which share its session; see lab.precedence.
_NICE = LAB_NICE
_RULE = "*" * 100
_SHARED_MEMORY = Path("/dev/shm")
# linux-cp's mirrors poll: without a pause VPP uses a whole core of a machine that also runs everything else.
_POLL_SLEEP_US = 100


def machine() -> Machine:
    """This machine as VPP's settings follow from it; the lab shares it."""
    # A lab with the kernel as data plane needs nothing of this.
    from appliance.platform import hugepages

    return replace(hugepages.machine(), shared=True)


@dataclass(frozen=True)
class Vpp:
    """VPP of one lab, in the NICs' namespace."""

    layout: Layout
    names: Namespaces

    def programs(self, say: Callable[[str], None]) -> list[Program]:
        """VPP as a supervised program, with the feeder, which carries the routes; writes VPP's startup
        configuration unless it exists.

        An existing one may hold settings of the router's document, which the agent writes.
        """
        startup = self.layout.vpp("startup.conf")
        if not startup.exists():
            startup.write_text(self._startup_text())
        environment = {}
        if vhost_net_stand_in.needed():
            say(f"{_RULE}\n{vhost_net_stand_in.NOTICE}\n{_RULE}")
            environment["LD_PRELOAD"] = str(vhost_net_stand_in.build(self.layout.bin))
        argv = enter(self.names.nic, [str(VPP_BINARY), "-c", str(startup)])
        vpp = Program("vpp", argv, environment=environment, priority=_PRIORITY, nice=_NICE)
        return [vpp, self._feeder(say)]

    def _feeder(self, say: Callable[[str], None]) -> Program:
        def argv(program: Path) -> list[str]:
            return feeder.argv(
                program,
                vpp=self.layout.vpp("api.sock"),
                status=self.layout.feeder_socket,
                netns=self.names.router,
                options=("--fpm-user", confined.FRR_USER),
            )

        command = confined.command(self.layout, "feeder", self.layout.feeder_socket, argv, say)
        return Program("feeder", enter(self.names.router, command), priority=_PRIORITY + 1, nice=_NICE)

    def _startup_text(self) -> str:
        """VPP with the settings of the document's defaults, and all its sockets inside the lab's
        directory.
        """
        # A lab with the kernel as data plane needs nothing of VPP, not even its Python.
        from appliance.dataplane.vpp.sizing import settings
        from appliance.features.dataplane.model import Dataplane
        from vpp_config.startup_conf import MIB, StartupConf

        sized = settings(Dataplane(), machine())
        return StartupConf(
            runtime_directory=str(self.layout.run / "vpp"),
            cli_socket=str(self.layout.vpp("cli.sock")),
            api_socket=str(self.layout.vpp("api.sock")),
            stats_socket=str(self.layout.vpp("stats.sock")),
            log_file=None,
            api_segment_prefix=self.names.nic,
            group=confined.USER,
            poll_sleep_us=_POLL_SLEEP_US,
            main_heap_bytes=sized.main_heap_mb * MIB,
            statseg_bytes=sized.stats_segment_mb * MIB,
            buffers_per_numa=sized.buffers_per_numa,
            lcp_default_netns=self.names.router,
        ).render()

    def shared_memory(self) -> tuple[Path, ...]:
        """Shared memory that a killed VPP leaves."""
        return tuple(_SHARED_MEMORY / f"{self.names.nic}-{name}" for name in ("global_vm", "vpe-api"))
