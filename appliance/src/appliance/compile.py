"""From the document to the desired state of each backend. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from appliance.config.document import RouterConfig
from appliance.dataplane.context import CompileContext
from appliance.dataplane.linux.compile import compile_linux
from appliance.dataplane.nic import Nic, require_nics
from appliance.host.compile import compile_host
from appliance.routing.wanted import WantedRouting

Driver = Literal["vpp", "linux"]

__all__ = ["CompileContext", "Driver", "compile_document"]


def compile_document(config: RouterConfig, driver: Driver, context: CompileContext) -> dict[str, Any]:
    """Desired state by backend name: the data plane's (``vpp`` or ``linux``), ``frr`` and ``host``.

    The document has passed ``check``. Raises ValidationFailed when a NIC it names is missing or named twice.
    An interface whose NIC was once present and is gone is left out, so that the others go on.
    """
    nics = require_nics(config, context.nics)
    config = _without_absent(config, nics)
    if driver == "vpp":
        # A machine without VPP does not load its client.
        from appliance.dataplane.vpp.compile import compile_vpp

        dataplane: Any = compile_vpp(config, nics, context)
    else:
        dataplane = compile_linux(config, nics)
    return {driver: dataplane, "frr": WantedRouting.of(config), "host": compile_host(config.system)}


def _without_absent(config: RouterConfig, nics: Mapping[str, Nic]) -> RouterConfig:
    gone = {name for name, nic in nics.items() if not nic.present}
    if not gone:
        return config
    left = config.interfaces
    while gone:
        left = {name: interface for name, interface in left.items() if name not in gone}
        gone = {name for name, interface in left.items() if interface.carrier in gone}
    return config.model_copy(update={"interfaces": left})
