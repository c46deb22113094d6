"""Packet traces: what single packets do in VPP's graph, bounded in number and time, one at a time."""
