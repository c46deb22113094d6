"""A NIC of the router."""
