"""Routing protocols: FRRouting as a backend of the transaction engine."""

from appliance.routing.frr import FrrBackend

__all__ = ["FrrBackend"]
