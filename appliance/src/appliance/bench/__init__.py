"""How fast this router forwards: ``millrace bench``."""
