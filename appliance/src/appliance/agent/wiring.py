"""From the agent's settings to the router it owns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from appliance.agent.caller_path import CallerPath
from appliance.agent.foretelling import Foretelling
from appliance.agent.router import Router
from appliance.agent.settings import AgentSettings, LogFilesSettings, SupervisorSettings
from appliance.compile import Driver, compile_document
from appliance.config.capabilities import Capabilities
from appliance.config.document import RouterConfig
from appliance.dataplane.base import DataPlane
from appliance.dataplane.machine import Machine
from appliance.engine.backend import SomeBackend
from appliance.engine.engine import Engine
from appliance.engine.transaction import Patience
from appliance.features.bgp.index_client import BgpIndexClient
from appliance.health.platform import Platform
from appliance.host import HostBackend
from appliance.logs.files import LogFiles
from appliance.logs.journal import Journal
from appliance.logs.source import LogSource
from appliance.routing.frr import FrrBackend
from appliance.service_manager import ServiceManager, SystemdManager
from appliance.upgrade.paths import Paths
from frr_config.protocols.augments import lacking

if TYPE_CHECKING:
    from appliance.dataplane.linux.backend import LinuxDataplane
    from appliance.dataplane.vpp.backend import VppDataplane
    from appliance.dataplane.vpp.feeder import FeederClient


def build(settings: AgentSettings) -> Router:
    """The router these settings describe. Also works while VPP and FRR are down."""
    feeder = _feeder(settings)
    services = _services(settings)
    dataplane = _dataplane(settings, services, feeder)
    index = settings.bgp_index_socket
    routing = FrrBackend(
        settings.netns,
        settings.frr_vty_dir,
        settings.frr_config_dir,
        feeds=feeder is not None,
        indexed=index is not None,
    )
    backends: tuple[SomeBackend, ...] = (dataplane, routing, HostBackend(settings.host_root))
    path = CallerPath(settings.netns)
    engine = Engine(
        backends,
        partial(_compile, dataplane, settings.dataplane),
        partial(capabilities, dataplane, routing),
        settings.state_dir,
        patience=Patience(settle_s=settings.settle_s),
        interval_s=settings.reconcile_interval_s,
        own_path=path,
        foretell=Foretelling(dataplane, routing, path.arrival, table=feeder),
    )
    platform = Platform(services, settings.certificate, Paths())
    return Router(
        engine,
        dataplane,
        routing,
        settings.netns,
        feeder,
        _log_source(settings),
        platform,
        settings.bench_generator,
        None if index is None else BgpIndexClient(index),
    )


def _log_source(settings: AgentSettings) -> LogSource | None:
    where = settings.logs
    if where is None:
        return None
    return LogFiles(where.folder) if isinstance(where, LogFilesSettings) else Journal(where.namespace)


def _feeder(settings: AgentSettings) -> FeederClient | None:
    if settings.feeder_socket is None:
        return None
    from appliance.dataplane.vpp import sizing, startup
    from appliance.dataplane.vpp.feeder import FeederClient

    conf = settings.vpp_startup_conf
    return FeederClient(
        settings.feeder_socket,
        lambda: None if conf is None else sizing.most_routes(startup.read(conf.read_text())),
    )


def _compile(dataplane: DataPlane, driver: Driver, config: RouterConfig) -> Mapping[str, Any]:
    return compile_document(config, driver, dataplane.compile_context())


def capabilities(dataplane: DataPlane, routing: FrrBackend) -> Capabilities:
    """The joint capabilities of data plane and FRR: a document that needs more is refused."""
    able = dataplane.capabilities()
    release = routing.release()
    lacks = {} if release is None else lacking(release)
    return replace(able, lacking={**able.lacking, **lacks}, frr="" if release is None else str(release))


def _dataplane(
    settings: AgentSettings, services: ServiceManager | None, feeder: FeederClient | None
) -> VppDataplane | LinuxDataplane:
    if settings.dataplane == "linux":
        from appliance.dataplane.linux.backend import LinuxDataplane

        return LinuxDataplane(settings.netns, settings.nic_netns, settings.management, settings.nic_inventory)
    # Without VPP's Python binding the linux data plane still works.
    from appliance.dataplane.vpp.backend import VppDataplane

    return VppDataplane(
        settings.vpp_api_socket or Path("/run/vpp/api.sock"),
        settings.vpp_stats_socket or Path("/run/vpp/stats.sock"),
        settings.vpp_startup_conf,
        settings.netns,
        settings.nic_netns,
        services,
        management=settings.management,
        nic_inventory=settings.nic_inventory,
        dpdk=settings.dpdk,
        feeder=feeder,
        machine=Machine(**settings.machine.model_dump()) if settings.machine is not None else None,
    )


def _services(settings: AgentSettings) -> ServiceManager | None:
    manager = settings.service_manager
    if manager is None:
        return None
    if not isinstance(manager, SupervisorSettings):
        return SystemdManager()
    from appliance.supervisor_manager import SupervisorManager

    return SupervisorManager(manager.socket)
