"""OSPFv2."""

from frr_config.protocols.ospf.syntax import PROTOCOL

__all__ = ["PROTOCOL"]
