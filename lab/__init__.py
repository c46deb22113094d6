"""The lab: a router with real neighbours and gentle traffic on one machine, in network namespaces.

Run as ``python -m lab up|down|status`` from the root of the repository, as root.
"""
