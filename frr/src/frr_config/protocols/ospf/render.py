"""The OSPFv2 instance and its interfaces as lines."""

from __future__ import annotations

from collections.abc import Iterator

from frr_config.line import Line
from frr_config.protocols.augments import lines_of
from frr_config.protocols.ospf.model import (
    OSPF_INTERFACE,
    Ospf,
    OspfArea,
    OspfDefaultInformation,
    OspfInterface,
    OspfRedistribute,
)
from frr_config.rendered_text import revealed
from frr_config.version import FrrVersion

_OPENER = "router ospf"
_DEFAULT_REFERENCE_BANDWIDTH_MBPS = 100000
_DEFAULT_HELLO_S = 10
_DEFAULT_PRIORITY = 1
_DEFAULT_METRIC_TYPE = 2


def ospf_lines(ospf: Ospf, version: FrrVersion, vrf: str = "") -> Iterator[Line]:
    """``router ospf``, for the default VRF or another, and the ``ip ospf`` lines of interfaces. Raises
    RenderError.
    """
    opener = f"{_OPENER} vrf {vrf}" if vrf else _OPENER
    yield Line((), opener)
    for text in _instance(ospf):
        yield Line((opener,), text)
    for name, interface in ospf.interfaces.items():
        for text in (*_interface(interface), *lines_of(OSPF_INTERFACE, interface, version)):
            yield Line((f"interface {name}",), f"ip ospf {text}")


def _instance(ospf: Ospf) -> Iterator[str]:
    if ospf.router_id is not None:
        yield f"ospf router-id {ospf.router_id}"
    if ospf.reference_bandwidth_mbps != _DEFAULT_REFERENCE_BANDWIDTH_MBPS:
        yield f"auto-cost reference-bandwidth {ospf.reference_bandwidth_mbps}"
    for area_id, area in ospf.areas.items():
        yield from _area(area_id, area)
    for protocol in ("connected", "static", "bgp"):
        redistribute = getattr(ospf.redistribute, protocol)
        if redistribute is not None:
            yield f"redistribute {protocol}{_attributes(redistribute)}"
    if ospf.default_information is not None:
        always = " always" if ospf.default_information.always else ""
        yield f"default-information originate{always}{_attributes(ospf.default_information)}"


def _area(area_id: str, area: OspfArea) -> Iterator[str]:
    if area.type != "normal":
        yield f"area {area_id} {area.type}{' no-summary' if area.no_summary else ''}"


def _attributes(external: OspfRedistribute | OspfDefaultInformation) -> str:
    metric = "" if external.metric is None else f" metric {external.metric}"
    kind = "" if external.metric_type == _DEFAULT_METRIC_TYPE else f" metric-type {external.metric_type}"
    route_map = "" if external.route_map is None else f" route-map {external.route_map}"
    return f"{metric}{kind}{route_map}"


def _interface(interface: OspfInterface) -> Iterator[str]:
    if interface.network_type == "point-to-point":
        yield "network point-to-point"
    if interface.authentication is not None:
        key = revealed(interface.authentication.key)
        if interface.authentication.type == "md5":
            yield "authentication message-digest"
            yield f"message-digest-key {interface.authentication.key_id} md5 {key}"
        else:
            yield "authentication"
            yield f"authentication-key {key}"
    if interface.cost is not None:
        yield f"cost {interface.cost}"
    if interface.hello_interval_s != _DEFAULT_HELLO_S:
        yield f"hello-interval {interface.hello_interval_s}"
    # Always written: otherwise it follows the hello interval.
    yield f"dead-interval {interface.dead_interval_s}"
    if interface.priority != _DEFAULT_PRIORITY:
        yield f"priority {interface.priority}"
    yield f"area {interface.area}"
    if interface.passive:
        yield "passive"
