"""Prefix lists, AS path lists, community lists and route maps."""

from frr_config.protocols.policy.syntax import PROTOCOL

__all__ = ["PROTOCOL"]
