"""NAT44: hosts inside share addresses outside (RFC 3022)."""
