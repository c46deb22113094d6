"""OSPF."""
