"""The machine under the router at boot: NICs and their drivers, huge pages, CPUs, VPP's startup file."""
