"""BFD."""

from frr_config.protocols.bfd.syntax import PROTOCOL

__all__ = ["PROTOCOL"]
