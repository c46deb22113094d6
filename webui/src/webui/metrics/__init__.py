"""Counters over time: the live stream, roll-ups with retention, Prometheus."""
