"""What the folders of the features have, found by file name.

====================  =====================================================================================
``model.py``          a kind of interface says ``KIND``, its model: a subclass of ``InterfaceSettings``
``checks.py``         ``check(context)``: what no field can know alone. ``check_vrf(context)``: the same of
                      what each VRF has of its own. ``closed(config)``: interfaces by which VPP lets
                      in answers and what is for their own addresses, but no broadcast; and what they are
``vpp.py``            ``objects(wanted)``: VPP's objects for a document. ``PATHS``: where in the document an
                      object comes from, by the object's kind. ``SHOWN``: what is shown of an interface beyond
                      what all have, by kind. ``NEEDS``: what the kernel must have for it
``linux.py``          ``objects(wanted)`` and ``NEEDS`` of the linux data plane
``route_maps.py``     ``uses(config)``: where the document, as one VRF sees it, names route maps, and which
                      daemon evaluates them there (``appliance.config.route_map_use``)
``control_plane.py``  ``SERVICES``: its packets for the router itself, and how they can be let in.
                      ``opens(config)``: from whom they are (``appliance.config.services``)
``impact.py``         ``ANALYSES``: what a commit's result does. ``needed(change, after)``: packets that the
                      feature lives by, which others may refuse
``health.py``         ``CHECKS``: what of the running feature is looked at again and again, and raises alarms
``liveness.py``       ``LIVENESS``: objects of the document that can be there and do nothing
                      (``appliance.liveness.declaration``)
``watch.py``          ``MEASURES``: what is compared after a commit with before. ``probes(config)``: whom
                      the router pings meanwhile
``costs.py``          ``NODES``: what nodes of VPP's graph do for it, by the beginning of their names.
                      ``paid(config)``: what a packet pays for it, at the most expensive place
``bench.py``          ``LOAD``: what ``millrace bench`` can have packets pass, as many routes or access lists
``memory.py``         ``heap_uses(config, workers)``: what it takes of VPP's main heap, at most
====================  =====================================================================================

A file that a feature does not need is not there. Models, checks and what is said of services load nothing of
a data plane, and the files of one data plane are loaded by that plane alone. Features come in the order of
their names.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Literal

from appliance import features

Part = Literal[
    "model", "checks", "vpp", "linux", "control_plane", "impact", "health", "watch", "costs", "bench",
    "memory", "route_maps", "liveness",
]  # fmt: skip


@cache
def names() -> tuple[str, ...]:
    """Every feature: the folders beside this file."""
    return tuple(sorted(found.name for found in pkgutil.iter_modules(features.__path__) if found.ispkg))


@cache
def parts(part: Part) -> tuple[ModuleType, ...]:
    """This file of each feature that has one, in the order of the features."""
    files = [f"{features.__name__}.{feature}.{part}" for feature in names()]
    return tuple(import_module(file) for file in files if find_spec(file) is not None)


def declared(part: Part, name: str) -> list[Any]:
    """What the features' files declare under this name, in the order of the features."""
    return [getattr(module, name) for module in parts(part) if hasattr(module, name)]


@cache
def merged(part: Part, name: str) -> Mapping[str, Any]:
    """The tables that the features' files declare under this name, put together.

    Raises ValueError where two features say something of one key.
    """
    whole: dict[str, Any] = {}
    for table in declared(part, name):
        if twice := whole.keys() & table.keys():
            raise ValueError(f"two features declare {name} of {sorted(twice)}")
        whole.update(table)
    return whole
