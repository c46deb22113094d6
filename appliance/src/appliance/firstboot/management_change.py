"""A different addressing of the management NIC, chosen on the console."""

from __future__ import annotations

from appliance.engine import durable
from appliance.firstboot import host_files
from appliance.firstboot.instance import Management, load
from appliance.firstboot.layout import Layout
from appliance.firstboot.nics import Card, inventory
from appliance.firstboot.placing import put
from appliance.firstboot.seed import read
from appliance.programs import Programs, must


def change_management(layout: Layout, programs: Programs, values: dict[str, str]) -> bool:
    """Apply a seed's values that begin with ``management_``, and its ``dns_servers``; now and after boots.

    Without ``dns_servers`` the servers stay as they are. Returns True when another NIC was chosen: that waits
    for a reboot, as the data plane may then use the old one. Raises ValidationFailed, each problem with the
    value's name, and ProgramFailed.
    """
    instance = load(layout.instance.read_bytes())
    seed = read({"instance_id": "console", **values})
    wanted = Management(
        mac=seed.management_mac if "management_mac" in values else instance.management.mac,
        address=seed.management_address or "dhcp",
        gateway=seed.management_gateway,
        ipv6_address=seed.management_ipv6_address or "auto",
        ipv6_gateway=seed.management_ipv6_gateway,
    )
    changed = instance.model_copy(update={"management": wanted})
    if "dns_servers" in values:
        changed = changed.model_copy(update={"dns_servers": seed.dns_servers})
    durable.write(layout.instance, changed.model_dump_json().encode())
    card = _present(layout, changed.last_card)
    if wanted.mac is not None and (card is None or card.mac != wanted.mac):
        return True
    if card is None and wanted.mac != instance.management.mac:
        # The one that was before belongs to the data plane until then.
        return True
    ours = ("etc/systemd/network/10-management.network", str(layout.management.relative_to(layout.root)))
    for file in host_files.files(changed, card):
        if file.path in ours:
            put(layout.root, file)
    if not document_names_resolvers(layout):
        text = host_files.resolv_conf(changed.dns_servers, changed.search_domains)
        put(layout.root, host_files.HostFile("etc/resolv.conf", text))
    if card is not None:
        must(programs, ["networkctl", "reload"])
        must(programs, ["networkctl", "reconfigure", "--", card.device])
    return False


def document_names_resolvers(layout: Layout) -> bool:
    """Whether the DNS servers in force are the configuration document's."""
    resolv = layout.etc / "resolv.conf"
    return resolv.exists() and not host_files.is_ours(resolv.read_text())


def _present(layout: Layout, card: Card | None) -> Card | None:
    """The card, if it is there now."""
    if card is None:
        return None
    return next((other for other in inventory(layout.root / "sys") if other.mac == card.mac), None)
