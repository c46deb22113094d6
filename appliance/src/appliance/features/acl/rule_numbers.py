"""The words of a rule as numbers, for both data planes."""

from __future__ import annotations

from appliance.config.ip_protocols import PROTOCOLS

TCP_FLAGS = {"fin": 0x01, "syn": 0x02, "rst": 0x04, "psh": 0x08, "ack": 0x10, "urg": 0x20}
"""Bits of the TCP header's flags (RFC 9293)."""


def protocol_number(name: str) -> int:
    """0 for any."""
    if name == "any":
        return 0
    return PROTOCOLS[name] if name in PROTOCOLS else int(name)


def flag_bits(names: tuple[str, ...]) -> int:
    """TCP flags as bits."""
    return sum(TCP_FLAGS[name] for name in names)


def port_range(text: str | None) -> tuple[int, int] | None:
    """``443`` or ``1024-65535`` as an inclusive range."""
    if text is None:
        return None
    low, _, high = text.partition("-")
    return int(low), int(high or low)
