"""The settings that a router accepts before its first boot, as vApp properties.

The keys are those that the first boot reads from the OVF environment (DSP0243, chapter 11).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Property:
    """One vApp property. ``qualifiers`` is that of DSP0243, table 7: ``MinLen(n) MaxLen(n)``."""

    key: str
    label: str
    description: str
    qualifiers: str = ""
    password: bool = False
    """Hidden while it is typed."""


@dataclass(frozen=True)
class Category:
    """Properties that a dialog shows together."""

    label: str
    properties: tuple[Property, ...]


CATEGORIES = (
    Category(
        "Identity",
        (
            Property(
                "hostname",
                "Host name",
                "Letters, digits and hyphens. Empty: millrace.",
                "MaxLen(253)",
            ),
        ),
    ),
    Category(
        "Management network",
        (
            Property(
                "management_address",
                "IPv4 address",
                "Address with prefix length, as in 192.0.2.10/24. Empty or dhcp: from DHCP. off: none.",
                "MaxLen(18)",
            ),
            Property(
                "management_gateway",
                "IPv4 gateway",
                "Only with a static address.",
                "MaxLen(15)",
            ),
            Property(
                "management_ipv6_address",
                "IPv6 address",
                "Address with prefix length, as in 2001:db8::10/64. "
                "Empty or auto: from router advertisements. off: none.",
                "MaxLen(43)",
            ),
            Property(
                "management_ipv6_gateway",
                "IPv6 gateway",
                "Only with a static address.",
                "MaxLen(39)",
            ),
            Property(
                "management_mac",
                "MAC address of the management NIC",
                "Empty: the first NIC. It is remembered by its MAC address from the first boot on.",
                "MaxLen(17)",
            ),
            Property(
                "dns_servers",
                "DNS servers",
                "Addresses, separated by commas.",
                "MaxLen(255)",
            ),
            Property(
                "search_domains",
                "Search domains",
                "Domains, separated by commas.",
                "MaxLen(1024)",
            ),
            Property(
                "ntp_servers",
                "NTP servers",
                "Names or addresses, separated by commas.",
                "MaxLen(1024)",
            ),
        ),
    ),
    Category(
        "Access",
        (
            Property(
                "admin_password",
                "Administrator's password",
                "Of the user admin, at least 12 characters. Whoever can read the properties of the virtual "
                "machine can read it: the hash below is better. Without both, and without a key, a password "
                "is made and shown on the console.",
                "MaxLen(255)",
                password=True,
            ),
            Property(
                "admin_password_hash",
                "Hash of the administrator's password",
                "Instead of the password: as openssl passwd -6 prints it, beginning with $6$.",
                "MaxLen(255)",
                password=True,
            ),
            Property(
                "admin_ssh_keys",
                "SSH keys of the administrator",
                "Public keys of the user admin in OpenSSH's format, separated by semicolons.",
                "MaxLen(16384)",
            ),
        ),
    ),
    Category(
        "Configuration",
        (
            Property(
                "configuration",
                "Configuration document",
                "A whole router configuration: JSON, or base64 of JSON, or base64 of gzip of JSON. "
                "Committed once, at the first boot.",
                "MaxLen(65535)",
            ),
            Property(
                "instance_id",
                "Identity of these properties",
                "Properties are applied once. Another word here has them applied again at the next boot.",
                "MaxLen(128)",
            ),
        ),
    ),
)
