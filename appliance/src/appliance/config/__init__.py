"""The configuration document and what is known about it without touching a router."""

from appliance.config.document import SCHEMA_VERSION, RouterConfig

__all__ = ["SCHEMA_VERSION", "RouterConfig"]
