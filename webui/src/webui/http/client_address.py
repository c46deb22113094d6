"""The address of the client."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address

from django.http import HttpRequest

_UNKNOWN = "0.0.0.0"
_HOST_BITS = 64
_CUSTOMER_BITS = {4: 32 - 24, 6: 128 - 48}


def client_address(request: HttpRequest) -> str:
    """The peer's address; behind a trusted proxy the ASGI layer has already put the real address there."""
    return str(request.META.get("REMOTE_ADDR") or _UNKNOWN)


def client_source(request: HttpRequest) -> str:
    """Like `source_of`, for the client."""
    return source_of(client_address(request))


def source_of(address: str) -> str:
    """The unit of one host: an IPv4 address, or the first address of an IPv6 /64 (RFC 4291).

    A host can use any number of addresses of its /64, so limits count the prefix.
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
    """Roughly the address range of one customer: an IPv4 /24 or an IPv6 /48."""
    address = ip_address(source)
    bits = _CUSTOMER_BITS[address.version]
    return f"{int(address) >> bits << bits:x}/{address.version}"
