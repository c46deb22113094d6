"""Which packets reach the router itself: the same rules on every data plane."""
