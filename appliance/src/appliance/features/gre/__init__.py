"""A tunnel to another router (RFC 2784)."""
