"""The files of the host that follow from an instance. Pure.

Values come from closed alphabets without line breaks (see `seed`), so none can break out of its line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

from appliance.firstboot.instance import Instance, Management
from appliance.firstboot.layout import ADMIN, WEB_USER
from appliance.firstboot.nics import Card
from appliance.hosts_file import hosts_file

_MARK = "# Written by Millrace at boot; changes are lost. See docs/first-boot.md.\n"
_REDIS = "/run/redis/redis-server.sock"


@dataclass(frozen=True)
class HostFile:
    """A file below the root, without its first slash."""

    path: str
    content: str
    mode: int = 0o644


def files(instance: Instance, card: Card | None) -> list[HostFile]:
    """All of them but the shadow file, in which only one line is ours."""
    return list(_files(instance, card))


def _files(instance: Instance, card: Card | None) -> Iterator[HostFile]:
    name = instance.hostname
    yield HostFile("etc/hostname", f"{name}\n")
    # As the agent writes it: where both name the same router, each boot leaves it as it is.
    yield HostFile("etc/hosts", hosts_file(name, next(iter(instance.search_domains), None)))
    yield HostFile("etc/resolv.conf", resolv_conf(instance.dns_servers, instance.search_domains))
    if card is not None:
        yield HostFile("etc/systemd/network/10-management.network", network(instance, card))
    yield HostFile("etc/ssh/sshd_config.d/10-millrace.conf", sshd(instance))
    yield HostFile(
        f"etc/ssh/authorized_keys.d/{ADMIN}", _MARK + "".join(f"{key}\n" for key in instance.ssh_keys)
    )
    yield HostFile("etc/sudoers.d/millrace", sudoers(instance), 0o440)
    yield HostFile("run/millrace/web.env", web_environment(), 0o600)
    yield HostFile("run/millrace/admin.hash", f"{instance.password_hash}\n", 0o600)
    yield HostFile("run/millrace/management.json", management(instance.management, card))


def network(instance: Instance, card: Card) -> str:
    """A systemd.network(5) file for the management NIC; networkd may touch nothing else."""
    wanted = instance.management
    automatic_v6 = wanted.ipv6_address == "auto"
    lines = ["[Match]", f"MACAddress={card.mac}", "Type=ether", "", "[Network]", "Description=Management"]
    lines += [
        f"DHCP={'ipv4' if wanted.address == 'dhcp' else 'no'}",
        # DHCPv6 starts when a router advertisement asks for it.
        f"IPv6AcceptRA={'yes' if automatic_v6 else 'no'}",
        f"LinkLocalAddressing={'no' if wanted.ipv6_address == 'off' else 'ipv6'}",
        "LLDP=no",
        "EmitLLDP=no",
    ]
    for address in (wanted.address, wanted.ipv6_address):
        if "/" in address:
            lines.append(f"Address={address}")
    lines += [f"Gateway={hop}" for hop in (wanted.gateway, wanted.ipv6_gateway) if hop is not None]
    lines += [f"DNS={server}" for server in instance.dns_servers]
    lines += [f"NTP={server}" for server in instance.ntp_servers]
    lines += ["", "[DHCPv4]", "UseHostname=no", "ClientIdentifier=mac", "UseDomains=yes"]
    lines += ["", "[IPv6AcceptRA]", "UseDomains=yes", "", "[DHCPv6]", "UseHostname=no", ""]
    return _MARK + "\n".join(lines)


def resolv_conf(servers: tuple[str, ...], domains: tuple[str, ...]) -> str:
    """resolv.conf(5); at most three servers are read from it."""
    search = [f"search {' '.join(domains)}\n"] if domains else []
    return _MARK + "".join(search + [f"nameserver {server}\n" for server in servers[:3]])


def is_ours(resolv_conf_text: str) -> bool:
    """Whether the file is this program's, not the configuration document's."""
    return not resolv_conf_text.strip() or resolv_conf_text.startswith(_MARK)


def sshd(instance: Instance) -> str:
    """sshd_config(5)."""
    password = "yes" if instance.password_login else "no"
    return _MARK + "\n".join(
        [
            "HostKey /data/millrace/ssh/ssh_host_ed25519_key",
            "HostKey /data/millrace/ssh/ssh_host_ecdsa_key",
            "PermitRootLogin no",
            f"AllowUsers {ADMIN}",
            f"PasswordAuthentication {password}",
            "KbdInteractiveAuthentication no",
            "AuthorizedKeysFile /etc/ssh/authorized_keys.d/%u .ssh/authorized_keys",
            "X11Forwarding no",
            "AllowAgentForwarding no",
            "MaxAuthTries 4",
            "LoginGraceTime 30",
            # Of ten simultaneous sign-ins, one source (an IPv6 /64) has at most four.
            "MaxStartups 10:30:100",
            "PerSourceMaxStartups 4",
            "PerSourceNetBlockSize 32:64",
            "",
        ]
    )


def sudoers(instance: Instance) -> str:
    """sudoers(5): a user with only a key has no password to enter."""
    tag = "" if instance.password_login else "NOPASSWD: "
    return f"{_MARK}{ADMIN} ALL=(ALL:ALL) {tag}ALL\n"


def web_environment() -> str:
    """Environment of the web half. No secret: the database checks who connects, and needs no password."""
    directory = quote("/run/postgresql", safe="")
    values = {
        "DJANGO_SETTINGS_MODULE": "webui.settings",
        "MILLRACE_AGENT_SOCKET": "/run/millrace/agent.sock",
        "MILLRACE_STATE_DIR": "/var/lib/millrace/web",
        "MILLRACE_STATIC_DIR": "/usr/lib/millrace/static",
        "MILLRACE_TRUSTED_PROXIES": "*",
        "DATABASE_URL": f"postgresql://{WEB_USER}@{directory}/millrace",
        "REDIS_URL": f"unix://{_REDIS}?db=0",
        "CELERY_BROKER_URL": f"redis+socket://{_REDIS}?virtual_host=1",
        "HOME": "/var/lib/millrace/web",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return "".join(f"{name}={value}\n" for name, value in values.items())


def management(wanted: Management, card: Card | None) -> str:
    """The management NIC, for the program that assigns the others."""
    return json.dumps(
        {
            "device": card.device if card else None,
            "mac": card.mac if card else wanted.mac,
            "pci": card.pci if card else None,
            "ipv4": wanted.address,
            "ipv4_gateway": wanted.gateway,
            "ipv6": wanted.ipv6_address,
            "ipv6_gateway": wanted.ipv6_gateway,
        }
    )


def shadow(text: str, password_hash: str) -> str:
    """shadow(5) with this hash for admin, and root locked. Raises LookupError when there is no admin."""
    lines, found = [], False
    for line in text.splitlines():
        fields = line.split(":")
        if fields[0] == ADMIN:
            fields[1], found = password_hash, True
        elif fields[0] == "root":
            fields[1] = "*"
        lines.append(":".join(fields))
    if not found:
        raise LookupError(f"the shadow file has no user {ADMIN}")
    return "".join(f"{line}\n" for line in lines)


def shadow_hash(text: str) -> str | None:
    """The hash of admin in shadow(5) text."""
    for line in text.splitlines():
        fields = line.split(":")
        if fields[0] == ADMIN and len(fields) > 1:
            return fields[1]
    return None
