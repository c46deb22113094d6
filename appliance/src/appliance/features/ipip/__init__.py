"""A tunnel without a header of its own: IPv4 and IPv6 in IPv4 or IPv6 (RFC 2003, 2473, 4213)."""
