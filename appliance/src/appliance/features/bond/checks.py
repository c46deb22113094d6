"""Bonds and their members."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.context import Context
from appliance.config.document import RouterConfig
from appliance.config.pointer import join
from appliance.config.references import References
from appliance.errors import Problem
from appliance.features.bond.model import Bond
from appliance.features.interface.model import LinkSettings

_DEFAULTS = {
    name: field.default
    for name, field in LinkSettings.model_fields.items()
    if name not in ("type", "description", "enabled")
}
"""Settings that a member leaves to its bond, and their values then."""


def check(context: Context) -> Iterator[Problem]:
    """Members are NICs of one bond, which has everything that packets need; its own settings fit its mode."""
    bonds = dict(sorted(context.config.interfaces_of(Bond)))
    bond_of: dict[str, str] = {}
    for name, bond in bonds.items():
        yield from _settings(join(["interfaces", name]), bond, context.capabilities.driver)
        yield from _members(name, bond, context.config, bond_of)
    if bond_of:
        yield from _on_members(context.config, bond_of)


def _settings(path: str, bond: Bond, driver: str) -> Iterator[Problem]:
    if bond.minimum_links > 1 and bond.mode != "802.3ad":
        yield Problem(f"{path}/minimum_links", "needs mode 802.3ad")
    elif bond.minimum_links > len(bond.members):
        yield Problem(f"{path}/minimum_links", f"must be at most the number of members, {len(bond.members)}")
    elif bond.minimum_links > 1 and driver == "vpp":
        message = "VPP has no such limit, and a bond is up while one member is active: leave it at 1"
        yield Problem(f"{path}/minimum_links", message)
    if bond.primary is not None:
        if bond.mode != "active-backup":
            yield Problem(f"{path}/primary", "needs mode active-backup")
        elif bond.primary not in bond.members:
            yield Problem(f"{path}/primary", f"{bond.primary} is not one of the members")
    if bond.mac is not None and (int(bond.mac[:2], 16) & 1 or bond.mac == "00:00:00:00:00:00"):
        yield Problem(f"{path}/mac", f"{bond.mac} is a group address or zero: give a unicast address")


def _members(name: str, bond: Bond, config: RouterConfig, bond_of: dict[str, str]) -> Iterator[Problem]:
    for position, member in enumerate(bond.members):
        path = join(["interfaces", name, "members", str(position)])
        settings = config.interfaces.get(member)
        if settings is None:
            continue
        if settings.nic is None:
            yield Problem(path, f"{member} is a {settings.kind_words}; members are ethernet interfaces")
        elif member in bond_of:
            yield Problem(path, f"{member} is already a member of {bond_of[member]}")
        else:
            bond_of[member] = name


def _on_members(config: RouterConfig, bond_of: dict[str, str]) -> Iterator[Problem]:
    references = References(config)
    for member, bond in sorted(bond_of.items()):
        path = join(["interfaces", member])
        settings, whole = config.interfaces[member], config.interfaces[bond]
        for setting, default in _DEFAULTS.items():
            value = getattr(settings, setting)
            if value not in (default, whole.mtu if setting == "mtu" else default):
                yield Problem(f"{path}/{setting}", f"{member} is a member of {bond}: set it there")
        for use in references.used_by(path):
            if not _names_a_member(use.pointer, config):
                yield Problem(use.pointer, f"{member} is a member of {bond}: name {bond}")


def _names_a_member(pointer: str, config: RouterConfig) -> bool:
    """Whether a bond names it is checked elsewhere."""
    match pointer.split("/"):
        case ["", "interfaces", name, "members", _] | ["", "interfaces", name, "primary"]:
            return isinstance(config.interfaces.get(name), Bond)
    return False
