"""Static routes."""

from frr_config.protocols.static.syntax import PROTOCOL

__all__ = ["PROTOCOL"]
