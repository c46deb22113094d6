"""hosts(5), which the boot and the agent write identically: neither undoes the other's work."""

from __future__ import annotations


def hosts_file(hostname: str, domain: str | None) -> str:
    """The text: the router's own names, the full one first. Pure."""
    names = [hostname] if domain is None else [f"{hostname}.{domain}", hostname]
    return (
        "# Written by Millrace; changes are lost.\n"
        f"127.0.0.1 localhost\n127.0.1.1 {' '.join(names)}\n::1 localhost ip6-localhost ip6-loopback\n"
    )
