"""Who is at the other end."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address

from django.http import HttpRequest

_UNKNOWN = "0.0.0.0"
_HOST_BITS = 64
_CUSTOMER_BITS = {4: 32 - 24, 6: 128 - 48}


def client_address(request: HttpRequest) -> str:
    """The peer's address; behind a trusted proxy the ASGI layer has put the real one there already."""
    return str(request.META.get("REMOTE_ADDR") or _UNKNOWN)


def client_source(request: HttpRequest) -> str:
    """As `source_of`, of the client."""
    return source_of(client_address(request))


def source_of(address: str) -> str:
    """What one host has for itself: an IPv4 address, or the first address of an IPv6 /64 (RFC 4291).

    A host takes as many addresses of its /64 as it likes, so limits count the prefix.
    """
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return _UNKNOWN
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(IPv6Address(int(parsed) >> _HOST_BITS << _HOST_BITS))
    return str(parsed)


def network_of(source: str) -> str:
    """What one customer has of the Internet's addresses, about: an IPv4 /24 or an IPv6 /48."""
    address = ip_address(source)
    bits = _CUSTOMER_BITS[address.version]
    return f"{int(address) >> bits << bits:x}/{address.version}"
