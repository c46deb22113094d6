"""What every interface has: addresses, MTU, access lists, and what opens the router on it."""
