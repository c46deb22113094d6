"""BGP."""

from frr_config.protocols.bgp.syntax import PROTOCOL

__all__ = ["PROTOCOL"]
