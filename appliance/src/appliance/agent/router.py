"""What the agent owns and shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.agent import route_table
from appliance.agent.cleared_counters import ClearedCounters
from appliance.agent.hits import Hits
from appliance.agent.machine_use import MachineUse
from appliance.agent.operations import OperationLog
from appliance.agent.route_lists import RouteLists
from appliance.agent.route_proof import RouteProof
from appliance.bench.benches import Benches
from appliance.bench.occupied import why_occupied
from appliance.capture.captures import CaptureFiles
from appliance.capture.source import Source
from appliance.capture.tcpdump import KernelSource, require_filter
from appliance.capture.vpp import VppSource
from appliance.dataplane.base import DataPlane
from appliance.dataplane.route_answer import VrfTable
from appliance.engine.engine import Engine
from appliance.errors import NotFound
from appliance.features.acl.rule_identity import DocumentRules
from appliance.features.bgp.index_client import BgpIndexClient
from appliance.features.vrf.model import table_of
from appliance.health.platform import Platform
from appliance.liveness.keeper import Keeper
from appliance.logs.known_secrets import REVISIONS, KnownSecrets
from appliance.logs.reader import Logs
from appliance.logs.redaction import Redaction
from appliance.logs.source import LogSource
from appliance.routing.view import RoutingView, VrfRoutingView
from appliance.secrets import SecretBox
from appliance.state.captures import CaptureWanted
from appliance.state.health import PartHealth
from appliance.state.routes import Routes, RoutesQuery
from appliance.state.system import SystemState
from appliance.tracing.traces import PacketTraces
from appliance.tracing.vpp_tracer import VppTracer

if TYPE_CHECKING:
    # A machine without VPP does not load what drives it.
    from appliance.dataplane.vpp.feeder import FeederClient


@dataclass(frozen=True)
class Router:
    """The engine, and everything else that can be viewed."""

    engine: Engine
    dataplane: DataPlane
    routing: RoutingView
    netns: str
    feeder: FeederClient | None = None
    """The feeder that carries FRR's routes into VPP."""
    log_source: LogSource | None = None
    """Where the router's programs log."""
    platform: Platform = field(default_factory=Platform)
    """The platform under the router."""
    bench_generator: Path = Path("/usr/lib/millrace/bench-generator")
    """The program that sends and counts the packets of a bench."""
    bgp_index: BgpIndexClient | None = None
    """The index in which BGP routes are searched, if there is one."""

    @cached_property
    def _lists(self) -> RouteLists:
        return RouteLists(self.routing)

    def routes(self, question: RoutesQuery) -> Routes:
        """RIB, kernel and FIB side by side; one thread at a time may ask for lists. Raises NotFound."""
        vrf = self.vrf_table(question.vrf)
        routing = self.routing.in_vrf(question.vrf or "")
        tables = self.dataplane if vrf is None else route_table.VrfForwarding(self.dataplane, vrf)
        if question.covering and question.prefix is not None:
            return route_table.covering(question, tables, routing)
        if question.is_list:
            return route_table.routes(question, tables, self._lists, self.feeder, vrf.number if vrf else 0)
        answer = route_table.route(question, tables, routing)
        for found in answer.routes if vrf is None else ():
            if found.disagreement and found.protocol:
                self.route_proof.suspect(found.prefix)
        return answer

    def vrf_table(self, vrf: str | None) -> VrfTable | None:
        """The table of a VRF of the running document; None for the default one. Raises NotFound."""
        if vrf is None:
            return None
        known = self.engine.running_config.vrfs.get(vrf)
        if known is None:
            raise NotFound(f"there is no VRF {vrf}")
        return VrfTable(vrf, table_of(vrf, known))

    def routing_in(self, vrf: str | None) -> VrfRoutingView:
        """The routing daemons in a VRF of the running document. Raises NotFound."""
        self.vrf_table(vrf)
        return self.routing.in_vrf(vrf or "")

    @cached_property
    def liveness(self) -> Keeper:
        """Whether the document's objects do what they say; any thread may ask."""
        return Keeper(self)

    @cached_property
    def route_proof(self) -> RouteProof:
        """The continual comparison of RIB, kernel and FIB; one thread at a time may look."""
        feeder = self.feeder
        if feeder is None:
            return RouteProof(self.dataplane, self.routing)
        return RouteProof(
            self.dataplane, self.routing, tell_again=feeder.tell_again, doubtful=feeder.doubtful
        )

    @cached_property
    def _machine(self) -> MachineUse:
        places = {"system": Path("/"), "configuration": self.engine.state_dir, "logs": Path("/var/log")}
        ask = {
            part.name: lambda part=part: _version(part.health()) for part in (self.dataplane, self.routing)
        }
        return MachineUse(places, self.engine.storage, ask)

    @cached_property
    def cleared(self) -> ClearedCounters:
        """Counters that were cleared."""
        rules = DocumentRules(lambda: self.engine.running_config)
        return ClearedCounters(self.engine.state_dir / "cleared-counters.json", rules)

    @cached_property
    def hits(self) -> Hits:
        """Hits of access lists, read on request."""
        return Hits(self.dataplane.acl_hits, cleared=self.cleared)

    @cached_property
    def operations(self) -> OperationLog:
        """Operations done over the command line."""
        return OperationLog(self.engine.state_dir / "operations.json")

    @cached_property
    def captures(self) -> CaptureFiles:
        """Packet captures, and the files of those that ended."""
        engine = self.engine
        return CaptureFiles(engine.state_dir / "captures", engine.room, self._may_capture, self._source)

    def _may_capture(self, wanted: CaptureWanted) -> None:
        """Raises NotFound, ValidationFailed."""
        if wanted.interface not in self.engine.running_config.interfaces:
            raise NotFound(f"there is no interface {wanted.interface}")
        require_filter(self.netns, wanted.filter, wanted.snap_bytes)

    def _source(self) -> Source:
        return KernelSource(self.netns) if self.dataplane.kernel_forwards else VppSource(self.dataplane)

    @cached_property
    def benches(self) -> Benches:
        """Benches, and the results of those that ended."""
        engine = self.engine
        return Benches(
            engine.state_dir / "benches",
            self.dataplane,
            engine.turns,
            partial(why_occupied, engine, self.captures, self.traces),
            lambda: frozenset(table_of(name, known) for name, known in engine.running_config.vrfs.items()),
            self.bench_generator,
            lend=None if self.feeder is None else self.feeder.lent,
        )

    @cached_property
    def traces(self) -> PacketTraces:
        """Packet traces of VPP."""
        return PacketTraces(self.engine.state_dir / "packet-trace.json", self._tracer)

    def _tracer(self) -> VppTracer:
        return VppTracer(self.dataplane, lambda: self.engine.running_config)

    @cached_property
    def logs(self) -> Logs:
        """The logs of the router's programs."""
        engine = self.engine
        secrets = KnownSecrets(
            lambda: engine.running_config,
            lambda: [one.revision for one in engine.revisions(REVISIONS)],
            engine.document_of,
            lambda: SecretBox.open(engine.state_dir),
        )
        return Logs(self.log_source, Redaction(secrets))

    def system(self) -> SystemState:
        """The machine; answers while data plane and routing hang."""
        return self._machine.state()

    def close(self) -> None:
        """Release everything; forwarding goes on."""
        self._machine.close()
        self.cleared.close()
        self.traces.close()
        self.captures.close()
        self.benches.close()
        self.engine.close()
        self.routing.close()
        self.dataplane.close()


def _version(part: PartHealth) -> str:
    """The version of a part; if it is several programs, of each that differs."""
    return part.version or ", ".join(sorted({one.version for one in part.daemons.values() if one.version}))
