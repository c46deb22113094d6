"""Packet captures on either data plane, bounded in packets, bytes and time."""
