"""Several NICs that act as one (IEEE 802.1AX)."""
