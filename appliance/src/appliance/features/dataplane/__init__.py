"""How packets are forwarded."""
