"""Routing policy."""
