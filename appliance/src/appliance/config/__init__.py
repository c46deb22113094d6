"""The configuration document and what is known about it without touching a router."""
