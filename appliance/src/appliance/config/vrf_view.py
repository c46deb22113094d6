"""A document as one of its VRFs sees it: code about one VRF need not know that there are others."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.document import Interface, RouterConfig
from appliance.config.pointer import escape, join, split
from frr_config import VrfRouting
from frr_config.types import DEFAULT_VRF

__all__ = ["DEFAULT_VRF", "pointer_in", "seen_in", "view_of", "views"]

_OWN = tuple(VrfRouting.model_fields)
_ABOVE = 3
"""Tokens above a part of a VRF's own routing: ``/vrfs/NAME/routing``."""


def seen_in(config: RouterConfig, vrf: str) -> RouterConfig:
    """The document with only this VRF's interfaces, and its routing in place of the default VRF's.

    Empty: the default VRF. A VRF missing from the document has no interfaces and no routing. All VRFs share
    policy and profiles.
    """
    if not config.vrfs and not vrf:
        return config
    interfaces = {name: one for name, one in config.interfaces.items() if (one.vrf or "") == vrf}
    return _view(config, vrf, interfaces)


def views(config: RouterConfig) -> Iterator[tuple[str, RouterConfig]]:
    """The document as each VRF sees it, by name; the default one, whose name is empty, first."""
    if not config.vrfs:
        yield "", config
        return
    interfaces: dict[str, dict[str, Interface]] = {vrf: {} for vrf in ("", *config.vrfs)}
    for name, one in config.interfaces.items():
        interfaces.setdefault(one.vrf or "", {})[name] = one
    for vrf in ("", *config.vrfs):
        yield vrf, _view(config, vrf, interfaces[vrf])


def _view(config: RouterConfig, vrf: str, interfaces: dict[str, Interface]) -> RouterConfig:
    update: dict[str, object] = {"interfaces": interfaces, "vrfs": {}}
    if vrf:
        own = config.vrfs[vrf].routing if vrf in config.vrfs else VrfRouting()
        update["routing"] = config.routing.model_copy(update={part: getattr(own, part) for part in _OWN})
    return config.model_copy(update=update)


def pointer_in(vrf: str, pointer: str) -> str:
    """The place in the whole document of a place in a view."""
    if vrf and any(pointer == f"/routing/{part}" or pointer.startswith(f"/routing/{part}/") for part in _OWN):
        return f"/vrfs/{escape(vrf)}{pointer}"
    return pointer


def view_of(pointer: str) -> tuple[str, str]:
    """The inverse of `pointer_in`: the VRF, and the place in its view."""
    tokens = split(pointer)
    if len(tokens) > _ABOVE and tokens[0] == "vrfs" and tokens[2] == "routing" and tokens[_ABOVE] in _OWN:
        return tokens[1], join(tokens[2:])
    return "", pointer
