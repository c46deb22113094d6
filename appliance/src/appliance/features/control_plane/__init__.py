"""What reaches the router itself."""
