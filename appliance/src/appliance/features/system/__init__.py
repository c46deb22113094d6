"""The host around the router."""
