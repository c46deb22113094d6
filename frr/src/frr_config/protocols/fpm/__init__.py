"""The forwarding plane manager: zebra's connection to the program that puts its routes into a data plane."""

from frr_config.protocols.fpm.syntax import PROTOCOL

__all__ = ["PROTOCOL"]
