"""Access lists."""
