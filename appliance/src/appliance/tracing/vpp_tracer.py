"""A trace in VPP: armed, read, and removed again.

VPP has a single trace for all users. Its package of plugins lacks the API of traces (``tracedump``), so the
trace itself is requested by command line text over the API; the filter is VPP's classifier, over the API. A
user's text never reaches a command.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, TypeVar

from appliance.errors import Conflict, NotFound, Problem, ValidationFailed
from appliance.state.traces import TraceWanted
from appliance.tracing.frame_filter import Frames, Match
from appliance.tracing.trace_text import arrived_on, packets_of
from appliance.tracing.traces import Seen, TraceFailed

if TYPE_CHECKING:
    from appliance.config.document import RouterConfig
    from appliance.dataplane.base import DataPlane
    from appliance.dataplane.looking import KernelLooking, VppLooking

T = TypeVar("T")
NEEDS_VPP = "a packet trace needs the VPP data plane"
_NODES = {
    "af-packet": "af-packet-input",
    "dpdk": "dpdk-input",
    "memif": "memif-input",
    "virtio": "virtio-input",
    "vmxnet3": "vmxnet3-input",
}
"""By VPP's kind of device, the node of its graph where packets arrive."""
_NONE = 0xFFFFFFFF
_TABLE_BYTES = 64 * 1024


@dataclass(frozen=True)
class Arrival:
    """Where packets of an interface arrive."""

    node: str
    indexes: tuple[int, ...]
    """VPP's, of the devices."""
    names: tuple[str, ...]
    """VPP's own, of the devices."""
    frames: Frames


class VppTracer:
    """One trace. All methods may raise BackendUnavailable."""

    def __init__(self, dataplane: DataPlane, config: Callable[[], RouterConfig]) -> None:
        self._dataplane, self._config = dataplane, config
        self._arrival: Arrival | None = None

    def started_s(self) -> int:
        """When VPP started: a trace armed before is gone. Raises ValidationFailed if there is no VPP."""
        return self._ask(lambda vpp: vpp.read_stats(lambda segment: segment.scalar("/sys/boottime")))

    def begin(self, wanted: TraceWanted) -> None:
        """Arm it. Raises NotFound, Conflict when another user traces, TraceFailed."""
        self._ask(lambda vpp: self._begin(vpp, wanted))

    def look(self, wanted: TraceWanted) -> Seen:
        """Those traced so far, at most as many as are wanted. VPP does nothing else while it writes them."""
        arrival = self._arrival
        assert arrival is not None
        text = self._ask(lambda vpp: _command(vpp, f"show trace max {wanted.packets}"))
        found = list(packets_of(text))
        ours = (one for one in found if arrived_on(one, arrival.indexes, arrival.names))
        by_time = sorted(ours, key=lambda one: one.steps[0].at_s if one.steps else 0.0)
        packets = tuple(
            one.model_copy(update={"number": number})
            for number, one in enumerate(by_time[: wanted.packets], 1)
        )
        return Seen(packets, len(found))

    def end(self) -> None:
        """Remove the trace and its filter, whoever armed them."""
        self._ask(_end)

    def _begin(self, vpp: VppLooking, wanted: TraceWanted) -> None:
        self._arrival = arrival = _arrival(vpp, self._config(), wanted)
        if "\nPacket 1\n" in _command(vpp, "show trace max 1"):
            raise Conflict(
                "VPP has packets of a trace that this router's agent did not ask for: `clear trace` in vppctl"
            )
        if vpp.client.call("classify_trace_get_tables").count:
            raise Conflict("VPP has a filter of traces that this router's agent did not set: end that trace")
        vpp.client.call("get_node_index", node_name=arrival.node)
        try:
            matches = arrival.frames.matches()
            if matches:
                _set_filter(vpp, matches)
            _command(vpp, f"trace add {arrival.node} {wanted.packets}{' filter' if matches else ''}")
        except BaseException:
            _end(vpp)
            raise

    def _ask(self, question: Callable[[VppLooking], T]) -> T:
        return self._dataplane.look(vpp=question, linux=_not_here)


def _not_here(_kernel: KernelLooking) -> NoReturn:
    raise ValidationFailed([Problem("", NEEDS_VPP)])


def _command(vpp: VppLooking, words: str) -> str:
    return str(vpp.client.call("cli_inband", cmd=words).reply)


def _end(vpp: VppLooking) -> None:
    _command(vpp, "clear trace")
    if vpp.client.call("classify_trace_get_tables").count:
        # This deletes the tables, too.
        vpp.client.call("classify_trace_set_table", table_index=_NONE)


def _set_filter(vpp: VppLooking, matches: tuple[Match, ...]) -> None:
    following = _NONE
    try:
        for match in reversed(matches):
            following = _table(vpp, match, following)
    finally:
        if following != _NONE:
            vpp.client.call("classify_trace_set_table", table_index=following)


def _table(vpp: VppLooking, match: Match, following: int) -> int:
    vectors = len(match.mask) // 16
    made = vpp.client.call(
        "classify_add_del_table",
        is_add=True,
        table_index=_NONE,
        nbuckets=2,
        memory_size=_TABLE_BYTES,
        skip_n_vectors=0,
        match_n_vectors=vectors,
        next_table_index=following,
        miss_next_index=_NONE,
        mask_len=len(match.mask),
        mask=match.mask,
    )
    vpp.client.call(
        "classify_add_del_session",
        is_add=True,
        table_index=made.new_table_index,
        hit_next_index=_NONE,
        opaque_index=_NONE,
        advance=0,
        match_len=len(match.value),
        match=match.value,
    )
    return int(made.new_table_index)


def _arrival(vpp: VppLooking, config: RouterConfig, wanted: TraceWanted) -> Arrival:
    """Raises NotFound, TraceFailed."""
    settings = config.interfaces.get(wanted.interface)
    if settings is None:
        raise NotFound(f"there is no interface {wanted.interface}")
    index_of = {name: index for index, name in vpp.names().items()}
    rows = {int(row.sw_if_index): row for row in vpp.client.dump("sw_interface_dump")}
    own = rows.get(index_of.get(wanted.interface, -1))
    if own is None:
        raise NotFound(f"VPP has no interface {wanted.interface}")
    parent = rows[int(own.sup_sw_if_index)]
    carrier = config.interfaces.get(vpp.names().get(int(parent.sw_if_index), ""), settings)
    devices = [rows[index_of[part]] for part in carrier.made_of if index_of.get(part) in rows] or [parent]
    kinds = {str(row.interface_dev_type) for row in devices}
    nodes = {_NODES.get(kind) for kind in kinds}
    node = nodes.pop() if len(nodes) == 1 else None
    if node is None:
        raise TraceFailed(
            f"no packet arrives on {wanted.interface} from outside: VPP's kind of it is "
            f"{' and '.join(sorted(kinds))}"
        )
    tagged = int(own.sub_outer_vlan_id) if own.sw_if_index != parent.sw_if_index else None
    mac = bytes.fromhex(str(own.l2_address).replace(":", "")) or b""
    alone = len({row.sw_if_index for row in rows.values() if _NODES.get(str(row.interface_dev_type)) == node})
    return Arrival(
        node,
        tuple(int(row.sw_if_index) for row in devices),
        tuple(str(row.interface_name) for row in devices),
        Frames(
            # If nothing else arrives at the node, there is nothing to distinguish.
            mac=mac if alone > len(devices) else b"",
            vlan_id=tagged,
            source=wanted.source,
            destination=wanted.destination,
        ),
    )
